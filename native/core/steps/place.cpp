// The image that a placement describes: copied or resampled where it only moves along its axes, else warped.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../kernels/axis.h"
#include "../kernels/convert.h"
#include "../kernels/displacement_field.h"
#include "../kernels/remap.h"
#include "../kernels/stream.h"
#include "../kernels/warp.h"
#include "declared/placement.h"
#include "declared/resampling.h"
#include "placement.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

// Coordinates this close to a whole number, or to zero, are that: cos(90 degrees) is 6e-17.
constexpr double close = 1e-7;

bool is_zero(double number) { return std::abs(number) < close; }

// An image, perhaps only a part of its source: the pixel in memory at (0, 0) is at (left, top) of the source.
struct Source {
    Value pixels;
    double height, width;  // of the source
    int64_t top = 0, left = 0;
};

class Place : public Step {
   public:
    explicit Place(const PlaceParams& params)
        : linear_(params.linear), smooth_(params.smooth), fill_(params.fill_value) {
        ResampleParams resampling{};
        resampling.layout = "HWC";
        resampling.filter_min = resampling.filter_mag = params.linear ? Filter::linear : Filter::nearest;
        resampling.antialias = params.linear;
        resample_ = make_resample(resampling);
    }

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const PlaceInputs in(values);
        if (in.image.ndim != 3)
            throw Fault(FaultKind::argument, "images must have rows, columns and channels, got " + describe(in.image));
        const Placement& placement = placement_of(in.placement);
        Matrix3 back = inverse(placement.matrix);
        Source source{in.image, placement.source_height, placement.source_width};
        if (in.decoded.present())
            adapt(back, source, in);
        else
            check_size(in.image, placement);
        const bool affine = is_zero(back[6]) && is_zero(back[7]) && back[8] != 0;
        if (affine) {
            for (double& number : back) number /= back[8] == 1 ? 1 : back[8];
        }
        if (affine && !in.field.present() && is_aligned(back)) {
            out[0] = aligned(context, placement, back, source);
        } else {
            out[0] = warped(context, placement, back, affine, source, in.field);
        }
        if (placement.cut != 0 && !in.field.present()) out[0] = cut_off(context, out[0], placement);
    }

   private:
    static void check_size(const Value& image, const Placement& placement) {
        if (static_cast<double>(image.shape[0]) == placement.source_height &&
            static_cast<double>(image.shape[1]) == placement.source_width)
            return;
        throw Fault(FaultKind::argument, "the mask is " + describe(image) + ", its image has " +
                                             std::to_string(static_cast<int64_t>(placement.source_height)) + " x " +
                                             std::to_string(static_cast<int64_t>(placement.source_width)) + " pixels");
    }

    // The decode left out what the placement does not look at, and may have scaled the rest.
    static void adapt(Matrix3& back, Source& source, const PlaceInputs& in) {
        const auto *asked = in.geometry.as<Axis>(), *got = in.decoded.as<Axis>();
        double scale[2], shift[2];
        for (int a = 0; a < 2; ++a) {
            const double length = asked[a].high - asked[a].low, now = got[a].high - got[a].low;
            scale[a] = now == length ? 1 : now / length;
            shift[a] = got[a].low - asked[a].low * scale[a];
        }
        if (scale[0] != 1 || scale[1] != 1 || shift[0] != 0 || shift[1] != 0)
            back = product({scale[1], 0, shift[1], 0, scale[0], shift[0], 0, 0, 1}, back);
        source.height = got[0].source;
        source.width = got[1].source;
        source.top = static_cast<int64_t>(got[0].origin);
        source.left = static_cast<int64_t>(got[1].origin);
    }

    static bool is_aligned(const Matrix3& m) {
        return (is_zero(m[1]) && is_zero(m[3])) || (is_zero(m[0]) && is_zero(m[4]));
    }

    Value canvas(Context& context, const Placement& placement, const Value& image) const {
        const int64_t shape[3] = {static_cast<int64_t>(placement.height), static_cast<int64_t>(placement.width),
                                  image.shape[2]};
        return context.allocate(0, image.dtype, shape);
    }

    // Columns of the canvas come from columns of the source, or, swapped, from its rows.
    Value aligned(Context& context, const Placement& placement, Matrix3 m, Source source) const {
        if (!is_zero(m[1]) || !is_zero(m[3])) {
            std::swap(source.pixels.shape[0], source.pixels.shape[1]);
            std::swap(source.pixels.stride[0], source.pixels.stride[1]);
            std::swap(source.height, source.width);
            std::swap(source.top, source.left);
            m = {m[3], m[4], m[5], m[0], m[1], m[2], 0, 0, 1};
        }
        for (double number : {1 / m[4], 1 / m[0], m[5] / m[4], m[2] / m[0]}) {
            if (!(std::abs(number) < 1e12)) throw Fault(FaultKind::argument, "an image is enlarged or moved too far");
        }
        const Span rows = span(m[4], m[5], placement.height, source.height);
        const Span columns = span(m[0], m[2], placement.width, source.width);
        const bool whole = static_cast<double>(rows.count) == placement.height &&
                           static_cast<double>(columns.count) == placement.width;
        // Of an image that is smaller than half a pixel nothing is seen, and its filter would be endless.
        const bool vanishes = std::abs(m[4]) > 2 * source.height || std::abs(m[0]) > 2 * source.width;
        if (rows.count == 0 || columns.count == 0 || vanishes) {
            const Value out = canvas(context, placement, source.pixels);
            for (int64_t y = 0; y < out.shape[0]; ++y) fill_run(out, y, 0, out.shape[1]);
            return out;
        }
        Axis axes[2] = {axis(rows, m[4], m[5], source.height, source.top),
                        axis(columns, m[0], m[2], source.width, source.left)};
        Value made = source.pixels;
        if (!is_cut(made, axes)) made = resampled(context, source.pixels, axes, whole);
        if (whole) return made;
        const Value out = canvas(context, placement, source.pixels);
        put(context, out, packed(context, made), rows.first, columns.first);
        return out;
    }

    struct Span {
        int64_t first, count;
    };

    // The pixels of the canvas whose centers lie in the source.
    static Span span(double scale, double shift, double extent, double source) {
        const auto [low, high] = std::minmax({-shift / scale, (source - shift) / scale});
        const double first = std::clamp(std::ceil(low - 0.5 - close), 0.0, extent);
        const double end = std::clamp(std::floor(high - 0.5 + close) + 1, first, extent);
        return {static_cast<int64_t>(first), static_cast<int64_t>(end - first)};
    }

    static Axis axis(Span part, double scale, double shift, double source, int64_t origin) {
        const auto place = [&](int64_t at) {
            const double exact = scale * static_cast<double>(at) + shift, near = std::round(exact);
            return std::abs(exact - near) < close ? near : exact;
        };
        const double low = place(part.first), high = place(part.first + part.count);
        const auto count = static_cast<double>(part.count);
        return {std::min(low, high),        std::max(low, high), count, 0, count, low > high ? 1.0 : 0.0, source,
                static_cast<double>(origin)};
    }

    // Where pixels keep their size, an image is a part of its source, perhaps backwards: without the weights of a
    // filter, which would take as long as a copy.
    static bool is_cut(Value& image, const Axis* axes) {
        Value part = image;
        for (int a = 0; a < 2; ++a) {
            const Axis& axis = axes[a];
            const double first = axis.low - axis.origin;
            if (axis.high - axis.low != axis.count || first != std::floor(first) || first < 0 ||
                first + axis.count > static_cast<double>(image.shape[a]))
                return false;
            const bool back = axis.flip != 0;
            part.data +=
                static_cast<int64_t>(first + (back ? axis.count - 1 : 0)) * image.stride[a] * size_of(image.dtype);
            part.stride[a] *= back ? -1 : 1;
            part.shape[a] = static_cast<int64_t>(axis.count);
        }
        image = part;
        return true;
    }

    Value resampled(Context& context, const Value& image, Axis* axes, bool leaves) const {
        Value geometry{reinterpret_cast<std::byte*>(axes), DType::f64, 2, {2, 8}, {8, 1}};
        const Value inputs[8] = {image, geometry};
        Value made;
        const auto leaving = context.leaving;
        constexpr int16_t stays[1] = {-1};
        if (!leaves) context.leaving = stays;
        resample_->run(context, inputs, {&made, 1});
        context.leaving = leaving;
        return made;
    }

    Value warped(Context& context, const Placement& placement, Matrix3 m, bool affine, Source source,
                 const Value& field) const {
        if (affine && linear_ && !field.present()) reduce(context, m, source);
        const Value out = canvas(context, placement, source.pixels);
        const WarpOptions options{linear_, false, fill_};
        if (affine && !field.present()) {
            Grid to = grid_of(out), from = grid_of(packed(context, source.pixels));
            Grid wide = from;
            wide.data -= (source.left * from.stride[0] + source.top * from.stride[1]) * size_of(from.dtype);
            wide.size[0] = static_cast<int64_t>(source.width);
            wide.size[1] = static_cast<int64_t>(source.height);
            AffineMap map = map_of(m);
            if (fits_warp_image(to, wide, map, linear_)) {
                from = wide;  // coordinates are those of the whole source, so a part of it gives the same bits
            } else {
                m[2] -= static_cast<double>(source.left);
                m[5] -= static_cast<double>(source.top);
                map = map_of(m);
            }
            warp(to, from, map, options, context.thread.arena);
            return out;
        }
        if (source.top != 0 || source.left != 0) {
            m = product({1, 0, -static_cast<double>(source.left), 0, 1, -static_cast<double>(source.top), 0, 0, 1}, m);
        }
        m = product({1, 0, -0.5, 0, 1, -0.5, 0, 0, 1}, product(m, {1, 0, 0.5, 0, 1, 0.5, 0, 0, 1}));
        const Perspective straight(m);
        if (!field.present()) {
            sample(context, out, source.pixels, straight);
            return out;
        }
        if (field.dtype != DType::f32 || field.ndim != 3 || field.shape[2] != 2 || field.shape[0] < 2 ||
            field.shape[1] < 2 || !field.contiguous())
            throw Fault(FaultKind::argument, "a field must be float, (rows, columns, 2), got " + describe(field));
        const FieldNodes nodes{field.as<float>(), field.shape[0], field.shape[1], smooth_};
        const DisplacedPlaces places(nodes, m, polygon_of(placement), out.shape[0], out.shape[1], context.thread.arena);
        sample(context, out, source.pixels, places);
        return out;
    }

    static ConvexPolygon polygon_of(const Placement& placement) {
        ConvexPolygon polygon;
        if (placement.cut == 0 && placement.clipped == 0) return polygon;
        polygon.points = reinterpret_cast<const double*>(placement.polygon);
        polygon.count = static_cast<int>(placement.corners);
        return polygon;
    }

    // More than two pixels of the source for one of the canvas: they are averaged first, as a resize does it.
    void reduce(Context& context, Matrix3& m, Source& source) const {
        const double sum = m[0] * m[0] + m[1] * m[1] + m[3] * m[3] + m[4] * m[4], area = m[0] * m[4] - m[1] * m[3];
        const double least =
            std::sqrt(std::max(0.0, (sum - std::sqrt(std::max(0.0, sum * sum - 4 * area * area))) / 2));
        // An image of less than one pixel has none to average.
        const double factor = std::min(std::floor(least), std::max(source.height, source.width));
        if (!(factor >= 2)) return;
        // Pixel i of the reduced source covers those from i * factor on, whatever part of the source is in memory.
        const double extents[2] = {source.height, source.width};
        int64_t* starts[2] = {&source.top, &source.left};
        Axis axes[2];
        for (int a = 0; a < 2; ++a) {
            const auto start = static_cast<double>(*starts[a]),
                       end = start + static_cast<double>(source.pixels.shape[a]);
            const double count = std::ceil(extents[a] / factor);
            // The filter looks at neighbors: near the edge of a part they are not there.
            const double first = start > 0 ? std::ceil(start / factor) + 1 : 0;
            const double last = end < extents[a] ? std::floor(end / factor) - 1 : count;
            if (!(last > first)) return;
            axes[a] = {0, count * factor, count, first, last - first, 0, extents[a], start};
            *starts[a] = static_cast<int64_t>(first);
        }
        source.pixels = resampled(context, source.pixels, axes, false);
        source.height = axes[0].out;
        source.width = axes[1].out;
        m = product({1 / factor, 0, 0, 0, 1 / factor, 0, 0, 0, 1}, m);
    }

    void sample(Context& context, const Value& out, const Value& image, const SourcePlaces& places) const {
        const Value source = packed(context, image);
        const Grid to = grid_of(out), from = grid_of(source);
        if (warp_by_places(to, from, places, {linear_, false, fill_}, context.thread.arena)) return;
        // Values that are only copied may be of any type of the same size.
        DType dtype = source.dtype;
        if (!linear_) dtype = size_of(dtype) == 1 ? DType::u8 : size_of(dtype) == 2 ? DType::u16 : DType::f32;
        if (size_of(dtype) != size_of(source.dtype) ||
            (dtype != DType::u8 && dtype != DType::i16 && dtype != DType::u16 && dtype != DType::f32)) {
            throw Fault(FaultKind::argument, "images of this type cannot be distorted: " + describe(image));
        }
        Raster target = image_at(out, 0), pixels = image_at(source, 0);
        target.dtype = pixels.dtype = dtype;
        auto* level = context.thread.arena.take<float>(static_cast<size_t>(pixels.channels));
        with_type(source.dtype, [&](auto zero) {
            const auto value = convert<decltype(zero)>(fill_);
            float bits = static_cast<float>(fill_);
            if (dtype == DType::f32 && source.dtype != DType::f32)
                std::memcpy(&bits, &value, sizeof(value) < 4 ? sizeof(value) : 4);
            std::fill_n(level, pixels.channels, bits);
        });
        remap(target, pixels, places,
              {linear_ ? Interpolation::linear : Interpolation::nearest, Border::constant, level},
              context.thread.arena);
    }

    // What left the image at an earlier step does not come back.
    Value cut_off(Context& context, const Value& made, const Placement& placement) const {
        Value out = made;
        if (!made.contiguous()) {
            out = context.allocate(0, made.dtype, shape_of(made));
            pack(out, made, context.thread.arena);
        }
        for (int64_t y = 0; y < out.shape[0]; ++y) {
            const auto [first, end] = inside(placement, static_cast<double>(y) + 0.5, out.shape[1]);
            fill_run(out, y, 0, first);
            fill_run(out, y, end, out.shape[1]);
        }
        return out;
    }

    static std::pair<int64_t, int64_t> inside(const Placement& placement, double y, int64_t width) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        const auto count = static_cast<int>(placement.corners);
        for (int i = 0; i < count; ++i) {
            const Point a = placement.polygon[i], b = placement.polygon[(i + 1) % count];
            if ((a.y > y) == (b.y > y)) continue;
            const double x = a.x + (b.x - a.x) * (y - a.y) / (b.y - a.y);
            low = std::min(low, x);
            high = std::max(high, x);
        }
        if (!(low < high)) return {0, 0};
        const auto extent = static_cast<double>(width);
        const auto first = static_cast<int64_t>(std::clamp(std::ceil(low - 0.5 - close), 0.0, extent));
        const auto end = static_cast<int64_t>(std::clamp(std::floor(high - 0.5 + close) + 1, 0.0, extent));
        return {first, std::max(first, end)};
    }

    void fill_run(const Value& out, int64_t y, int64_t first, int64_t end) const {
        with_type(out.dtype, [&](auto zero) {
            using T = decltype(zero);
            T* row = out.as<T>() + (y * out.shape[1] + first) * out.shape[2];
            std::fill_n(row, (end - first) * out.shape[2], convert<T>(fill_));
        });
    }

    // Puts an image on the canvas and fills what is around it.
    void put(Context& context, const Value& out, const Value& image, int64_t top, int64_t left) const {
        const int64_t size = size_of(out.dtype), bytes = image.shape[1] * image.stride[1] * size;
        if (size == 1 && context.streams(0, out)) return stream(out, image, top, left);
        for (int64_t y = 0; y < out.shape[0]; ++y) {
            const bool beside = y >= top && y < top + image.shape[0];
            fill_run(out, y, 0, beside ? left : out.shape[1]);
            if (!beside) continue;
            fill_run(out, y, left + image.shape[1], out.shape[1]);
            std::byte* to = out.data + (y * out.stride[0] + left * out.stride[1]) * size;
            std::memcpy(to, image.data + (y - top) * bytes, static_cast<size_t>(bytes));
        }
    }

    // The same for bytes, past the caches.
    void stream(const Value& out, const Value& image, int64_t top, int64_t left) const {
        const auto value = with_type(out.dtype, [&](auto zero) {
            const auto level = convert<decltype(zero)>(fill_);
            std::byte first{};
            std::memcpy(&first, &level, 1);
            return first;
        });
        const int64_t pixel = out.stride[1], bytes = image.shape[1] * pixel, width = out.shape[1] * pixel;
        LineStream to(out.data);
        to.fill(value, static_cast<size_t>(top * width + left * pixel));
        for (int64_t y = 0; y < image.shape[0]; ++y) {
            const std::byte* from = image.data + y * bytes;
            to.put(from, static_cast<size_t>(bytes), from + 8 * bytes);
            if (y + 1 < image.shape[0]) to.fill(value, static_cast<size_t>(width - bytes));
        }
        to.fill(value, static_cast<size_t>((out.shape[0] - top - image.shape[0] + 1) * width - left * pixel - bytes));
        to.end();
    }

    static Grid grid_of(const Value& value) {
        Grid grid;
        grid.data = value.data;
        grid.dtype = value.dtype;
        grid.size[0] = value.shape[1];
        grid.size[1] = value.shape[0];
        grid.stride[0] = value.stride[1];
        grid.stride[1] = value.stride[0];
        grid.channels = value.shape[2];
        grid.channel = value.stride[2];
        return grid;
    }

    static AffineMap map_of(const Matrix3& m) {
        AffineMap map;
        for (size_t i = 0; i < 2; ++i) {
            for (size_t j = 0; j < 3; ++j) map.at[i][j] = static_cast<float>(m[3 * i + j]);
        }
        return map;
    }

    bool linear_, smooth_;
    double fill_;
    std::unique_ptr<Step> resample_;
};

}  // namespace

std::unique_ptr<Step> make_place(const PlaceParams& params) { return std::make_unique<Place>(params); }

}  // namespace pixelmill
