// Geometry: what resize and related operators request from the resampler, one Axis record per spatial axis. Pixels are
// not touched.
#include <algorithm>
#include <cmath>

#include "../kernels/axis.h"
#include "declared/resampling.h"
#include "layout.h"
#include "resize_rule.h"

namespace pixelmill {

namespace {

Axis* put_axes(Context& context, std::span<Value> out, int count) {
    const int64_t shape[2] = {count, 8};
    out[0] = context.allocate(0, DType::f64, shape);
    return out[0].as<Axis>();
}

Axis* copy_axes(Context& context, std::span<Value> out, const Value& geometry) {
    const auto count = static_cast<int>(geometry.shape[0]);
    Axis* axes = put_axes(context, out, count);
    std::copy_n(geometry.as<Axis>(), count, axes);
    return axes;
}

class ResizeGeometry : public Step {
   public:
    explicit ResizeGeometry(const ResizeGeometryParams& params)
        : layout_(params.layout),
          mode_(ResizeRule::mode_named(params.mode)),
          keeps_scale_(params.subpixel_scale),
          relative_(params.roi_relative) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ResizeGeometryInputs in(values);
        const Value& shape = in.shape;
        const std::string layout = layout_of(layout_, static_cast<int>(shape.elements()), "resize");
        const int count = spatial_axes(layout);
        ResizeRule rule;
        rule.axes = count;
        bool empty = false;
        Axis* axes = put_axes(context, out, count);
        for (int i = 0, d = 0; i < static_cast<int>(layout.size()); ++i) {
            const int64_t extent = shape.integer(i);
            empty |= extent == 0;
            if (is_spatial(layout[static_cast<size_t>(i)])) axes[d++].source = static_cast<double>(extent);
        }
        for (int d = 0; d < count; ++d) {
            region(axes[d], in, d, count);
            rule.wanted[d] = wanted(in, d, count);
            rule.limit[d] = in.max_size.present() ? static_cast<float>(at(in.max_size, d, count, "max_size")) : 0.0f;
            if (axes[d].high < axes[d].low) {  // from here on the sign of the wanted size says which way round
                std::swap(axes[d].low, axes[d].high);
                rule.wanted[d] = -rule.wanted[d];
            }
            rule.in[d] = static_cast<float>(axes[d].high) - static_cast<float>(axes[d].low);
        }
        const bool shorter = in.resize_shorter.present(), longer = in.resize_longer.present();
        rule.apply(shorter ? ResizeRule::Mode::not_smaller : longer ? ResizeRule::Mode::not_larger : mode_);
        for (int d = 0; d < count; ++d) settle(axes[d], rule.wanted[d], empty, context.limits);
    }

   private:
    static double at(const Value& values, int axis, int count, const char* name) {
        if (values.elements() == 1) return values.number();
        if (values.elements() != count) {
            throw Fault(FaultKind::argument, std::string("resize: ") + name + " needs one value or " +
                                                 std::to_string(count) + ", got " + std::to_string(values.elements()));
        }
        return values.number(axis);
    }

    static float wanted(const ResizeGeometryInputs& in, int axis, int count) {
        const Value* const own[] = {&in.resize_z, &in.resize_y, &in.resize_x};
        const Value& alone = *own[3 - count + axis];
        double size = 0;
        if (in.size.present()) {
            size = at(in.size, axis, count, "size");
        } else if (in.resize_shorter.present() || in.resize_longer.present()) {
            size = (in.resize_shorter.present() ? in.resize_shorter : in.resize_longer).number();
        } else if (alone.present()) {
            size = alone.number();
        }
        if (!std::isfinite(size)) throw Fault(FaultKind::argument, "resize: the size must be a finite number");
        return static_cast<float>(size);
    }

    // The part of the source that is wanted; a region without extent is widened, so that it still has a scale.
    void region(Axis& axis, const ResizeGeometryInputs& in, int d, int count) const {
        axis.low = 0;
        axis.high = axis.source;
        if (!in.roi_start.present() || !in.roi_end.present() || axis.source == 0) return;
        double low = at(in.roi_start, d, count, "roi_start"), high = at(in.roi_end, d, count, "roi_end");
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

    // Rounds the size; a negative one turns the axis round, a fractional one widens the region to keep the scale.
    void settle(Axis& axis, float size, bool empty, const Limits& limits) const {
        const float extent = std::fabs(size);
        if (axis.low == axis.high && size != 0) {
            throw Fault(FaultKind::argument, "resize: an empty input cannot become an output with pixels");
        }
        if (!(extent <= static_cast<float>(limits.side))) {
            throw Fault(FaultKind::too_large, "resize: a side of " + std::to_string(extent) +
                                                  " pixels passes the limit of " + std::to_string(limits.side));
        }
        const float rounded = std::max(empty ? 0.0f : 1.0f, std::round(extent));
        if (size < 0) std::swap(axis.low, axis.high);
        if (keeps_scale_ && rounded != extent) {
            const double widening = std::clamp(static_cast<double>(rounded) / extent, -10.0, 10.0);
            const double center =
                static_cast<double>(static_cast<float>(axis.low) + static_cast<float>(axis.high)) * 0.5;
            const auto moved = [&](double edge) {
                return static_cast<double>(
                    static_cast<float>(std::clamp(center + (edge - center) * widening, -1e9, 1e9)));
            };
            axis.low = moved(axis.low);
            axis.high = moved(axis.high);
        }
        axis.out = axis.count = rounded;
        axis.first = axis.flip = axis.origin = 0;
    }

    std::string layout_;
    ResizeRule::Mode mode_;
    bool keeps_scale_, relative_;
};

// Filters reach beyond the window into the image, as DALI's do.
class WindowGeometry : public Step {
   public:
    explicit WindowGeometry(const WindowGeometryParams& params) : layout_(params.layout) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const WindowGeometryInputs in(values);
        const std::string layout = layout_of(layout_, static_cast<int>(in.shape.elements()), "random_resized_crop");
        Axis* axes = put_axes(context, out, 2);
        for (int d = 0; d < 2; ++d) {
            const int at = axis_named(layout, d == 0 ? 'H' : 'W');
            const double size = in.size.number(in.size.elements() == 1 ? 0 : d);
            if (!(size >= 1 && size <= static_cast<double>(context.limits.side))) {
                throw Fault(FaultKind::argument,
                            "random_resized_crop: size must be positive, got " + std::to_string(size));
            }
            const auto low = static_cast<double>(in.start.integer(d)),
                       extent = static_cast<double>(in.extent.integer(d));
            const auto source = static_cast<double>(in.shape.integer(at));
            if (extent <= 0 || source <= 0) throw Fault(FaultKind::argument, "random_resized_crop: the input is empty");
            const double count = std::floor(size);
            axes[d] = {low, low + extent, count, 0, count, 0, source, 0};
        }
    }

   private:
    std::string layout_;
};

// Only a window of the output is wanted; the window counts in the order of the output.
class RestrictGeometry : public Step {
   public:
    explicit RestrictGeometry(const RestrictGeometryParams& params) : name_(params.name) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RestrictGeometryInputs in(values);
        Axis* axes = copy_axes(context, out, in.geometry);
        const int64_t all = in.geometry.shape[0], given = in.start.elements();
        for (int64_t i = 0; i < given; ++i) {
            Axis& axis = axes[all - given + i];
            const auto start = static_cast<double>(in.start.integer(i)),
                       extent = static_cast<double>(in.extent.integer(i));
            if (start < 0 || extent < 0 || start + extent > axis.count) {
                throw Fault(FaultKind::argument, name_ + ": window from " + std::to_string(in.start.integer(i)) +
                                                     " of size " + std::to_string(in.extent.integer(i)) +
                                                     " does not fit into " +
                                                     std::to_string(static_cast<int64_t>(axis.count)) + " pixels");
            }
            axis.first += axis.flip != 0 ? axis.count - start - extent : start;
            axis.count = extent;
        }
    }

   private:
    std::string name_;
};

// The output becomes a window of it that may leave it, mirrored along the axes
// whose bits are set, the last axis first. The window is found on the source in DALI's precision.
class ProjectGeometry : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ProjectGeometryInputs in(values);
        Axis* axes = copy_axes(context, out, in.geometry);
        const int64_t count = in.geometry.shape[0], bits = in.mirror.present() ? in.mirror.integer() : 0;
        for (int64_t d = 0; d < count; ++d) {
            Axis& axis = axes[d];
            if (axis.out == 0) continue;
            const bool crops = in.start.present();
            const int64_t at = crops ? in.start.elements() - count + d : 0;
            const double start = crops ? static_cast<double>(in.start.integer(at)) : 0;
            const double extent = crops ? static_cast<double>(in.extent.integer(at)) : axis.out;
            const double ratio =
                static_cast<double>(static_cast<float>(axis.high) - static_cast<float>(axis.low)) / axis.out;
            const double low = axis.low;
            axis.low = static_cast<float>(start * ratio + low);
            axis.high = static_cast<float>((start + extent) * ratio + low);
            if ((bits >> (count - 1 - d) & 1) != 0) std::swap(axis.low, axis.high);
            axis.out = axis.count = extent;
        }
    }
};

class FlipGeometry : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const FlipGeometryInputs in(values);
        Axis* axes = copy_axes(context, out, in.geometry);
        const Value* const mirrors[] = {&in.horizontal, &in.vertical, &in.depthwise};
        const int64_t count = in.geometry.shape[0];
        for (int64_t i = 0; i < std::min<int64_t>(count, 3); ++i) {
            const Value& turns = *mirrors[i];
            if (turns.present() && turns.number() != 0)
                axes[count - 1 - i].flip = axes[count - 1 - i].flip == 0 ? 1 : 0;
        }
    }
};

}  // namespace

std::unique_ptr<Step> make_resize_geometry(const ResizeGeometryParams& params) {
    return std::make_unique<ResizeGeometry>(params);
}
std::unique_ptr<Step> make_window_geometry(const WindowGeometryParams& params) {
    return std::make_unique<WindowGeometry>(params);
}
std::unique_ptr<Step> make_restrict_geometry(const RestrictGeometryParams& params) {
    return std::make_unique<RestrictGeometry>(params);
}
std::unique_ptr<Step> make_project_geometry(const ProjectGeometryParams&) {
    return std::make_unique<ProjectGeometry>();
}
std::unique_ptr<Step> make_flip_geometry(const FlipGeometryParams&) { return std::make_unique<FlipGeometry>(); }

}  // namespace pixelmill
