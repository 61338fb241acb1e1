// Erased parts of images: rectangles, and a grid of squares.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/convert.h"
#include "../kernels/pointwise.h"
#include "declared/pixels.h"
#include "layout.h"

namespace pixelmill {

namespace {

// A packed copy of x as the output of the running step.
Value copied(Context& context, const Value& x) {
    const Value out = context.allocate(0, x.dtype, {x.shape.data(), static_cast<size_t>(x.ndim)});
    pack(out, x, context.thread.arena);
    return out;
}

// Like a cast in C, but saturating.
template <class T>
T truncated(double value) {
    if constexpr (std::is_integral_v<T>) return convert<T>(std::trunc(value));
    return convert<T>(value);
}

class Erase : public Step {
   public:
    explicit Erase(const EraseParams& params)
        : layout_(params.layout),
          axes_(params.axes),
          relative_anchor_(params.normalized_anchor),
          relative_shape_(params.normalized_shape),
          centered_(params.centered_anchor) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const EraseInputs in(values);
        const Value& x = in.data;
        const Value copy = copied(context, x);
        out[0] = copy;
        if (!in.shape.present() || x.elements() == 0) return;
        const std::vector<int> axes = chosen(x);
        const auto count = static_cast<int64_t>(axes.size());
        if (in.shape.elements() % count != 0 || (in.anchor.present() && in.anchor.elements() != in.shape.elements())) {
            throw Fault(FaultKind::argument, "erase: anchor and shape must hold equally many numbers, " +
                                                 std::to_string(count) + " for each region; got " +
                                                 std::to_string(in.anchor.elements()) + " and " +
                                                 std::to_string(in.shape.elements()));
        }
        const int channels = axis_named(layout_, 'C');
        if (in.fill_value.elements() != 1 && (channels < 0 || x.shape[channels] != in.fill_value.elements())) {
            throw Fault(FaultKind::argument, "erase: fill_value has " + std::to_string(in.fill_value.elements()) +
                                                 " values, which is not the number of channels of " + describe(x));
        }
        for (int64_t first = 0; first < in.shape.elements(); first += count) {
            Value region = copy;
            for (size_t i = 0; i < axes.size(); ++i) cut(region, axes[i], in, first + static_cast<int64_t>(i));
            fill(region, in.fill_value, channels);
        }
    }

   private:
    std::vector<int> chosen(const Value& x) const {
        std::vector<int> axes;
        for (int64_t axis : axes_) {
            const int number = static_cast<int>(axis) + (axis < 0 ? x.ndim : 0);
            if (number < 0 || number >= x.ndim) {
                throw Fault(FaultKind::argument, "erase: there is no axis " + std::to_string(static_cast<int>(axis)) +
                                                     " among " + std::to_string(x.ndim));
            }
            axes.push_back(number);
        }
        for (int d = 0; axes_.empty() && d < x.ndim; ++d) {
            const bool channel = d < static_cast<int>(layout_.size()) && layout_[static_cast<size_t>(d)] == 'C';
            if (!channel) axes.push_back(d);
        }
        return axes;
    }

    // Both edges lose their fraction, in single precision, as in DALI.
    void cut(Value& region, int axis, const EraseInputs& in, int64_t index) const {
        const auto whole = static_cast<float>(region.shape[axis]);
        float anchor = in.anchor.present() ? static_cast<float>(in.anchor.number(index)) : 0.0f;
        auto extent = static_cast<float>(in.shape.number(index));
        if (relative_anchor_) anchor *= whole;
        if (relative_shape_) extent *= whole;
        if (centered_) anchor -= extent / 2;
        const auto limited = [&](float edge) { return static_cast<int64_t>(std::clamp(edge, -1e9f, 1e9f)); };
        const int64_t low = std::clamp<int64_t>(limited(anchor), 0, region.shape[axis]);
        const int64_t high = std::clamp<int64_t>(limited(anchor + extent), low, region.shape[axis]);
        region.data += low * region.stride[axis] * size_of(region.dtype);
        region.shape[axis] = high - low;
    }

    static void fill(const Value& region, const Value& values, int channels) {
        if (region.elements() == 0) return;
        with_type(region.dtype, [&](auto zero) {
            using T = decltype(zero);
            if (values.elements() == 1) return fill_from(region.as<T>(), region, 0, truncated<T>(values.number()));
            Value plane = region;
            plane.shape[channels] = 1;
            if (channels + 1 == plane.ndim) --plane.ndim;
            for (int64_t c = 0; c < region.shape[channels]; ++c) {
                fill_from(region.as<T>() + c * region.stride[channels], plane, 0, truncated<T>(values.number(c)));
            }
        });
    }

    template <class T>
    static void fill_from(T* at, const Value& region, int dim, T value) {
        // The tail of axes that is packed is one run.
        int64_t run = 1;
        int tail = region.ndim;
        while (tail > dim && (region.stride[tail - 1] == run || region.shape[tail - 1] == 1))
            run *= region.shape[--tail];
        if (tail == dim) {
            std::fill_n(at, run, value);
            return;
        }
        if (dim + 1 == region.ndim) {
            for (int64_t i = 0; i < region.shape[dim]; ++i) at[i * region.stride[dim]] = value;
            return;
        }
        for (int64_t i = 0; i < region.shape[dim]; ++i) fill_from(at + i * region.stride[dim], region, dim + 1, value);
    }

    std::string layout_;
    std::vector<int64_t> axes_;
    bool relative_anchor_, relative_shape_, centered_;
};

// Blacks out where both coordinates in the turned grid begin a tile.
class GridMask : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const GridMaskInputs in(values);
        const Value& x = in.image;
        if (x.ndim != 3)
            throw Fault(FaultKind::argument,
                        "grid_mask: images must have rows, columns and channels, got " + describe(x));
        const int64_t tile = in.tile.integer();
        if (tile < 1) throw Fault(FaultKind::argument, "grid_mask: tile must be positive, got " + std::to_string(tile));
        const auto length = static_cast<float>(tile), ratio = static_cast<float>(in.ratio.number()),
                   angle = static_cast<float>(in.angle.number());
        const auto c = static_cast<float>(std::cos(static_cast<double>(angle)) / static_cast<double>(tile));
        const auto s = static_cast<float>(std::sin(static_cast<double>(angle)) / static_cast<double>(tile));
        const float shift_x = static_cast<float>(in.shift_x.number()) / length,
                    shift_y = static_cast<float>(in.shift_y.number()) / length;
        const Value copy = copied(context, x);
        out[0] = copy;
        const int64_t pixel = x.shape[2] * size_of(x.dtype), width = x.shape[1];
        uint8_t *across = nullptr, *down = nullptr, *black = nullptr;
        for (uint8_t** flags : {&across, &down, &black})
            *flags = context.thread.arena.take<uint8_t>(static_cast<size_t>(width));
        for (int64_t y = 0; y < x.shape[0]; ++y) {
            const float row_x = -shift_x + static_cast<float>(y) * -s, row_y = -shift_y + static_cast<float>(y) * c;
            std::byte* row = copy.data + y * width * pixel;
            // A grid that is not turned has the same columns in all rows.
            if (y == 0 || s != 0) mark(across, width, row_x, c, ratio);
            if (s == 0 && !begins(row_y, ratio)) continue;
            if (s != 0) mark(down, width, row_y, s, ratio);
            for (int64_t i = 0; i < width; ++i) black[i] = s == 0 ? across[i] : across[i] & down[i];
            for (int64_t from = next(black, 0, width, 1); from < width; from = next(black, from, width, 1)) {
                const int64_t end = next(black, from, width, 0);
                std::memset(row + from * pixel, 0, static_cast<size_t>((end - from) * pixel));
                from = end;
            }
        }
    }

   private:
    // Whether each of `count` places from `start` on, `step` apart, begins a tile.
    static void mark(uint8_t* flags, int64_t count, float start, float step, float ratio) {
        const float end = start + static_cast<float>(count) * step;
        if (!(std::fabs(start) < 1e8f && std::fabs(end) < 1e8f)) {
            for (int64_t i = 0; i < count; ++i) flags[i] = begins(start + static_cast<float>(i) * step, ratio);
            return;
        }
        for (int64_t i = 0; i < count; ++i) {  // without branches, so that the compiler makes vectors of it
            const float at = start + static_cast<float>(static_cast<int32_t>(i)) * step;
            float whole = static_cast<float>(static_cast<int32_t>(at));
            whole -= whole > at ? 1.0f : 0.0f;
            flags[i] = at - whole < ratio ? 1 : 0;
        }
    }

    // The first place from `from` on whose flag is `value`.
    static int64_t next(const uint8_t* flags, int64_t from, int64_t count, int value) {
        const void* found = std::memchr(flags + from, value, static_cast<size_t>(count - from));
        return found == nullptr ? count : static_cast<const uint8_t*>(found) - flags;
    }

    static bool begins(float at, float ratio) {
        if (!(std::fabs(at) < 1e9f)) return 0 < ratio;  // there are no fractions that far away
        auto whole = static_cast<float>(static_cast<int32_t>(at));
        if (whole > at) whole -= 1;
        return at - whole < ratio;
    }
};

}  // namespace

std::unique_ptr<Step> make_erase(const EraseParams& params) { return std::make_unique<Erase>(params); }
std::unique_ptr<Step> make_grid_mask(const GridMaskParams&) { return std::make_unique<GridMask>(); }

}  // namespace pixelmill
