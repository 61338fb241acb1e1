// Colors and brightness: each operator becomes one matrix, or one line.
#include "../kernels/color.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "../codecs/convert.h"
#include "../kernels/convert.h"
#include "../kernels/stream.h"
#include "declared/pixels.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

bool is_real(DType dtype) { return dtype == DType::f16 || dtype == DType::f32 || dtype == DType::f64; }

// The largest value of a type and the middle of its positive range, as DALI takes them.
float full_range(DType dtype) {
    return with_type(dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (std::is_integral_v<T>) return static_cast<float>(std::numeric_limits<T>::max());
        return 1.0f;
    });
}
float half_range(DType dtype) {
    const bool positive = dtype <= DType::u64;
    return is_real(dtype) ? 0.5f : std::ldexp(1.0f, static_cast<int>(8 * size_of(dtype)) - (positive ? 1 : 2));
}

class BrightnessContrast : public Step {
   public:
    explicit BrightnessContrast(const BrightnessContrastParams& params)
        : name_(params.name), layout_(params.layout), dtype_(params.dtype) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const BrightnessContrastInputs in(values);
        const Value& x = in.image;
        layout_of(layout_, x.ndim, name_);
        require_type(x, {DType::u8, DType::i16, DType::i32, DType::f32}, name_);
        out[0] = context.allocate(0, dtype_.value_or(x.dtype), shape_of(x));
        const float brightness = number(in.brightness, 1), contrast = number(in.contrast, 1);
        const float center = number(in.contrast_center, half_range(x.dtype)),
                    shift = number(in.brightness_shift, 0) * full_range(out[0].dtype);
        const float factor = brightness * contrast, addend = shift + brightness * (center - contrast * center);
        if (x.elements() == 0) return;
        const Value source = run_length(x) < 64 ? packed(context, x) : x;
        const MultiplyAdd line(out[0].dtype, x.dtype, factor, addend, x.elements());
        const auto lines = [&](uint8_t* to, const uint8_t* from, int64_t count) { return line.lines(to, from, count); };
        const int64_t read = size_of(x.dtype), made = size_of(out[0].dtype);
        ResultStream stream(out[0].data, context.streams(0, out[0]));
        for_each_run(source, [&](int64_t, int64_t from, int64_t count) {
            stream.put(source.as<uint8_t>() + from * read, count, read, made, line, lines);
        });
        stream.end();
    }

   private:
    float number(const Value& value, float absent) const {
        return value.present() ? static_cast<float>(argument(value, name_)) : absent;
    }
    std::string name_, layout_;
    std::optional<DType> dtype_;
};

using Matrix = std::array<std::array<double, 3>, 3>;

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c{};
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) {
            for (size_t k = 0; k < 3; ++k) c[i][j] += a[i][k] * b[k][j];
        }
    }
    return c;
}

Matrix inverse(const Matrix& m) {
    const auto minor = [&](size_t i, size_t j) {  // signed, by cyclic indices
        const size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
        return m[a][c] * m[b][d] - m[a][d] * m[b][c];
    };
    const double determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
    Matrix result{};
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) result[i][j] = minor(j, i) / determinant;
    }
    return result;
}

// Luminance and two axes of color, as DALI rounds them.
constexpr Matrix to_yiq{{{.299f, .587f, .114f}, {.596f, -.274f, -.321f}, {.211f, -.523f, .311f}}};

// A turn of the hue by degrees and a scaling of the saturation, in the plane of color.
Matrix twist(double hue, double saturation) {
    const double angle = hue * std::numbers::pi / 180, c = std::cos(angle) * saturation,
                 s = std::sin(angle) * saturation;
    return product(product(inverse(to_yiq), {{{1, 0, 0}, {0, c, s}, {0, -s, c}}}), to_yiq);
}

class ColorTwist : public Step {
   public:
    explicit ColorTwist(const ColorTwistParams& params)
        : name_(params.name), layout_(params.layout), dtype_(params.dtype) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ColorTwistInputs in(values);
        const Value& x = in.image;
        layout_of(layout_, x.ndim, name_);
        require_type(x, {DType::u8, DType::i16, DType::i32, DType::f16, DType::f32}, name_);
        if (x.shape[x.ndim - 1] != 3)
            throw Fault(FaultKind::argument, name_ + ": three channels are needed, got " + describe(x));
        out[0] = context.allocate(0, dtype_.value_or(x.dtype), shape_of(x));
        if (x.elements() == 0) return;
        const ColorMatrix matrix = matrix_of(in, is_real(x.dtype) ? 0.5 : 128);
        const bool past_caches = context.streams(0, out[0]);
        for (int64_t i = 0; i < image_count(x); ++i) {
            transform_colors(image_at(out[0], i), image_at(x, i), matrix, past_caches, context.thread.arena);
        }
    }

   private:
    ColorMatrix matrix_of(const ColorTwistInputs& in, double gray) const {
        const auto number = [&](const Value& value, double absent) {
            return value.present() ? argument(value, name_) : absent;
        };
        const double brightness = number(in.brightness, 1), contrast = number(in.contrast, 1);
        const double scale = brightness * contrast * number(in.hsv_value, 1);
        const Matrix twisted = twist(number(in.hue, 0), number(in.saturation, 1));
        ColorMatrix matrix;
        for (size_t i = 0; i < 3; ++i) {
            for (size_t j = 0; j < 3; ++j) matrix.weight[i][j] = static_cast<float>(scale * twisted[i][j]);
            matrix.offset[i] = static_cast<float>((gray - gray * contrast) * brightness);
        }
        return matrix;
    }
    std::string name_, layout_;
    std::optional<DType> dtype_;
};

using enum Color;

// BT.601, luminance from 16 to 235.
constexpr Matrix to_ycbcr{{{65.481 / 255, 128.553 / 255, 24.966 / 255},
                           {-37.797 / 255, -74.203 / 255, 112.0 / 255},
                           {112.0 / 255, -93.786 / 255, -18.214 / 255}}};
constexpr double ycbcr_offset[3] = {16, 128, 128};

class ColorSpace : public Step {
   public:
    explicit ColorSpace(const ColorSpaceParams& params)
        : layout_(params.layout), from_(color_of(params.source)), to_(color_of(params.target)) {
        if (from_ == ycbcr || to_ == ycbcr) matrix_ = studio_matrix();
        for (int v = 0; v < 256; ++v) {
            luma_[v] =
                convert<uint8_t>(static_cast<float>(to_ == ycbcr ? v * 219.0 / 255 + 16 : (v - 16.0) * 255 / 219));
        }
    }

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ColorSpaceInputs in(values);
        const Value& x = in.image;
        layout_of(layout_, x.ndim, "color_space_conversion");
        require_type(x, {DType::u8}, "color_space_conversion");
        const int64_t channels = from_ == gray ? 1 : 3;
        if (x.shape[x.ndim - 1] != channels) {
            throw Fault(FaultKind::argument, "color_space_conversion: image_type has " + std::to_string(channels) +
                                                 " channels, the input is " + describe(x));
        }
        Extents shape = x.shape;
        shape[x.ndim - 1] = to_ == gray ? 1 : 3;
        out[0] = context.allocate(0, DType::u8, {shape.data(), static_cast<size_t>(x.ndim)});
        if (x.elements() == 0) return;
        for (int64_t i = 0; i < image_count(x); ++i)
            convert_image(image_at(out[0], i), image_at(x, i), context.streams(0, out[0]), context.thread.arena);
    }

   private:
    void convert_image(const Raster& out, const Raster& in, bool past_caches, Arena& arena) const {
        if (from_ == gray && to_ == ycbcr) return spread_gray(out, in, luma_, 128, arena);
        if (from_ == gray) return spread_gray(out, in, nullptr, -1, arena);
        if (from_ == ycbcr && to_ == gray) return take_luma(out, in);
        if (to_ == gray) return to_gray(out, in, from_ == bgr, arena);
        if (from_ == ycbcr || to_ == ycbcr) return transform_colors(out, in, matrix_, past_caches, arena);
        reverse_channels(out, in, arena);
    }

    void take_luma(const Raster& out, const Raster& in) const {
        for (int64_t y = 0; y < in.height; ++y) {
            const auto* from = reinterpret_cast<const uint8_t*>(in.at(y, 0));
            auto* to = reinterpret_cast<uint8_t*>(out.at(y, 0));
            for (int64_t x = 0; x < in.width; ++x) to[x] = luma_[from[x * in.pixel]];
        }
    }

    // To or from YCbCr; the other side may be BGR.
    ColorMatrix studio_matrix() const {
        const Matrix weights = to_ == ycbcr ? to_ycbcr : inverse(to_ycbcr);
        ColorMatrix matrix;
        for (size_t i = 0; i < 3; ++i) {
            const size_t row = to_ == bgr ? 2 - i : i;
            double offset = to_ == ycbcr ? ycbcr_offset[i] : 0;
            for (size_t j = 0; j < 3; ++j) {
                matrix.weight[i][j] = static_cast<float>(weights[row][from_ == bgr ? 2 - j : j]);
                if (from_ == ycbcr) offset -= weights[row][j] * ycbcr_offset[j];
            }
            matrix.offset[i] = static_cast<float>(offset);
        }
        return matrix;
    }

    std::string layout_;
    Color from_, to_;
    ColorMatrix matrix_;
    uint8_t luma_[256];  // of a gray value, or the gray value of a luminance
};

}  // namespace

std::unique_ptr<Step> make_brightness_contrast(const BrightnessContrastParams& params) {
    return std::make_unique<BrightnessContrast>(params);
}
std::unique_ptr<Step> make_color_twist(const ColorTwistParams& params) { return std::make_unique<ColorTwist>(params); }
std::unique_ptr<Step> make_color_space(const ColorSpaceParams& params) { return std::make_unique<ColorSpace>(params); }

}  // namespace pixelmill
