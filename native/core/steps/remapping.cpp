// Steps that take pixels from other places: perspective warps, maps, extremes of neighborhoods, frames in another
// order.
#include "declared/remapping.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/morphology.h"
#include "../kernels/remap.h"
#include "filtered_axes.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

Interpolation interpolation_of(Filter filter) {
    if (filter == Filter::nearest) return Interpolation::nearest;
    return filter == Filter::cubic ? Interpolation::cubic : Interpolation::linear;
}

// What steps that sample images at places have in common: the images of a value, and the result's.
class Sampled {
   public:
    Sampled(std::string name, const std::string& layout) : name_(std::move(name)), layout_(layout) {}

    FilteredAxes axes(const Value& x) const {
        require_type(x, {DType::u8, DType::i16, DType::u16, DType::f32}, name_);
        const FilteredAxes axes(x, layout_, name_);
        if (axes.count != 2)
            throw Fault(FaultKind::argument, name_ + ": two axes of space are needed, got " + describe(x));
        return axes;
    }

    // A result of `height` x `width` with the other axes of x.
    Value result(Context& context, const Value& x, const FilteredAxes& axes, int64_t height, int64_t width) const {
        if (height < 0 || width < 0 || height > context.limits.side || width > context.limits.side ||
            height * width > context.limits.pixels) {
            throw Fault(FaultKind::too_large, name_ + ": an image of " + std::to_string(height) + " x " +
                                                  std::to_string(width) + " is above the limit of " +
                                                  std::to_string(context.limits.pixels) + " pixels");
        }
        Extents shape = x.shape;
        shape[axes.first] = height;
        shape[axes.first + 1] = width;
        return context.allocate(0, x.dtype, {shape.data(), static_cast<size_t>(x.ndim)});
    }

    const std::string& name() const { return name_; }

   private:
    std::string name_, layout_;
};

using Matrix = std::array<double, 9>;

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c{};
    for (int row = 0; row < 3; ++row) {
        for (int column = 0; column < 3; ++column) {
            for (int k = 0; k < 3; ++k) c[row * 3 + column] += a[row * 3 + k] * b[k * 3 + column];
        }
    }
    return c;
}

// By cofactors. A singular matrix has no inverse; all zeros map every pixel to the origin, as in OpenCV.
Matrix inverse(const Matrix& m) {
    const Matrix cofactors = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                              m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                              m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    const double determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6];
    Matrix result{};
    if (determinant == 0) return result;
    for (int i = 0; i < 9; ++i) result[i] = cofactors[i] / determinant;
    return result;
}

Matrix shift(double by) { return {1, 0, by, 0, 1, by, 0, 0, 1}; }

class WarpPerspective : public Step {
   public:
    explicit WarpPerspective(const WarpPerspectiveParams& params)
        : sampled_("experimental.warp_perspective", params.layout),
          interpolation_(interpolation_of(params.interp_type)),
          border_(border_named(params.border)),
          fill_(params.fill_value.begin(), params.fill_value.end()),
          inverse_(params.inverse),
          centered_(params.centered) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const WarpPerspectiveInputs in(values);
        const Value& x = in.image;
        const FilteredAxes axes = sampled_.axes(x);
        const int64_t channels = axes.channel_count(x);
        const auto extent = [&](int axis) {
            if (!in.size.present()) return axes.extent(x, 1 + axis);
            return static_cast<int64_t>(number_of_axis(in.size, axis, 2, sampled_.name() + ": size") + 0.5);
        };
        out[0] = sampled_.result(context, x, axes, extent(0), extent(1));
        if (out[0].elements() == 0) return;
        if (x.elements() == 0) throw Fault(FaultKind::argument, sampled_.name() + ": got an empty image");
        auto* fill = context.thread.arena.take<float>(static_cast<size_t>(channels));
        for (int64_t c = 0; c < channels; ++c) fill[c] = fill_of(c, channels);
        const Perspective places(matrix_of(in.matrix));
        const Value source = axes.rows_packed(x) ? x : packed(context, x);
        for (int64_t i = 0; i < axes.images; ++i) {
            remap(axes.raster(out[0], i), axes.raster(source, i), places, {interpolation_, border_, fill},
                  context.thread.arena);
        }
    }

   private:
    // The map from pixel centers of the result to pixel centers of the source.
    Matrix matrix_of(const Value& given) const {
        if (given.elements() != 9) {
            throw Fault(FaultKind::argument, sampled_.name() + ": matrix must be 9 numbers, got " + describe(given));
        }
        Matrix matrix;
        for (int i = 0; i < 9; ++i) matrix[i] = given.number(i);
        if (!inverse_) matrix = inverse(matrix);
        return centered_ ? matrix : product(shift(-0.5), product(matrix, shift(0.5)));
    }

    float fill_of(int64_t channel, int64_t channels) const {
        if (fill_.empty()) return 0;
        if (fill_.size() != 1 && static_cast<int64_t>(fill_.size()) != channels) {
            throw Fault(FaultKind::argument, sampled_.name() + ": fill_value has " + std::to_string(fill_.size()) +
                                                 " values for " + std::to_string(channels) + " channels");
        }
        return static_cast<float>(fill_.size() == 1 ? fill_[0] : fill_[static_cast<size_t>(channel)]);
    }

    Sampled sampled_;
    Interpolation interpolation_;
    Border border_;
    std::vector<double> fill_;
    bool inverse_, centered_;
};

class RemapStep : public Step {
   public:
    explicit RemapStep(const RemapParams& params)
        : sampled_("experimental.remap", params.layout),
          interpolation_(interpolation_of(params.interp_type)),
          shift_(params.centered ? 0.0f : -0.5f) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RemapInputs in(values);
        const Value& x = in.image;
        const FilteredAxes axes = sampled_.axes(x);
        const Value map_x = map(context, in.map_x, in.map_x), map_y = map(context, in.map_y, in.map_x);
        out[0] = sampled_.result(context, x, axes, map_x.shape[0], map_x.shape[1]);
        if (out[0].elements() == 0) return;
        if (x.elements() == 0) throw Fault(FaultKind::argument, sampled_.name() + ": got an empty image");
        const PlaceMaps places(map_x.as<float>(), map_y.as<float>(), shift_);
        const Value source = axes.rows_packed(x) ? x : packed(context, x);
        for (int64_t i = 0; i < axes.images; ++i) {
            remap(axes.raster(out[0], i), axes.raster(source, i), places, {interpolation_, Border::constant, nullptr},
                  context.thread.arena);
        }
    }

   private:
    // Packed floats in two axes, or in three of which the last is 1.
    Value map(Context& context, const Value& given, const Value& other) const {
        const bool flat = given.ndim == 2 || (given.ndim == 3 && given.shape[2] == 1);
        if (!flat || given.dtype != DType::f32 || given.shape[0] != other.shape[0] ||
            given.shape[1] != other.shape[1]) {
            throw Fault(FaultKind::argument, sampled_.name() +
                                                 ": mapx and mapy must be float, of one shape (height, width); got " +
                                                 describe(given) + " beside " + describe(other));
        }
        return packed(context, given);
    }

    Sampled sampled_;
    Interpolation interpolation_;
    float shift_;
};

class ExtremeStep : public Step {
   public:
    using Kernel = void (*)(const Raster&, const Raster&, const Neighborhood&, Arena&);

    template <class Params>
    ExtremeStep(std::string name, const Params& params, Kernel kernel)
        : sampled_(std::move(name), params.layout),
          iterations_(params.iterations),
          border_(border_named(params.border)),
          kernel_(kernel) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const DilateInputs in(values);  // those of Erode are the same
        const Value& x = in.image;
        const FilteredAxes axes = sampled_.axes(x);
        const Neighborhood window = neighborhood(in.mask_size, in.anchor);
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        if (x.elements() == 0) return;
        Value source = axes.rows_packed(x) ? x : packed(context, x);
        for (int64_t pass = 1; pass <= iterations_; ++pass) {
            const Value target = pass == iterations_ ? out[0] : context.scratch(x.dtype, shape_of(x));
            for (int64_t i = 0; i < axes.images; ++i) {
                kernel_(axes.raster(target, i), axes.raster(source, i), window, context.thread.arena);
            }
            source = target;
        }
    }

   private:
    // Arguments are in the order of x and y.
    Neighborhood neighborhood(const Value& sizes, const Value& anchors) const {
        const auto size = [&](int axis) {
            const auto given = static_cast<int64_t>(number_of_axis(sizes, axis, 2, sampled_.name() + ": mask_size"));
            if (given >= 1 && given <= largest) return given;
            throw Fault(FaultKind::argument, sampled_.name() + ": mask_size must be from 1 to " +
                                                 std::to_string(largest) + ", got " + std::to_string(given));
        };
        const auto anchor = [&](int axis, int64_t extent) {
            const auto given = static_cast<int64_t>(number_of_axis(anchors, axis, 2, sampled_.name() + ": anchor"));
            if (given >= -1 && given < extent) return given < 0 ? extent / 2 : given;
            throw Fault(FaultKind::argument, sampled_.name() + ": the anchor " + std::to_string(given) +
                                                 " is outside of the mask of " + std::to_string(extent));
        };
        const int64_t width = size(0), height = size(1);
        return {height, width, anchor(1, height), anchor(0, width), border_};
    }

    static constexpr int64_t largest = 255;
    Sampled sampled_;
    int64_t iterations_;
    Border border_;
    Kernel kernel_;
};

class RearrangeFrames : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const RearrangeFramesInputs in(values);
        if (in.data.ndim == 0 || in.new_order.ndim > 1) {
            throw Fault(FaultKind::argument, "sequence_rearrange: a sequence and a list of frames are needed, got " +
                                                 describe(in.data) + " and " + describe(in.new_order));
        }
        const Value x = packed(context, in.data);
        Extents shape = x.shape;
        const int64_t frames = x.shape[0];
        shape[0] = in.new_order.elements();
        if (shape[0] == 0) {
            throw Fault(FaultKind::argument,
                        "sequence_rearrange: new_order is empty; empty result sequences are not "
                        "allowed");
        }
        out[0] = context.allocate(0, x.dtype, {shape.data(), static_cast<size_t>(x.ndim)});
        const int64_t bytes = frames == 0 ? 0 : x.elements() / frames * size_of(x.dtype);
        for (int64_t i = 0; i < shape[0]; ++i) {
            const auto from = static_cast<int64_t>(in.new_order.number(i));
            if (from < 0 || from >= frames) {
                throw Fault(FaultKind::argument, "sequence_rearrange: new_order[" + std::to_string(i) +
                                                     "] must be between 0 and the length of the sequence, " +
                                                     std::to_string(frames) + ", got " + std::to_string(from));
            }
            std::memcpy(out[0].data + i * bytes, x.data + from * bytes, static_cast<size_t>(bytes));
        }
    }
};

}  // namespace

std::unique_ptr<Step> make_warp_perspective(const WarpPerspectiveParams& params) {
    return std::make_unique<WarpPerspective>(params);
}
std::unique_ptr<Step> make_remap(const RemapParams& params) { return std::make_unique<RemapStep>(params); }
std::unique_ptr<Step> make_dilate(const DilateParams& params) {
    return std::make_unique<ExtremeStep>("experimental.dilate", params, dilate);
}
std::unique_ptr<Step> make_erode(const ErodeParams& params) {
    return std::make_unique<ExtremeStep>("experimental.erode", params, erode);
}
std::unique_ptr<Step> make_rearrange_frames(const RearrangeFramesParams&) {
    return std::make_unique<RearrangeFrames>();
}

}  // namespace pixelmill
