// Parts of values and new shapes for them: views, which copy only where the new shape cannot be had by strides.
#include <algorithm>
#include <cmath>

#include "../kernels/pointwise.h"
#include "axes.h"
#include "declared/shapes.h"
#include "layout.h"

namespace pixelmill {

namespace {

int64_t index_of(const Value& index) {
    if (index.ndim != 0)
        throw Fault(FaultKind::argument, "subscript: an index must be one number, got " + describe(index));
    if (index.dtype == DType::f16 || index.dtype == DType::f32 || index.dtype == DType::f64) {
        throw Fault(FaultKind::argument, "subscript: an index must be a whole number, got " + describe(index));
    }
    return index.integer();
}

// Four bounds for each axis that is named: index, first, end, step.
class Subscript : public Step {
   public:
    void run(Context&, std::span<const Value> values, std::span<Value> out) const override {
        const SubscriptInputs in(values);
        const Value& x = in.data;
        const auto named = static_cast<int>(in.bounds.size() / 4);
        if (named > x.ndim) {
            throw Fault(FaultKind::argument,
                        "subscript: " + std::to_string(named) + " indices are too many for " + describe(x));
        }
        Value part = x;
        part.ndim = 0;
        for (int d = 0; d < x.ndim; ++d) {
            int64_t first = 0, extent = x.shape[d], step = 1;
            if (d < named) {
                const auto bounds = in.bounds.subspan(static_cast<size_t>(4 * d), 4);
                if (bounds[0].present()) {
                    part.data += index(bounds[0], x, d) * x.stride[d] * size_of(x.dtype);
                    continue;
                }
                range(bounds, x.shape[d], first, extent, step);
            }
            if (extent > 0) part.data += first * x.stride[d] * size_of(x.dtype);
            part.shape[part.ndim] = extent;
            part.stride[part.ndim++] = x.stride[d] * step;
        }
        out[0] = part;
    }

   private:
    static int64_t index(const Value& bound, const Value& x, int axis) {
        const int64_t given = index_of(bound), found = given < 0 ? given + x.shape[axis] : given;
        if (found < 0 || found >= x.shape[axis]) {
            throw Fault(FaultKind::argument, "subscript: index " + std::to_string(given) + " is outside of axis " +
                                                 std::to_string(axis) + " of " + describe(x));
        }
        return found;
    }

    // As Python's slices: what lies outside is cut off.
    static void range(std::span<const Value> bounds, int64_t count, int64_t& first, int64_t& extent, int64_t& step) {
        step = bounds[3].present() ? index_of(bounds[3]) : 1;
        if (step == 0) throw Fault(FaultKind::argument, "subscript: the step of a slice must not be 0");
        const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? count - 1 : count;
        const auto limit = [&](const Value& bound, int64_t absent) {
            if (!bound.present()) return absent;
            const int64_t given = index_of(bound);
            return std::clamp(given < 0 ? given + count : given, low, std::max(low, high));
        };
        first = limit(bounds[1], step < 0 ? high : low);
        const int64_t end = limit(bounds[2], step < 0 ? low : high);
        extent = step > 0 ? (end - first + step - 1) / step : (first - end - step - 1) / -step;
        extent = std::max<int64_t>(extent, 0);
    }
};

class ExpandDims : public Step {
   public:
    explicit ExpandDims(const ExpandDimsParams& params) : axes_(params.axes), names_(params.names) {}

    void run(Context&, std::span<const Value> values, std::span<Value> out) const override {
        const ExpandDimsInputs in(values);
        const Value& x = in.data;
        const auto ndim = static_cast<int>(axes_.size()) + x.ndim;
        if (ndim > max_dims) throw Fault(FaultKind::argument, "expand_dims: more than 6 axes");
        check_names(names_, static_cast<size_t>(ndim), "expand_dims");
        const AxisSet fresh = marked_axes(axes_, ndim, "expand_dims");
        Value wide = x;
        wide.ndim = ndim;
        for (int d = 0, own = 0; d < ndim; ++d) {
            const bool is_new = fresh[static_cast<size_t>(d)];
            wide.shape[d] = is_new ? 1 : x.shape[own];
            wide.stride[d] = is_new ? 0 : x.stride[own];
            own += is_new ? 0 : 1;
        }
        out[0] = wide;
    }

   private:
    std::vector<int64_t> axes_;
    std::optional<int64_t> names_;
};

class Squeeze : public Step {
   public:
    explicit Squeeze(const SqueezeParams& params) : axes_(params.axes) {}

    void run(Context&, std::span<const Value> values, std::span<Value> out) const override {
        const SqueezeInputs in(values);
        const Value& x = in.data;
        const AxisSet gone = marked_axes(axes_, x.ndim, "squeeze");
        Value narrow = x;
        narrow.ndim = 0;
        for (int d = 0; d < x.ndim; ++d) {
            if (gone[static_cast<size_t>(d)]) continue;
            narrow.shape[narrow.ndim] = x.shape[d];
            narrow.stride[narrow.ndim++] = x.stride[d];
        }
        if (narrow.elements() != x.elements()) {
            throw Fault(FaultKind::argument, "squeeze: only axes of extent 1 can be left out of " + describe(x));
        }
        out[0] = narrow;
    }

   private:
    std::vector<int64_t> axes_;
};

// The same elements in another shape, perhaps taken for another type.
class Reshape : public Step {
   public:
    explicit Reshape(const ReshapeParams& params) : name_(params.name), dtype_(params.dtype), names_(params.names) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ReshapeInputs in(values);
        const Value& x = in.data;
        const DType dtype = dtype_.value_or(x.dtype);
        const std::vector<int64_t> shape = wanted(x, in, dtype);
        check_names(names_, shape.size(), name_);
        if (x.contiguous()) {
            out[0] = x;
            out[0].dtype = dtype;
            out[0].ndim = static_cast<int>(shape.size());
            std::copy(shape.begin(), shape.end(), out[0].shape.begin());
            out[0].stride = packed_strides(out[0].ndim, out[0].shape);
            return;
        }
        out[0] = context.allocate(0, dtype, shape);
        Value packed = x;
        packed.data = out[0].data;
        packed.stride = packed_strides(x.ndim, x.shape);
        pack(packed, x, context.thread.arena);
    }

   private:
    std::vector<int64_t> wanted(const Value& x, const ReshapeInputs& in, DType dtype) const {
        std::vector<int64_t> shape;
        if (in.shape.present()) {
            for (int64_t i = 0; i < in.shape.elements(); ++i) shape.push_back(in.shape.integer(i));
        } else if (in.rel_shape.present()) {
            shape = relative(x, in.rel_shape, in.src_dims);
        } else if (in.src_dims.present()) {
            for (int64_t i = 0; i < in.src_dims.elements(); ++i) shape.push_back(source(x, in.src_dims.integer(i)));
        } else {
            shape.assign(x.shape.begin(), x.shape.begin() + x.ndim);
        }
        if (shape.size() > max_dims) throw Fault(FaultKind::argument, name_ + ": more than 6 axes");
        const bool adapts =
            !in.shape.present() && !in.rel_shape.present() && size_of(dtype) != size_of(x.dtype) && !shape.empty();
        return fitted(x, shape, dtype, adapts);
    }

    int64_t source(const Value& x, int64_t axis) const {
        if (axis < -1 || axis >= x.ndim) {
            throw Fault(FaultKind::argument,
                        name_ + ": src_dims names axis " + std::to_string(axis) + " of " + describe(x));
        }
        return axis < 0 ? 1 : x.shape[axis];
    }

    std::vector<int64_t> relative(const Value& x, const Value& shares, const Value& axes) const {
        const int64_t count = shares.elements();
        const bool open = count > 0 && shares.number(count - 1) < 0;
        const int64_t most = axes.present() ? axes.elements() : x.ndim + (open ? 1 : 0);
        if (count > most || (axes.present() && count != most)) {
            throw Fault(FaultKind::argument, name_ + ": rel_shape has " + std::to_string(count) +
                                                 " values, which do not fit " +
                                                 std::to_string(axes.present() ? most : x.ndim) + " axes");
        }
        std::vector<int64_t> shape;
        for (int64_t i = 0; i < count; ++i) {
            const auto share = static_cast<float>(shares.number(i));
            const int64_t axis = axes.present() ? axes.integer(i) : i;
            shape.push_back(share < 0 ? -1 : std::lround(share * static_cast<float>(source(x, axis))));
        }
        return shape;
    }

    // One extent may be left open; with another type and no shape, the last one adapts.
    std::vector<int64_t> fitted(const Value& x, std::vector<int64_t> shape, DType dtype, bool adapts) const {
        const int64_t bytes = x.elements() * size_of(x.dtype), size = size_of(dtype);
        auto open = std::find_if(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; });
        const auto given = shape;
        if (std::count_if(shape.begin(), shape.end(), [](int64_t extent) { return extent < 0; }) > 1) {
            throw Fault(FaultKind::argument, name_ + ": only one extent may be negative");
        }
        if (adapts) {
            const int64_t row = shape.back() * size_of(x.dtype);
            if (row % size != 0) {
                throw Fault(FaultKind::argument, name_ + ": rows of " + std::to_string(row) +
                                                     " bytes cannot be taken for " + name_of(dtype));
            }
            shape.back() = row / size;
        }
        int64_t others = size;
        for (auto extent = shape.begin(); extent != shape.end(); ++extent) others *= extent == open ? 1 : *extent;
        if (open != shape.end()) *open = others > 0 ? bytes / others : 0;
        if ((open == shape.end() ? others : others * *open) != bytes || (open != shape.end() && others == 0)) {
            throw Fault(FaultKind::argument, name_ + ": " + describe(x) + " cannot get the shape " +
                                                 listed(given.data(), static_cast<int>(given.size())));
        }
        return shape;
    }

    std::string name_;
    std::optional<DType> dtype_;
    std::optional<int64_t> names_;
};

}  // namespace

std::unique_ptr<Step> make_subscript(const SubscriptParams&) { return std::make_unique<Subscript>(); }
std::unique_ptr<Step> make_expand_dims(const ExpandDimsParams& params) { return std::make_unique<ExpandDims>(params); }
std::unique_ptr<Step> make_squeeze(const SqueezeParams& params) { return std::make_unique<Squeeze>(params); }
std::unique_ptr<Step> make_reshape(const ReshapeParams& params) { return std::make_unique<Reshape>(params); }

}  // namespace pixelmill
