// Resampling of arrays along any axes: they are brought into the shape of images or volumes, resampled, and brought
// back.
#include <algorithm>
#include <cmath>

#include "../kernels/axis.h"
#include "../kernels/pointwise.h"
#include "declared/resampling.h"
#include "layout.h"
#include "resize_rule.h"

namespace pixelmill {

namespace {

[[noreturn]] void refuse(const std::string& message) { throw Fault(FaultKind::argument, "tensor_resize: " + message); }

class TensorGeometry : public Step {
   public:
    explicit TensorGeometry(const TensorGeometryParams& params)
        : axes_(params.axes),
          mode_(ResizeRule::mode_named(params.mode)),
          rounding_(params.rounding),
          keeps_scale_(params.subpixel_scale),
          relative_(params.roi_relative) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const TensorGeometryInputs in(values);
        const auto count = static_cast<int>(in.shape.elements());
        if (count < 1 || count > max_dims) refuse("an array of 1 to 6 axes is needed");
        ResizeRule rule;
        rule.axes = count;
        bool empty = false;
        const int64_t shape[2] = {count, 8};
        out[0] = context.allocate(0, DType::f64, shape);
        auto* axes = out[0].as<Axis>();
        float alignment[max_dims];
        for (int d = 0; d < count; ++d) {
            const int at = argument_of(d, count);
            axes[d] = {};
            axes[d].source = static_cast<double>(in.shape.integer(d));
            empty |= axes[d].source == 0;
            region(axes[d], in, at);
            const auto whole = static_cast<float>(axes[d].source);
            rule.wanted[d] = in.sizes.present() ? (at < 0 ? whole : number(in.sizes, at))
                                                : (at < 0 ? 1.0f : number(in.scales, at)) * whole;
            rule.limit[d] = in.max_size.present() && at >= 0 ? number(in.max_size, at) : 0.0f;
            alignment[d] = in.alignment.present() && at >= 0 ? number(in.alignment, at) : 0.5f;
            if (axes[d].high < axes[d].low) {
                std::swap(axes[d].low, axes[d].high);
                rule.wanted[d] = -rule.wanted[d];
            }
            rule.in[d] = static_cast<float>(axes[d].high) - static_cast<float>(axes[d].low);
        }
        rule.apply(mode_);
        for (int d = 0; d < count; ++d) settle(axes[d], rule.wanted[d], alignment[d], empty, context.limits);
    }

   private:
    // Which value of the arguments is for axis `d`; -1 for none.
    int argument_of(int d, int count) const {
        if (axes_.empty()) return d;
        int found = -1;
        for (size_t i = 0; i < axes_.size(); ++i) {
            const int axis = static_cast<int>(axes_[i]) + (axes_[i] < 0 ? count : 0);
            if (axis < 0 || axis >= count)
                refuse("there is no axis " + std::to_string(static_cast<int>(axes_[i])) + " among " +
                       std::to_string(count));
            if (axis == d && found >= 0) refuse("the axis " + std::to_string(d) + " is named twice");
            if (axis == d) found = static_cast<int>(i);
        }
        return found;
    }

    float number(const Value& values, int at) const {
        if (values.elements() == 1) return static_cast<float>(values.number());
        if (at >= values.elements() || (!axes_.empty() && values.elements() != static_cast<int64_t>(axes_.size()))) {
            refuse("an argument needs one number or one for each axis, got " + describe(values));
        }
        return static_cast<float>(values.number(at));
    }

    void region(Axis& axis, const TensorGeometryInputs& in, int at) const {
        axis.low = 0;
        axis.high = axis.source;
        if (!in.roi_start.present() || !in.roi_end.present() || axis.source == 0 || at < 0) return;
        double low = number(in.roi_start, at), high = number(in.roi_end, at);
        if (relative_) {
            low *= axis.source;
            high *= axis.source;
        }
        check_region(low, high);
        constexpr float smallest = 1e-3f;
        if (std::fabs(high - low) < smallest) {
            const float offset = low <= high ? 0.5f * smallest : -0.5f * smallest;
            low -= offset;
            high += offset;
        }
        axis.low = static_cast<float>(low);
        axis.high = static_cast<float>(high);
    }

    float rounded(float extent) const {
        if (rounding_ == "truncate") return std::trunc(extent);
        return rounding_ == "ceil" ? std::ceil(extent) : std::round(extent);
    }

    // A size with a fraction widens the region about the aligned point, so that the scale stays.
    void settle(Axis& axis, float size, float alignment, bool empty, const Limits& limits) const {
        const float extent = std::fabs(size);
        if (axis.low == axis.high && size != 0) refuse("an empty input cannot become an output with elements");
        if (!(extent <= static_cast<float>(limits.pixels))) {
            throw Fault(FaultKind::too_large, "tensor_resize: an extent of " + std::to_string(extent) +
                                                  " passes the limit of " + std::to_string(limits.pixels));
        }
        const float result = std::max(empty ? 0.0f : 1.0f, rounded(extent));
        if (size < 0) std::swap(axis.low, axis.high);
        if (keeps_scale_ && result != extent) {
            const double widening = std::clamp(static_cast<double>(result) / extent, -10.0, 10.0);
            const double fixed = axis.low * (1.0 - alignment) + axis.high * alignment;
            const auto moved = [&](double edge) {
                return static_cast<double>(
                    static_cast<float>(std::clamp(fixed + (edge - fixed) * widening, -1e9, 1e9)));
            };
            axis.low = moved(axis.low);
            axis.high = moved(axis.high);
        }
        axis.out = axis.count = result;
    }

    std::vector<int64_t> axes_;
    ResizeRule::Mode mode_;
    std::string rounding_;
    bool keeps_scale_, relative_;
};

// The array becomes frames of images (or volumes) with channels.
class TensorImage : public Step {
   public:
    explicit TensorImage(const TensorImageParams& params) : spatial_(static_cast<int>(params.spatial)) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const TensorImageInputs in(values);
        Value x = in.data;
        if (!x.contiguous()) {
            x = context.scratch(x.dtype, {x.shape.data(), static_cast<size_t>(x.ndim)});
            pack(x, in.data, context.thread.arena);
        }
        const auto* axes = in.geometry.as<const Axis>();
        int first = 0, last = x.ndim - 1;
        while (first < last && same(axes[first])) ++first;
        while (last > first && same(axes[last])) --last;
        const int block = last - first + 1;
        if (block > spatial_)
            refuse("at most " + std::to_string(spatial_) + " axes side by side can change, got " +
                   std::to_string(block));
        const int64_t shape[2] = {spatial_, 8};
        out[1] = context.allocate(1, DType::f64, shape);
        auto* geometry = out[1].as<Axis>();
        Value view = x;
        view.ndim = spatial_ + 2;
        view.shape = {};
        view.shape[0] = view.shape[static_cast<size_t>(view.ndim - 1)] = 1;
        for (int d = 0; d < first; ++d) view.shape[0] *= x.shape[d];
        for (int d = last + 1; d < x.ndim; ++d) view.shape[static_cast<size_t>(view.ndim - 1)] *= x.shape[d];
        for (int d = 0; d < spatial_; ++d) {
            const int from = d - (spatial_ - block);
            geometry[d] = from < 0 ? Axis{0, 1, 1, 0, 1, 0, 1, 0} : axes[first + from];
            view.shape[static_cast<size_t>(1 + d)] = from < 0 ? 1 : x.shape[first + from];
        }
        view.stride = packed_strides(view.ndim, view.shape);
        out[0] = view;
    }

   private:
    static bool same(const Axis& axis) {
        return axis.low == 0 && axis.high == axis.source && axis.count == axis.source;
    }

    int spatial_;
};

class TensorBack : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const TensorBackInputs in(values);
        const auto* axes = in.geometry.as<const Axis>();
        Extents shape{};
        const auto count = static_cast<int>(in.geometry.shape[0]);
        for (int d = 0; d < count; ++d) shape[static_cast<size_t>(d)] = static_cast<int64_t>(axes[d].count);
        Value view = in.image;
        if (!view.contiguous()) {
            view = context.scratch(view.dtype, {view.shape.data(), static_cast<size_t>(view.ndim)});
            pack(view, in.image, context.thread.arena);
        }
        view.ndim = count;
        view.shape = shape;
        view.stride = packed_strides(count, shape);
        out[0] = view;
    }
};

}  // namespace

std::unique_ptr<Step> make_tensor_geometry(const TensorGeometryParams& params) {
    return std::make_unique<TensorGeometry>(params);
}
std::unique_ptr<Step> make_tensor_image(const TensorImageParams& params) {
    return std::make_unique<TensorImage>(params);
}
std::unique_ptr<Step> make_tensor_back(const TensorBackParams&) { return std::make_unique<TensorBack>(); }

}  // namespace pixelmill
