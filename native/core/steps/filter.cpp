// Filters of two dimensions: one that comes as data, and the median.
#include "../kernels/convert.h"
#include "../kernels/median.h"
#include "declared/pixels.h"
#include "filtered_axes.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

class FilterStep : public Step {
   public:
    explicit FilterStep(const FilterParams& params)
        : layout_(params.layout), dtype_(params.dtype), border_(border_named(params.border)), valid_(params.valid) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const FilterInputs in(values);
        const Value& x = in.image;
        const FilteredAxes axes(x, layout_, "filter");
        const DType dtype = dtype_.value_or(x.dtype);
        require_type(x, {DType::u8, DType::i8, DType::u16, DType::i16, DType::f16, DType::f32}, "filter");
        if (dtype != x.dtype && dtype != DType::f32) {
            throw Fault(FaultKind::argument, "filter: dtype must be FLOAT or that of the input, " + describe(x));
        }
        const int64_t frames = frames_of(in.filter, x, axes);
        Filter2d filter = shape_of_filter(context, in.filter, in.anchor);
        Extents shape = x.shape;
        for (int d = 0; d < 2 && valid_; ++d) shape[axes.first + d] -= (d == 0 ? filter.height : filter.width) - 1;
        if (valid_ && (shape[axes.first] < 1 || shape[axes.first + 1] < 1)) {
            throw Fault(FaultKind::argument,
                        "filter: the filter of " + describe(in.filter) + " is larger than the input, " + describe(x));
        }
        out[0] = context.allocate(0, dtype, {shape.data(), static_cast<size_t>(x.ndim)});
        if (x.elements() == 0 || out[0].elements() == 0) return;
        const Value source = axes.rows_packed(x) ? x : packed(context, x);
        const float* weights = filter.weights;
        for (int64_t i = 0; i < axes.images; ++i) {
            const int64_t frame = frames == 0 ? 0 : i / (axes.images / frames);
            filter.weights = weights + frame * filter.height * filter.width;
            filter.fill = fill(in.fill_value, frame);
            pixelmill::filter(axes.raster(out[0], i), axes.raster(source, i), filter, context.thread.arena);
        }
    }

   private:
    // How many filters there are, one for each frame; 0 for one that all share.
    int64_t frames_of(const Value& filter, const Value& x, const FilteredAxes& axes) const {
        const bool each = filter.ndim == 3 && layout_.starts_with('F') && filter.shape[0] == x.shape[0];
        if (axes.count != 2 || (filter.ndim != 2 && !each) || filter.elements() == 0) {
            throw Fault(FaultKind::argument, "filter: the input needs rows and columns and the filter too; got " +
                                                 describe(x) + " and " + describe(filter));
        }
        return each ? filter.shape[0] : 0;
    }

    Filter2d shape_of_filter(Context& context, const Value& given, const Value& anchors) const {
        Value weights = given;
        if (given.dtype != DType::f32 || !given.contiguous()) {
            weights = context.scratch(DType::f32, shape_of(given));
            convert_elements(weights, given);
        }
        Filter2d filter{
            weights.as<float>(), given.shape[given.ndim - 2], given.shape[given.ndim - 1], 0, 0, border_, 0, valid_};
        for (int axis = 0; axis < 2; ++axis) {
            const int64_t size = axis == 0 ? filter.height : filter.width;
            const auto anchor = static_cast<int64_t>(number_of_axis(anchors, axis, 2, "filter: anchor"));
            if (anchor < -1 || anchor >= size) {
                throw Fault(FaultKind::argument, "filter: the anchor " + std::to_string(anchor) +
                                                     " lies outside of the filter, " + describe(given));
            }
            (axis == 0 ? filter.anchor_y : filter.anchor_x) = anchor < 0 ? size / 2 : anchor;
        }
        return filter;
    }

    static float fill(const Value& value, int64_t frame) {
        if (!value.present()) return 0;
        return static_cast<float>(value.number(value.elements() > 1 ? frame : 0));
    }

    std::string layout_;
    std::optional<DType> dtype_;
    Border border_;
    bool valid_;
};

class MedianBlur : public Step {
   public:
    explicit MedianBlur(const MedianBlurParams& params) : layout_(params.layout) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const MedianBlurInputs in(values);
        const Value& x = in.image;
        const FilteredAxes axes(x, layout_, "median_blur");
        require_type(x, {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::f32},
                     "median_blur");
        if (axes.count != 2)
            throw Fault(FaultKind::argument, "median_blur: two axes of space are needed, got " + describe(x));
        const int64_t height = window(in.window_size, 0), width = window(in.window_size, 1);
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        if (x.elements() == 0) return;
        const Value source = axes.rows_packed(x) ? x : packed(context, x);
        for (int64_t i = 0; i < axes.images; ++i) {
            median_blur(axes.raster(out[0], i), axes.raster(source, i), height, width, context.thread.arena);
        }
    }

   private:
    static int64_t window(const Value& sizes, int axis) {
        const auto size = static_cast<int64_t>(number_of_axis(sizes, axis, 2, "median_blur: window_size"));
        if (size >= 1 && size <= largest_window && size % 2 == 1) return size;
        throw Fault(FaultKind::argument, "median_blur: window_size must be odd and from 1 to " +
                                             std::to_string(largest_window) + ", got " + std::to_string(size));
    }
    static constexpr int64_t largest_window = 255;
    std::string layout_;
};

}  // namespace

std::unique_ptr<Step> make_filter(const FilterParams& params) { return std::make_unique<FilterStep>(params); }
std::unique_ptr<Step> make_median_blur(const MedianBlurParams& params) { return std::make_unique<MedianBlur>(params); }

}  // namespace pixelmill
