// Steps that only describe the same elements differently; they copy when the result has to be written.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "../kernels/convert.h"
#include "../kernels/copy.h"
#include "../kernels/pointwise.h"
#include "axes.h"
#include "declared/shapes.h"
#include "filtered_axes.h"
#include "layout.h"

namespace pixelmill {

namespace {

std::span<const int64_t> extents_of(const Extents& extents, int ndim) {
    return {extents.data(), static_cast<size_t>(ndim)};
}

std::byte* element(const Value& value, int axis, int64_t index) {
    return value.data + index * value.stride[axis] * size_of(value.dtype);
}

// A padded copy may be asked for in any size; what is far beyond an image is a mistake, not a wish for memory.
void check_size(const Context& context, const Value& x, const Extents& extent, const std::string& name) {
    double elements = 1;
    for (int d = 0; d < x.ndim; ++d) elements *= static_cast<double>(extent[d]);
    if (elements > 4.0 * static_cast<double>(std::max(context.limits.pixels, x.elements()))) {
        throw Fault(FaultKind::too_large, name + ": an output of size " + listed(extent.data(), x.ndim) +
                                              " passes the limit of " + std::to_string(context.limits.pixels) +
                                              " pixels");
    }
}

// One value, or one for each channel.
class Fill {
   public:
    Fill(const Value& values, const Value& out, int channels, const std::string& name) : values_(values) {
        const int64_t count = values.present() ? values.elements() : 1;
        if (count == 1) return;
        axis_ = channels < 0 ? out.ndim - 1 : channels;
        if (axis_ < 0 || axis_ >= out.ndim || out.shape[axis_] != count) {
            throw Fault(FaultKind::argument, name + ": fill_values has " + std::to_string(count) +
                                                 " values, which is not the number of channels of " + describe(out));
        }
    }

    void write(const Value& out) const {
        with_type(out.dtype, [&](auto zero) {
            using T = decltype(zero);
            T* to = out.as<T>();
            const int64_t count = out.elements();
            if (axis_ < 0) {
                std::fill(to, to + count, value<T>(0));
                return;
            }
            const int64_t run = out.stride[axis_], choices = out.shape[axis_];
            for (int64_t i = 0; i < count; i += run) std::fill(to + i, to + i + run, value<T>(i / run % choices));
        });
    }

   private:
    template <class T>
    T value(int64_t index) const {
        return values_.present() ? convert<T>(values_.number(index)) : T{};
    }
    const Value& values_;
    int axis_ = -1;
};

class Shape : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ShapeInputs in(values);
        const int64_t count = in.data.ndim;
        out[0] = context.allocate(0, DType::i64, {&count, 1});
        std::copy_n(in.data.shape.begin(), count, out[0].as<int64_t>());
    }
};

// A window along some axes; where it leaves x the policy decides.
class WindowOf : public Step {
   public:
    explicit WindowOf(const WindowParams& params)
        : axes_(params.axes), channels_(static_cast<int>(params.channels)), name_(params.name) {
        const std::string& policy = params.policy;
        pads_ = policy == "pad";
        trims_ = policy == "trim_to_shape";
        repeats_ = !pads_ && !trims_ && policy != "error";
        if (repeats_) border_ = border_named(policy);
    }

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const WindowInputs in(values);
        const Value& x = in.data;
        Extents start{}, extent = x.shape;
        const size_t count = axes_.empty() ? static_cast<size_t>(x.ndim) : axes_.size();  // none stands for all
        for (size_t i = 0; i < count; ++i) {
            const int axis = axes_.empty() ? static_cast<int>(i) : checked_axis(axes_[i], x.ndim, name_);
            start[axis] = in.start.integer(static_cast<int64_t>(i));
            extent[axis] = in.extent.integer(static_cast<int64_t>(i));
        }
        Value inside = x;
        bool leaves = false;
        Extents first{};  // where the inside begins in the window
        for (int d = 0; d < x.ndim; ++d) {
            const int64_t low = std::clamp<int64_t>(start[d], 0, x.shape[d]);
            const int64_t high = std::clamp<int64_t>(start[d] + extent[d], low, x.shape[d]);
            leaves |= low != start[d] || high != start[d] + extent[d];
            if (extent[d] < 0) throw Fault(FaultKind::argument, name_ + ": an extent of the window is negative");
            inside.data = element(inside, d, low);
            inside.shape[d] = high - low;
            first[d] = low - start[d];
        }
        if (leaves && repeats_) {
            out[0] = repeated(context, x, start, extent);
            return;
        }
        if (leaves && !pads_ && !trims_) {
            throw Fault(FaultKind::argument, name_ + ": window at " + listed(start.data(), x.ndim) + " of size " +
                                                 listed(extent.data(), x.ndim) + " does not fit into " +
                                                 listed(x.shape.data(), x.ndim));
        }
        out[0] = leaves && pads_ ? padded(context, inside, first, extent, in.fill_values) : inside;
    }

   private:
    Value padded(Context& context, const Value& inside, const Extents& first, const Extents& extent,
                 const Value& fill) const {
        check_size(context, inside, extent, name_);
        Value whole = context.allocate(0, inside.dtype, extents_of(extent, inside.ndim));
        Fill(fill, whole, channels_, name_).write(whole);
        Value middle = whole;
        middle.shape = inside.shape;
        if (inside.elements() > 0) {
            for (int d = 0; d < inside.ndim; ++d) middle.data = element(middle, d, first[d]);
            copy_elements(middle, inside);
        }
        return whole;
    }

    // The window of data that continue beyond their edges, as the border says.
    Value repeated(Context& context, const Value& x, const Extents& start, const Extents& extent) const {
        check_size(context, x, extent, name_);
        if (x.elements() == 0) throw Fault(FaultKind::argument, name_ + ": empty data cannot be continued");
        Value whole = context.allocate(0, x.dtype, extents_of(extent, x.ndim));
        int last = x.ndim - 1;  // the last axis along which the window is not all of the data
        while (last > 0 && start[last] == 0 && extent[last] == x.shape[last]) --last;
        continue_axis(whole, x, start, 0, last);
        return whole;
    }

    void continue_axis(const Value& whole, const Value& x, const Extents& start, int axis, int last) const {
        Value to = whole, from = x;
        to.shape[axis] = from.shape[axis] = 1;
        for (int64_t i = 0; i < whole.shape[axis]; ++i) {
            to.data = element(whole, axis, i);
            from.data = element(x, axis, border_index(start[axis] + i, x.shape[axis], border_));
            if (axis == last) {
                copy_elements(to, from);
            } else {
                continue_axis(to, from, start, axis + 1, last);
            }
        }
    }

    std::vector<int64_t> axes_;
    int channels_;  // the axis, -1 for the last one
    std::string name_;
    bool pads_ = false, trims_ = false, repeats_ = false;
    Border border_ = Border::clamp;
};

class Flip : public Step {
   public:
    explicit Flip(const FlipParams& params) : layout_(params.layout) {}

    void run(Context&, std::span<const Value> values, std::span<Value> out) const override {
        const FlipInputs in(values);
        Value x = in.data;
        const std::string layout = layout_of(layout_, x.ndim, "flip");
        const Value* const turns[] = {&in.horizontal, &in.vertical, &in.depthwise};
        constexpr char names[] = {'W', 'H', 'D'};
        for (size_t i = 0; i < 3; ++i) {
            const int axis = axis_named(layout, names[i]);
            if (axis < 0 || !turns[i]->present() || turns[i]->number() == 0 || x.shape[axis] == 0) continue;
            x.data = element(x, axis, x.shape[axis] - 1);
            x.stride[axis] = -x.stride[axis];
        }
        out[0] = x;
    }

   private:
    std::string layout_;
};

class Transpose : public Step {
   public:
    explicit Transpose(const TransposeParams& params) : perm_(params.perm) {}

    void run(Context&, std::span<const Value> values, std::span<Value> out) const override {
        const TransposeInputs in(values);
        const Value& x = in.data;
        Value turned = x;
        if (!perm_.empty() && static_cast<int>(perm_.size()) != x.ndim) {
            throw Fault(FaultKind::argument, "transpose: perm has " + std::to_string(perm_.size()) +
                                                 " axes, the input " + std::to_string(x.ndim));
        }
        unsigned seen = 0;
        for (int d = 0; d < x.ndim; ++d) {
            const int from =
                perm_.empty() ? x.ndim - 1 - d : checked_axis(perm_[static_cast<size_t>(d)], x.ndim, "transpose");
            seen |= 1u << from;
            turned.shape[d] = x.shape[from];
            turned.stride[d] = x.stride[from];
        }
        if (seen + 1 != 1u << x.ndim) throw Fault(FaultKind::argument, "transpose: perm names an axis twice");
        out[0] = turned;
    }

   private:
    std::vector<int64_t> perm_;
};

// The data stay at the low corner.
class Pad : public Step {
   public:
    explicit Pad(const PadParams& params) : axes_(params.axes) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const PadInputs in(values);
        const Value& x = in.data;
        std::vector<int64_t> axes = axes_;
        if (axes.empty()) {
            axes.resize(static_cast<size_t>(x.ndim));
            std::iota(axes.begin(), axes.end(), 0);
        }
        Extents extent = x.shape;
        for (size_t i = 0; i < axes.size(); ++i) {
            const int axis = checked_axis(axes[i], x.ndim, "pad");
            const int64_t target = at(in.extents, i, axes.size(), -1), align = at(in.align, i, axes.size(), 1);
            if (align < 1)
                throw Fault(FaultKind::argument, "pad: align must be positive, got " + std::to_string(align));
            if (std::max(target, align) > int64_t{1} << 31) {
                throw Fault(FaultKind::too_large,
                            "pad: an extent of " + std::to_string(std::max(target, align)) + " is too large");
            }
            extent[axis] = (std::max(extent[axis], target) + align - 1) / align * align;
        }
        if (extent == x.shape) {
            out[0] = x;
            return;
        }
        check_size(context, x, extent, "pad");
        out[0] = context.allocate(0, x.dtype, extents_of(extent, x.ndim));
        Fill(in.fill_value, out[0], -1, "pad").write(out[0]);
        Value corner = out[0];
        corner.shape = x.shape;
        copy_elements(corner, x);
    }

   private:
    static int64_t at(const Value& values, size_t index, size_t axes, int64_t absent) {
        if (!values.present()) return absent;
        if (values.elements() == 1) return values.integer();
        if (static_cast<int64_t>(axes) != values.elements()) {
            throw Fault(FaultKind::argument, "pad: align must be one number, or one for each of " +
                                                 std::to_string(axes) + " axes, got " +
                                                 std::to_string(values.elements()));
        }
        return values.integer(static_cast<int64_t>(index));
    }
    std::vector<int64_t> axes_;
};

class Contiguous : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ContiguousInputs in(values);
        const Value& x = in.data;
        if (x.contiguous()) {
            out[0] = x;
            return;
        }
        out[0] = context.allocate(0, x.dtype, extents_of(x.shape, x.ndim));
        pack(out[0], x, context.thread.arena);
    }
};

}  // namespace

std::unique_ptr<Step> make_shape(const ShapeParams&) { return std::make_unique<Shape>(); }
std::unique_ptr<Step> make_window(const WindowParams& params) { return std::make_unique<WindowOf>(params); }
std::unique_ptr<Step> make_flip(const FlipParams& params) { return std::make_unique<Flip>(params); }
std::unique_ptr<Step> make_transpose(const TransposeParams& params) { return std::make_unique<Transpose>(params); }
std::unique_ptr<Step> make_pad(const PadParams& params) { return std::make_unique<Pad>(params); }
std::unique_ptr<Step> make_contiguous(const ContiguousParams&) { return std::make_unique<Contiguous>(); }

}  // namespace pixelmill
