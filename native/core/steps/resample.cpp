// The step that all operators of the resize family compile to: picks a kernel, and may end in a normalization.
#include "../kernels/resample.h"

#include <array>
#include <cstdlib>
#include <cstring>

#include "../kernels/copy.h"
#include "../kernels/resample_real.h"
#include "declared/resampling.h"
#include "layout.h"
#include "normalize.h"

namespace pixelmill {

namespace {

// A value split into the axes before the spatial ones (frames, planes), the spatial axes, and those after them.
struct Split {
    int outer = 0, axes = 0;
    int64_t images = 1, inner = 1;

    Split(const Value& value, const std::string& layout) {
        while (outer < value.ndim && !is_spatial(layout[static_cast<size_t>(outer)])) images *= value.shape[outer++];
        while (outer + axes < value.ndim && is_spatial(layout[static_cast<size_t>(outer + axes)])) ++axes;
        for (int d = outer + axes; d < value.ndim; ++d) inner *= value.shape[d];
        if (outer + axes + 1 < value.ndim) {
            throw Fault(FaultKind::argument,
                        "resize: only channels may follow the spatial axes, got \"" + layout + "\"");
        }
        if (axes != spatial_axes(layout)) {
            throw Fault(FaultKind::argument,
                        "resize: the axes D, H and W must be side by side, got \"" + layout + "\"");
        }
    }

    // Where image number `index` of `value` begins.
    std::byte* image(const Value& value, int64_t index) const {
        int64_t offset = 0;
        for (int d = outer - 1; d >= 0; --d) {
            offset += index % value.shape[d] * value.stride[d];
            index /= value.shape[d];
        }
        return value.data + offset * size_of(value.dtype);
    }
};

// Finished rows of bytes go out packed, or normalized to float in either channel order.
class RasterSink : public RowSink {
   public:
    RasterSink(const Raster& out, int64_t channels, const Scaling* scaling)
        : out_(out),
          channels_(static_cast<int>(channels)),
          scaling_(scaling),
          to_planes_(out.leaves ? rows_.stream_planes : rows_.to_planes) {}

    // After the last row.
    void finish() const { rows_.fence(); }

    void row(int64_t y, const uint8_t* pixels) override {
        if (scaling_ == nullptr) {
            auto* to = reinterpret_cast<uint8_t*>(out_.at(y, 0));
            if (channels_ == 3) return rows_.pack3(to, pixels, out_.width);
            std::memcpy(to, pixels, static_cast<size_t>(out_.width * channels_));
            return;
        }
        auto* to = reinterpret_cast<float*>(out_.at(y, 0));
        if (channels_ == 1) {
            for (int64_t x = 0; x < out_.width; ++x) {
                to[x] = (static_cast<float>(pixels[x]) - scaling_->subtract[0]) * scaling_->multiply[0];
            }
        } else if (out_.pixel == 1) {
            to_planes_(to, out_.channel, pixels, out_.width, channels_, *scaling_);
        } else {
            rows_.to_pixels(to, pixels, out_.width, channels_, *scaling_);
        }
    }

   private:
    const PixelRows& rows_ = pixel_rows();
    Raster out_;
    int channels_;
    const Scaling* scaling_;
    PixelRows::ToPlanes* to_planes_;
};

class Resample : public Step {
   public:
    explicit Resample(const ResampleParams& params)
        : layout_(params.layout),
          filters_{params.filter_min, params.filter_mag, params.antialias},
          dtype_(params.dtype),
          normalizes_(params.normalize),
          arguments_{"", params.out_layout, dtype_.value_or(DType::f32), params.pad_channels, "resize"} {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ResampleInputs in(values);
        Job job(context, in, *this);
        // Planes, frames and the like are normalized in a second pass; so is what does not become float32.
        if (normalizes_ && !job.writes_floats(arguments_)) {
            const Value resized = job.run_into(-1, in.image.dtype);
            NormalizeArguments arguments = arguments_;
            arguments.layout = job.layout;
            out[0] = normalized(context, 0, resized, false, in.mean, in.std, in.scale, in.shift, arguments);
        } else if (normalizes_) {
            out[0] = job.run_normalized(in.mean, in.std, in.scale, in.shift, arguments_);
        } else {
            const DType dtype = dtype_.value_or(in.image.dtype);
            if (dtype != in.image.dtype && dtype != DType::f32) {
                throw Fault(FaultKind::argument,
                            "resize: dtype must be FLOAT or that of the input, which is " + describe(in.image));
            }
            out[0] = job.run_into(0, dtype);
            if (!arguments_.out_layout.empty() && arguments_.out_layout != job.layout) {
                throw std::logic_error("resample changes the layout only together with a normalization");
            }
        }
    }

   private:
    // One call: the source cut to what is read, and the plans of its axes.
    struct Job {
        Context& context;
        Arena& arena;
        const Resample& step;
        std::string layout;
        Value x;  // cut
        Split split;
        std::vector<Axis> axes;
        FilterChoice filters;
        Extents shape;  // of the output, in the layout of x
        AxisPlan plans[3];
        bool empty = false, nearest = false, copies = true;

        Job(Context& context, const ResampleInputs& in, const Resample& step)
            : context(context),
              arena(context.thread.arena),
              step(step),
              layout(layout_of(step.layout_, in.image.ndim, "resize")),
              x(in.image),
              split(x, layout),
              axes(in.geometry.as<Axis>(), in.geometry.as<Axis>() + in.geometry.shape[0]),
              filters{chosen(in.sample_filter_min, step.filters_.min), chosen(in.sample_filter_mag, step.filters_.mag),
                      step.filters_.antialias},
              shape(x.shape) {
            if (static_cast<int>(axes.size()) != split.axes || split.axes < 2 || split.axes > 3) {
                throw std::logic_error("resample: the geometry does not fit the layout " + layout);
            }
            double pixels = 1;
            for (int d = 0; d < split.axes; ++d) {
                shape[split.outer + d] = static_cast<int64_t>(axes[static_cast<size_t>(d)].count);
                pixels *= axes[static_cast<size_t>(d)].count;
            }
            if (pixels > static_cast<double>(context.limits.pixels)) {
                throw Fault(FaultKind::too_large, "resize: an output of " + listed(shape.data(), x.ndim) +
                                                      " passes the limit of " + std::to_string(context.limits.pixels) +
                                                      " pixels");
            }
            for (int d = 0; d < x.ndim; ++d) empty |= shape[d] == 0 || x.shape[d] == 0;
            if (!empty) plan();
        }

        void plan() {
            int64_t extents[3] = {};
            for (int d = 0; d < split.axes; ++d) extents[d] = cut(d);
            if (sideways()) x = upright();
            const auto count = static_cast<size_t>(split.axes);
            nearest = plan_axes({plans, count}, axes, filters, {extents, count},
                                bytes() ? Weights::fixed : Weights::real, arena);
            for (size_t d = 0; d < count; ++d) copies &= plans[d].copies != 0;
        }

        // Leaves of one axis of x only what is read.
        int64_t cut(int d) {
            Axis& axis = axes[static_cast<size_t>(d)];
            const Range range = source_range(axis, filters);
            const int at = split.outer + d;
            const int64_t first = range.first - static_cast<int64_t>(axis.origin), extent = range.last - range.first;
            if (first < 0 || first + extent > x.shape[at])
                throw std::logic_error("resample: the source does not cover the geometry");
            x.data += first * x.stride[at] * size_of(x.dtype);
            x.shape[at] = extent;
            axis.origin = static_cast<double>(range.first);
            return extent;
        }

        // Whether this is one image of bytes whose rows lie in memory as columns: a file with an orientation of 5 to 8.
        bool sideways() const {
            if (x.dtype != DType::u8 || !step.outputs_bytes() || layout != "HWC" || x.stride[2] != 1) return false;
            const int64_t pixel = std::abs(x.stride[0]), channels = x.shape[2];
            return std::abs(x.stride[1]) > pixel && ((channels == 3 && (pixel == 3 || pixel == 4)) ||
                                                     (channels == 4 && pixel == 4) || (channels == 1 && pixel == 1));
        }

        // A copy of it with rows, so that an image has the same pixels however it lies in memory.
        Value upright() const {
            const int64_t pixel = std::abs(x.stride[0]), channels = x.shape[2];
            Value copy = context.scratch(DType::u8, std::array<int64_t, 3>{x.shape[0], x.shape[1], pixel});
            Value from = x, to = copy;
            if (channels == 3 && pixel == 4) {
                // Pixels are copied with the byte after them. The last one in memory may have none.
                const int64_t last = x.stride[1] > 0 ? x.shape[1] - 1 : 0;
                for (Value* value : {&from, &to}) {
                    value->shape[2] = 4;
                    --value->shape[1];
                }
                Value from_last = x, to_last = copy;
                from_last.data += last * x.stride[1];
                to_last.data += last * copy.stride[1];
                from_last.shape[1] = to_last.shape[1] = 1;
                from_last.shape[2] = to_last.shape[2] = 3;
                copy_elements(to_last, from_last);
                if (last == 0) {
                    from.data += x.stride[1];
                    to.data += copy.stride[1];
                }
            }
            copy_elements(to, from);
            copy.shape[2] = channels;
            return copy;
        }

        int rows_axis() const { return split.outer + split.axes - 2; }
        int columns_axis() const { return rows_axis() + 1; }

        // One image of bytes, left to right whatever the strides say.
        View<const uint8_t> bytes_view() const {
            const int h = rows_axis(), w = columns_axis();
            const bool channels = w + 1 < x.ndim;
            View<const uint8_t> view{x.as<uint8_t>(),
                                     x.shape[h],
                                     x.shape[w],
                                     channels ? x.shape[w + 1] : 1,
                                     x.stride[h],
                                     x.stride[w],
                                     channels ? x.stride[w + 1] : 1};
            if (view.pixel < 0) {
                view.data += (view.width - 1) * view.pixel;
                view.pixel = -view.pixel;
            }
            return view;
        }
        bool bytes() const {
            return x.dtype == DType::u8 && step.outputs_bytes() && split.axes == 2 && columns_axis() + 2 >= x.ndim &&
                   fits_bytes(bytes_view());
        }

        bool writes_floats(const NormalizeArguments& arguments) const {
            if (empty || nearest || copies || !bytes() || arguments.dtype != DType::f32 || layout != "HWC")
                return false;
            const bool planes = arguments.out_layout == "CHW";
            const bool pixels = arguments.out_layout.empty() || arguments.out_layout == "HWC";
            return planes || (pixels && padded_channels(x.shape[2], arguments.pads_channels) == x.shape[2]);
        }

        // index -1 stands for scratch memory.
        Value place(int index, DType dtype) const {
            const std::span<const int64_t> extents{shape.data(), static_cast<size_t>(x.ndim)};
            return index < 0 ? context.scratch(dtype, extents) : context.allocate(index, dtype, extents);
        }

        Value run_into(int index, DType dtype) {
            if (empty) return place(index, dtype);
            if (copies) return copied(index, dtype);
            if (nearest) return picked(index, dtype);
            if (bytes() && dtype == DType::u8) return byte_images(index);
            return real_images(index, dtype);
        }

        // Nothing is resampled: a view, perhaps backwards.
        Value copied(int index, DType dtype) const {
            Value view = x;
            for (int d = 0; d < split.axes; ++d) {
                const int at = split.outer + d;
                view.data += plans[d].first[0] * x.stride[at] * size_of(x.dtype);
                view.stride[at] *= plans[d].copies;
                view.shape[at] = plans[d].count;
            }
            if (dtype == x.dtype) return view;
            const Value out = place(index, dtype);
            convert_elements(out, view);
            return out;
        }

        Value picked(int index, DType dtype) const {
            const Value out = place(dtype == x.dtype ? index : -1, x.dtype);
            resample_nearest(out, x, plans, split.axes, split.outer);
            if (dtype == x.dtype) return out;
            const Value converted = place(index, dtype);
            convert_elements(converted, out);
            return converted;
        }

        void face_forwards() {
            if (x.stride[columns_axis()] < 0) mirror_source(plans[1], x.shape[columns_axis()], arena);
        }

        Value byte_images(int index) {
            face_forwards();
            const Value out = place(index, DType::u8);
            const View<const uint8_t> view = bytes_view();
            ByteResampler resampler(view, plans[0], plans[1], arena);
            Raster raster{nullptr,
                          DType::u8,
                          shape[rows_axis()],
                          shape[columns_axis()],
                          split.inner,
                          shape[columns_axis()] * split.inner,
                          split.inner,
                          1};
            for (int64_t i = 0; i < split.images; ++i) {
                raster.data = split.image(out, i);
                RasterSink sink(raster, view.channels, nullptr);
                resampler.run(sink, view.data + (split.image(x, i) - x.data));
            }
            return out;
        }

        Value run_normalized(const Value& mean, const Value& std, const Value& scale, const Value& shift,
                             const NormalizeArguments& arguments) {
            face_forwards();
            const int64_t height = shape[0], width = shape[1], channels = x.shape[2];
            const int64_t all = padded_channels(channels, arguments.pads_channels);
            const bool planes = arguments.out_layout == "CHW";
            const int64_t extents[3] = {planes ? all : height, planes ? height : width, planes ? width : channels};
            const Scaling scaling = scaling_of(context, mean, std, scale, shift, channels, arguments.name);
            const Value out = context.allocate(0, DType::f32, extents);
            Raster raster{out.data, DType::f32, height, width, channels, width * channels, channels, 1};
            if (planes) raster = {out.data, DType::f32, height, width, channels, width, 1, height * width};
            raster.leaves = context.leaves(0);
            const View<const uint8_t> view = bytes_view();
            RasterSink sink(raster, channels, &scaling);
            ByteResampler(view, plans[0], plans[1], arena).run(sink, view.data);
            sink.finish();
            auto* rest = out.as<float>() + channels * height * width;
            std::memset(rest, 0, static_cast<size_t>((all - channels) * height * width) * sizeof(float));
            return out;
        }

        Value real_images(int index, DType dtype) {
            Value source = x;
            bool direct = x.dtype == DType::f32;
            int64_t packed = 1;
            for (int d = x.ndim - 1; d >= rows_axis() && direct; --d) {
                direct = d == rows_axis() ? x.stride[d] > 0 : x.stride[d] == packed;
                packed *= x.shape[d];
            }
            direct &= split.axes == 2 || x.stride[split.outer] > 0;
            if (!direct) {
                source = context.scratch(DType::f32, {x.shape.data(), static_cast<size_t>(x.ndim)});
                convert_elements(source, x);
            }
            const Value floats = place(dtype == DType::f32 ? index : -1, DType::f32);
            PlaneResampler resampler(source.shape[rows_axis()], source.shape[columns_axis()], split.inner,
                                     plans[split.axes - 2], plans[split.axes - 1], arena);
            for (int64_t i = 0; i < split.images; ++i) {
                real_image(resampler, reinterpret_cast<float*>(split.image(floats, i)),
                           reinterpret_cast<float*>(split.image(source, i)), source);
            }
            if (dtype == DType::f32) return floats;
            const Value converted = place(index, dtype);
            convert_elements(converted, floats);
            return converted;
        }

        void real_image(PlaneResampler& resampler, float* out, float* in, const Value& source) const {
            const int h = rows_axis(), w = columns_axis();
            Plane to{out, shape[h], shape[w], split.inner, shape[w] * split.inner};
            const Plane from{in, source.shape[h], source.shape[w], split.inner, source.stride[h]};
            if (split.axes == 2) return resampler.run(to, from);
            // A volume: slices are weighed together first, then each is an image.
            const AxisPlan& depth = plans[0];
            const int64_t length = from.width * from.channels;
            const Plane slice{arena.take<float>(static_cast<size_t>(from.height * length)), from.height, from.width,
                              split.inner, length};
            const auto** rows = arena.take<const float*>(static_cast<size_t>(depth.taps));
            for (int32_t z = 0; z < depth.count; ++z, to.data += to.height * to.row) {
                for (int64_t y = 0; y < from.height; ++y) {
                    for (int k = 0; k < depth.taps; ++k) {
                        rows[k] = in + (depth.first[z] + k) * source.stride[split.outer] + y * source.stride[h];
                    }
                    weigh_rows(slice.data + y * length, rows, depth.real + int64_t{z} * depth.stride, depth.taps,
                               length);
                }
                resampler.run(to, slice);
            }
        }
    };

    static Filter chosen(const Value& given, Filter otherwise) {
        if (!given.present()) return otherwise;
        const int64_t number = given.integer();
        if (number < 0 || number > static_cast<int64_t>(Filter::gaussian)) {
            throw Fault(FaultKind::argument, "resize: there is no filter number " + std::to_string(number));
        }
        return static_cast<Filter>(number);
    }

    bool outputs_bytes() const { return normalizes_ || dtype_.value_or(DType::u8) == DType::u8; }

    std::string layout_;
    FilterChoice filters_;
    std::optional<DType> dtype_;
    bool normalizes_;
    NormalizeArguments arguments_;
};

}  // namespace

std::unique_ptr<Step> make_resample(const ResampleParams& params) { return std::make_unique<Resample>(params); }

}  // namespace pixelmill
