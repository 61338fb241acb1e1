// A window of one image pasted into another.
#include <algorithm>
#include <cmath>

#include "../kernels/copy.h"
#include "declared/pixels.h"
#include "layout.h"

namespace pixelmill {

namespace {

struct Range {
    int64_t first, count;
};

// `count` pixels about `center`, clipped to the axis.
Range cut(double center, int64_t count, int64_t extent) {
    const auto middle = static_cast<int64_t>(center * static_cast<double>(extent));
    const int64_t first = std::clamp<int64_t>(middle - count / 2, 0, extent);
    return {first, std::clamp<int64_t>(middle + count / 2, 0, extent) - first};
}

// CutMix (https://arxiv.org/abs/1905.04899): in [image, other, fraction of the image, center (y, x) from 0 to 1],
// out [the image with a window of the other, the fraction of it that is still its own].
class CutPaste : public Step {
   public:
    explicit CutPaste(const CutPasteParams& params) : layout_(params.layout) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CutPasteInputs in(values);
        const Value &image = in.image, &other = in.other;
        if (other.dtype != image.dtype || other.ndim != image.ndim || other.shape != image.shape) {
            throw Fault(FaultKind::argument, "cutmix: both images must have the same type and shape, got " +
                                                 describe(image) + " and " + describe(other));
        }
        const std::string layout = layout_of(layout_, image.ndim, "cutmix");
        const int y = axis_named(layout, 'H'), x = axis_named(layout, 'W');
        if (y < 0 || x < 0) throw Fault(FaultKind::argument, "cutmix: images need height and width");
        out[0] = context.allocate(0, image.dtype, {image.shape.data(), static_cast<size_t>(image.ndim)});
        copy_elements(out[0], image);
        const double side = std::sqrt(1.0 - std::clamp(in.fraction.number(), 0.0, 1.0));
        const int64_t height = image.shape[y], width = image.shape[x];
        const Range rows = cut(in.center.number(0), static_cast<int64_t>(side * static_cast<double>(height)), height);
        const Range columns = cut(in.center.number(1), static_cast<int64_t>(side * static_cast<double>(width)), width);
        copy_elements(narrowed(narrowed(out[0], y, rows), x, columns), narrowed(narrowed(other, y, rows), x, columns));
        out[1] = context.allocate(1, DType::f32, {});
        const double area = static_cast<double>(std::max<int64_t>(height * width, 1));
        *out[1].as<float>() = static_cast<float>(1.0 - static_cast<double>(rows.count * columns.count) / area);
    }

   private:
    static Value narrowed(Value value, int axis, Range range) {
        value.data += range.first * value.stride[axis] * size_of(value.dtype);
        value.shape[axis] = range.count;
        return value;
    }
    std::string layout_;
};

}  // namespace

std::unique_ptr<Step> make_cut_paste(const CutPasteParams& params) { return std::make_unique<CutPaste>(params); }

}  // namespace pixelmill
