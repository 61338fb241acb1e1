// Where crops and slices lie: start and extent along some axes, computed from the shape alone.
#include <algorithm>
#include <cmath>

#include "../rng.h"
#include "declared/random.h"
#include "declared/shapes.h"
#include "layout.h"

namespace pixelmill {

namespace {

void put_pair(Context& context, std::span<Value> out, std::span<const int64_t> start, std::span<const int64_t> extent) {
    const auto count = static_cast<int64_t>(start.size());
    for (int i = 0; i < 2; ++i) out[static_cast<size_t>(i)] = context.allocate(i, DType::i64, {&count, 1});
    std::copy(start.begin(), start.end(), out[0].as<int64_t>());
    std::copy(extent.begin(), extent.end(), out[1].as<int64_t>());
}

// Without D in the layout, crop_d is along F.
class CropWindow : public Step {
   public:
    explicit CropWindow(const CropWindowParams& params) : layout_(params.layout) {
        truncates_ = params.rounding == "truncate";
    }

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CropWindowInputs in(values);
        const Value& shape = in.shape;
        const std::string layout = layout_of(layout_, static_cast<int>(shape.elements()), "crop");
        const char depth = axis_named(layout, 'D') < 0 && in.crop_d.present() ? 'F' : 'D';
        const Value* const sizes[] = {&in.crop_h, &in.crop_w, &in.crop_d};
        const Value* const positions[] = {&in.crop_pos_y, &in.crop_pos_x, &in.crop_pos_z};
        int64_t start[3], extent[3];
        size_t count = 0;
        for (size_t i = 0; i < layout.size(); ++i) {
            const int which = layout[i] == 'H' ? 0 : layout[i] == 'W' ? 1 : layout[i] == depth ? 2 : -1;
            if (which < 0 || count == 3) continue;
            const int64_t whole = shape.integer(static_cast<int64_t>(i));
            extent[count] = wanted(*sizes[which], "hwd"[which]);
            if (extent[count] <= 0) extent[count] = whole;
            start[count] = placed(*positions[which], whole - extent[count], "yxz"[which]);
            ++count;
        }
        put_pair(context, out, {start, count}, {extent, count});
    }

   private:
    static int64_t wanted(const Value& given, char axis) {
        if (!given.present()) return 0;
        const double extent = given.number();
        if (!(std::fabs(extent) < 0x1p31)) {
            throw Fault(FaultKind::argument,
                        std::string("crop: crop_") + axis + " is no number of pixels: " + std::to_string(extent));
        }
        return static_cast<int64_t>(extent);
    }

    int64_t placed(const Value& position, int64_t room, char axis) const {
        const float at = position.present() ? static_cast<float>(position.number()) : 0.5f;
        if (!(at >= 0 && at <= 1)) {
            throw Fault(FaultKind::argument,
                        std::string("crop: crop_pos_") + axis + " must be from 0 to 1, got " + std::to_string(at));
        }
        const double start = static_cast<double>(at) * static_cast<double>(room);
        return static_cast<int64_t>(truncates_ ? start : std::round(start));
    }

    std::string layout_;
    bool truncates_ = false;
};

class SliceWindow : public Step {
   public:
    explicit SliceWindow(const SliceWindowParams& params)
        : axes_(params.axes), relative_anchor_(params.normalized_anchor), relative_extent_(params.normalized_shape) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const SliceWindowInputs in(values);
        const auto ndim = in.shape.elements();
        const size_t count = axes_.empty() ? static_cast<size_t>(ndim) : axes_.size();  // none stands for all
        std::vector<int64_t> start(count), extent(count);
        for (size_t i = 0; i < count; ++i) {
            auto axis = axes_.empty() ? static_cast<int64_t>(i) : axes_[i];
            if (axis < 0) axis += ndim;
            if (axis < 0 || axis >= ndim)
                throw Fault(FaultKind::argument, "slice: there is no axis " + std::to_string(axis));
            const int64_t whole = in.shape.integer(axis);
            const Edges edges = in.anchor.present() ? positional(in, {i, count}, whole) : named(in, {i, count}, whole);
            check(edges);
            start[i] = std::llround(edges.low);
            extent[i] = std::llround(edges.high) - start[i];
        }
        put_pair(context, out, start, extent);
    }

   private:
    struct Edges {
        double low, high;
    };

    struct Place {
        size_t index, count;
    };

    static double at(const Value& values, const Place& axis) {
        const int64_t given = values.elements();
        if (given == 1) return values.number();
        if (given != static_cast<int64_t>(axis.count)) {
            throw Fault(FaultKind::argument,
                        "slice: " + std::to_string(given) + " values for " + std::to_string(axis.count) + " axes");
        }
        return values.number(static_cast<int64_t>(axis.index));
    }

    Edges positional(const SliceWindowInputs& in, const Place& i, int64_t whole) const {
        const auto fractional = [](const Value& v) { return v.dtype == DType::f32 || v.dtype == DType::f64; };
        const bool relative_low = relative_anchor_ && fractional(in.anchor),
                   relative = relative_extent_ && fractional(in.extent);
        const auto size = static_cast<double>(whole);
        double low = at(in.anchor, i), extent = at(in.extent, i);
        if (relative_low && relative) return {low * size, (low + extent) * size};  // one rounding less
        if (relative_low) low *= size;
        if (relative) extent *= size;
        return {low, low + extent};
    }

    // Relative edges are products in single precision, as in DALI.
    Edges named(const SliceWindowInputs& in, const Place& i, int64_t whole) const {
        const auto part = [&](const Value& v) { return static_cast<float>(at(v, i)) * static_cast<float>(whole); };
        Edges edges{0, static_cast<double>(whole)};
        if (in.start.present()) edges.low = at(in.start, i);
        if (in.rel_start.present()) edges.low = part(in.rel_start);
        if (in.end.present()) edges.high = at(in.end, i);
        if (in.rel_end.present()) edges.high = part(in.rel_end);
        if (in.window_shape.present()) edges.high = edges.low + at(in.window_shape, i);
        if (in.rel_shape.present()) {
            edges.high = in.rel_start.present()
                             ? (at(in.rel_start, i) + at(in.rel_shape, i)) * static_cast<double>(whole)
                             : edges.low + part(in.rel_shape);
        }
        return edges;
    }

    static void check(const Edges& edges) {
        if (edges.high < edges.low) {
            throw Fault(FaultKind::argument, "slice: the end lies before the start, got start " +
                                                 std::to_string(edges.low) + " and end " + std::to_string(edges.high));
        }
        if (!(std::fabs(edges.low) < 0x1p62 && std::fabs(edges.high) < 0x1p62)) {
            throw Fault(FaultKind::argument, "slice: start and end must be finite numbers");
        }
    }

    std::vector<int64_t> axes_;
    bool relative_anchor_, relative_extent_;
};

// The window of a random resized crop: a fraction of the area and an aspect ratio are drawn until they fit.
class RandomWindow : public Step {
   public:
    explicit RandomWindow(const RandomWindowParams& params)
        : key_(params.key), attempts_(params.attempts), layout_(params.layout) {
        const auto &area = params.area, &ratio = params.ratio;
        smallest_ = static_cast<float>(area.at(0));
        largest_ = static_cast<float>(area.at(1));
        narrowest_ = static_cast<float>(ratio.at(0));
        widest_ = static_cast<float>(ratio.at(1));
    }

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RandomWindowInputs in(values);
        const bool plane = layout_.empty() && in.shape.elements() == 2;
        const std::string layout =
            plane ? "HW" : layout_of(layout_, static_cast<int>(in.shape.elements()), "random crop");
        const Size whole{in.shape.integer(axis_named(layout, 'H')), in.shape.integer(axis_named(layout, 'W'))};
        Size size{0, 0};
        int64_t anchor[2] = {0, 0};
        if (whole.height > 0 && whole.width > 0) {
            Stream draws(key_, context.id);
            size = drawn(draws, whole);
            size = {std::min(size.height, whole.height), std::min(size.width, whole.width)};
            anchor[0] = draws.below(whole.height - size.height + 1);
            anchor[1] = draws.below(whole.width - size.width + 1);
        }
        const int64_t extent[2] = {size.height, size.width};
        put_pair(context, out, anchor, extent);
    }

   private:
    struct Size {
        int64_t height, width;
        float area() const { return static_cast<float>(height) * static_cast<float>(width); }
    };

    Size drawn(Stream& draws, const Size& whole) const {
        const float pixels = whole.area();
        const Size wide{whole.height,
                        std::max<int64_t>(1, static_cast<int64_t>(static_cast<float>(whole.height) * widest_))};
        const Size tall{std::max<int64_t>(1, static_cast<int64_t>(static_cast<float>(whole.width) * (1 / narrowest_))),
                        whole.width};
        // No window of the smallest area fits: the image is too wide, or too tall.
        if (wide.area() < pixels * smallest_) return wide;
        if (tall.area() < pixels * smallest_) return tall;
        for (int64_t attempt = 0; attempt < attempts_; ++attempt) {
            const auto area = static_cast<float>(draws.uniform(smallest_, largest_)) * pixels;
            const float ratio = std::exp(static_cast<float>(draws.uniform(std::log(narrowest_), std::log(widest_))));
            const Size size{std::max<int64_t>(1, std::lround(std::sqrt(area / ratio))),
                            std::max<int64_t>(1, std::lround(std::sqrt(area * ratio)))};
            const float got = static_cast<float>(size.width) / static_cast<float>(size.height);
            if (size.width <= whole.width && size.height <= whole.height && got >= narrowest_ && got <= widest_)
                return size;
        }
        return fallback(whole, wide, tall);
    }

    // The whole image, cut to the limits of the ratio and shrunk to the largest area.
    Size fallback(const Size& whole, const Size& wide, const Size& tall) const {
        const float ratio = static_cast<float>(whole.width) / static_cast<float>(whole.height);
        const Size size = ratio > widest_ ? wide : ratio < narrowest_ ? tall : whole;
        const float shrink = std::sqrt(std::min(1.0f, largest_ * whole.area() / size.area()));
        return {std::max<int64_t>(1, static_cast<int64_t>(static_cast<float>(size.height) * shrink)),
                std::max<int64_t>(1, static_cast<int64_t>(static_cast<float>(size.width) * shrink))};
    }

    uint64_t key_;
    int64_t attempts_;
    std::string layout_;
    float smallest_, largest_, narrowest_, widest_;
};

}  // namespace

std::unique_ptr<Step> make_crop_window(const CropWindowParams& params) { return std::make_unique<CropWindow>(params); }
std::unique_ptr<Step> make_slice_window(const SliceWindowParams& params) {
    return std::make_unique<SliceWindow>(params);
}
std::unique_ptr<Step> make_random_window(const RandomWindowParams& params) {
    return std::make_unique<RandomWindow>(params);
}

}  // namespace pixelmill
