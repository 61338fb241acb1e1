// Rotations and other affine warps: the maps, the sizes of the results, and the warp itself.
#include "../kernels/warp.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "affine.h"
#include "declared/warping.h"
#include "layout.h"

namespace pixelmill {

namespace {

Value put_map(Context& context, int index, const AffineMap& map) {
    const int64_t shape[2] = {map.axes, map.axes + 1};
    Value out = context.allocate(index, DType::f32, shape);
    for (int i = 0; i < map.axes; ++i) std::copy_n(map.at[i], map.axes + 1, out.as<float>() + i * (map.axes + 1));
    return out;
}

class RotationMap : public Step {
   public:
    explicit RotationMap(const RotationMapParams& params) : layout_(params.layout), keeps_size_(params.keep_size) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RotationMapInputs in(values);
        const std::string layout = layout_of(layout_, static_cast<int>(in.shape.elements()), "rotate");
        int64_t source[3] = {1, 1, 1}, result[3];  // x, y, z
        int axes = 0;
        for (char name : {'W', 'H', 'D'}) {
            if (axis_named(layout, name) >= 0) source[axes++] = in.shape.integer(axis_named(layout, name));
        }
        const auto angle = static_cast<float>(in.angle.number());
        if (!std::isfinite(angle)) throw Fault(FaultKind::argument, "rotate: the angle must be a finite number");
        std::optional<Turn> turn;
        if (axes == 3) turn = Turn(in.axis, radians(angle));
        std::copy_n(source, 3, result);
        if (in.size.present()) {
            read_size(result, in.size, axes, "rotate");
        } else if (!keeps_size_ && turn) {
            turn->canvas(result, source);
        } else if (!keeps_size_) {
            rotated_canvas(result, source, -radians(angle));
        }
        check_canvas(context, result, axes, "rotate");
        out[0] = put_map(context, 0, map_of(axes, source, result, angle, turn));
        const int64_t count = axes;
        out[1] = context.allocate(1, DType::i64, {&count, 1});
        for (int a = 0; a < axes; ++a) out[1].as<int64_t>()[a] = result[axes - 1 - a];
    }

   private:
    // About the centers: to the middle of the result, turned, and on to the middle of the source.
    static AffineMap map_of(int axes, const int64_t* source, const int64_t* result, float angle,
                            const std::optional<Turn>& turn) {
        AffineMap map;
        map.axes = axes;
        if (turn) {
            turn->inverse(map);
        } else {
            const float c = std::cos(radians(angle)), s = std::sin(radians(angle));
            map.at[0][0] = map.at[1][1] = c;
            map.at[0][1] = -s;
            map.at[1][0] = s;
        }
        for (int i = 0; i < axes; ++i) {
            float shift = 0;
            for (int j = 0; j < axes; ++j) shift += map.at[i][j] * (-static_cast<float>(result[j]) * 0.5f);
            map.at[i][axes] = shift + static_cast<float>(source[i]) * 0.5f;
        }
        return map;
    }

    std::string layout_;
    bool keeps_size_;
};

class InverseMap : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const InverseMapInputs in(values);
        out[0] = put_map(context, 0, inverted(read_map(in.matrix, "warp_affine")));
    }
};

// Start and extents come rows before columns.
class WarpBox : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const WarpBoxInputs in(values);
        const AffineMap map = read_map(in.matrix, "rotate");
        const int64_t count = 2;
        for (int i = 0; i < 2; ++i) out[static_cast<size_t>(i)] = context.allocate(i, DType::i64, {&count, 1});
        for (int axis = 0; axis < 2; ++axis) {  // x, y
            const auto [first, end] = range(map.at[axis], in.shape.integer(1 - axis), in.window);
            out[0].as<int64_t>()[1 - axis] = first;
            out[1].as<int64_t>()[1 - axis] = end - first;
        }
    }

   private:
    static std::pair<int64_t, int64_t> range(const float* row, int64_t extent, const Value& window) {
        double lowest = row[2], highest = row[2];
        for (int axis = 0; axis < 2; ++axis) {
            const auto start = static_cast<double>(window.integer(1 - axis));
            const auto last = start + static_cast<double>(window.integer(3 - axis)) - 1;
            const auto [low, high] = std::minmax({row[axis] * (start + 0.5), row[axis] * (last + 0.5)});
            lowest += low;
            highest += high;
        }
        // Two pixels are blended, vector code reads a little further, and the running sums of coordinates are not
        // exact.
        const auto size = static_cast<double>(extent), margin = 4 + size * 0x1p-13;
        const double first = std::clamp(std::floor(lowest) - margin, 0.0, std::max(size - margin, 0.0));
        const double end = std::clamp(std::ceil(highest) + margin, std::min(first + margin, size), size);
        return {static_cast<int64_t>(first), static_cast<int64_t>(std::ceil(end))};
    }
};

// `matrix` maps the result to the source. A window of the result, start before extents and rows before columns, is all
// of it that is made. Where the image is only what WarpBox asked for, `part_start` says where it begins in its source,
// and `source_shape` is the shape of that.
class Warp : public Step {
   public:
    explicit Warp(const WarpParams& params)
        : layout_(params.layout),
          name_(params.name),
          dtype_(params.dtype),
          linear_(params.linear),
          window_(params.window_name) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const WarpInputs in(values);
        const Value& x = in.image;
        const std::string layout = layout_of(layout_, x.ndim, name_);
        const AffineMap map = read_map(in.matrix, name_);
        const int h = axis_named(layout, 'H'), w = axis_named(layout, 'W'), d = axis_named(layout, 'D');
        if (h < 0 || w < 0 || map.axes != (d < 0 ? 2 : 3)) {
            throw Fault(FaultKind::argument, name_ + ": a matrix of " + std::to_string(map.axes) +
                                                 " rows does not fit the axes \"" + layout + "\"");
        }
        int64_t size[3] = {x.shape[w], x.shape[h], d < 0 ? 1 : x.shape[d]};
        if (in.size.present()) read_size(size, in.size, map.axes, name_);
        check_canvas(context, size, map.axes, name_);
        Extents shape = x.shape;
        shape[w] = size[0];
        shape[h] = size[1];
        if (d >= 0) shape[d] = size[2];
        WarpOptions options{linear_, !in.fill_value.present(), in.fill_value.present() ? in.fill_value.number() : 0};
        if (in.window.present()) narrow(shape, options, in.window, x.ndim, h, w);
        const DType dtype = dtype_.value_or(x.dtype);
        out[0] = context.allocate(0, dtype, {shape.data(), static_cast<size_t>(x.ndim)});
        if (out[0].elements() == 0) return;
        Images images{context, layout, map, options, out[0], x};
        Grid source = grid_of(x, layout);
        if (in.part_start.present()) widen(source, in.part_start, in.source_shape);
        images.each(0, grid_of(out[0], layout), source);
    }

   private:
    void narrow(Extents& shape, WarpOptions& options, const Value& window, int ndim, int h, int w) const {
        Extents start{}, extent = shape;
        bool fits = true;
        for (const auto& [axis, place] : {std::pair(h, 0), std::pair(w, 1)}) {
            start[axis] = window.integer(place);
            extent[axis] = window.integer(place + 2);
            if (extent[axis] < 0) throw Fault(FaultKind::argument, window_ + ": an extent of the window is negative");
            fits &= start[axis] >= 0 && start[axis] <= shape[axis] && extent[axis] <= shape[axis] - start[axis];
        }
        if (!fits) {
            throw Fault(FaultKind::argument, window_ + ": window at " + listed(start.data(), ndim) + " of size " +
                                                 listed(extent.data(), ndim) + " does not fit into " +
                                                 listed(shape.data(), ndim));
        }
        shape = extent;
        options.top = start[h];
        options.left = start[w];
    }

    // The whole of what a part was taken from: what lies outside of the part is never read.
    static void widen(Grid& part, const Value& start, const Value& shape) {
        for (int axis = 0; axis < 2; ++axis) {
            part.data -= start.integer(1 - axis) * part.stride[axis] * size_of(part.dtype);
            part.size[axis] = shape.integer(1 - axis);
        }
    }

    // Channels that do not come last are images of their own.
    static Grid grid_of(const Value& value, const std::string& layout) {
        Grid grid;
        grid.data = value.data;
        grid.dtype = value.dtype;
        int i = 0;
        for (char name : {'W', 'H', 'D'}) {
            const int axis = axis_named(layout, name);
            if (axis < 0) continue;
            grid.size[i] = value.shape[axis];
            grid.stride[i++] = value.stride[axis];
        }
        if (layout.back() == 'C') {
            grid.channels = value.shape[value.ndim - 1];
            grid.channel = value.stride[value.ndim - 1];
        }
        return grid;
    }

    // Frames, and whatever else is not space, one after the other.
    struct Images {
        Context& context;
        const std::string& layout;
        const AffineMap& map;
        const WarpOptions& options;
        const Value &out, &in;

        void each(size_t axis, Grid to, Grid from) const {
            const bool last = axis + 1 == layout.size() && layout[axis] == 'C';
            if (axis == layout.size() || last) return warp(to, from, map, options, context.thread.arena);
            if (is_spatial(layout[axis])) return each(axis + 1, to, from);
            for (int64_t i = 0; i < in.shape[axis]; ++i) {
                each(axis + 1, to, from);
                to.data += out.stride[axis] * size_of(out.dtype);
                from.data += in.stride[axis] * size_of(in.dtype);
            }
        }
    };

    std::string layout_, name_;
    std::optional<DType> dtype_;
    bool linear_;
    std::string window_;  // the operator that asked for a window
};

}  // namespace

std::unique_ptr<Step> make_rotation_map(const RotationMapParams& params) {
    return std::make_unique<RotationMap>(params);
}
std::unique_ptr<Step> make_inverse_map(const InverseMapParams&) { return std::make_unique<InverseMap>(); }
std::unique_ptr<Step> make_warp_box(const WarpBoxParams&) { return std::make_unique<WarpBox>(); }
std::unique_ptr<Step> make_warp(const WarpParams& params) { return std::make_unique<Warp>(params); }

}  // namespace pixelmill
