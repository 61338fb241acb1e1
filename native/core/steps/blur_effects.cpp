// Blurs: means of squares, kernels of filters, and pixels from other places.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "../kernels/draws.h"
#include "../kernels/effects.h"
#include "../rng.h"
#include "declared/effects.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

class BoxBlur : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const BoxBlurInputs in(values);
        require_type(in.image, {DType::u8}, "box_blur");
        if (in.image.ndim != 3) {
            throw Fault(FaultKind::argument, "box_blur: one image is needed, got " + describe(in.image));
        }
        const double size = argument(in.size, "box_blur: size");
        if (!(size >= 1 && size <= 255)) throw Fault(FaultKind::argument, "box_blur: size must be from 1 to 255");
        const int64_t side = static_cast<int64_t>(size) | 1;
        const Value x = packed(context, in.image);
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        if (x.elements() > 0) box_mean(image_at(out[0], 0), image_at(x, 0), side, side, context.thread.arena);
    }
};

class FilterKernel : public Step {
   public:
    explicit FilterKernel(const FilterKernelParams& params) : shape_(params.shape) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const FilterKernelInputs in(values);
        const auto number = [&](size_t index) { return argument(in.numbers[index], shape_); };
        if (shape_ == "sharpen" || shape_ == "emboss") {
            const double alpha = number(0), strength = number(1);
            const double sharp[9] = {-1, -1, -1, -1, 8 + strength, -1, -1, -1, -1};
            const double raised[9] = {-1 - strength, -strength, 0, -strength, 1, strength, 0, strength, 1 + strength};
            float* weights = put(context, out, 3, 3);
            for (int i = 0; i < 9; ++i) {
                const double effect = shape_ == "sharpen" ? sharp[i] : raised[i];
                weights[i] = static_cast<float>((i == 4 ? 1 - alpha : 0) + alpha * effect);
            }
            return;
        }
        if (shape_ == "disk") return disk(context, out, number(0));
        motion(context, out, side(number(0)), number(1), number(2));
    }

   private:
    static int64_t side(double given) {
        if (given >= 1 && given <= 255) return static_cast<int64_t>(given) | 1;
        throw Fault(FaultKind::argument, "the window must be from 1 to 255 pixels, got " + std::to_string(given));
    }

    static float* put(Context& context, std::span<Value> out, int64_t height, int64_t width) {
        const int64_t shape[2] = {height, width};
        out[0] = context.allocate(0, DType::f32, shape);
        return out[0].as<float>();
    }

    // The part of each pixel that lies in a circle, by 8 x 8 places of it.
    static void disk(Context& context, std::span<Value> out, double radius) {
        if (!(radius >= 0 && radius <= 100)) throw Fault(FaultKind::argument, "defocus: radius must be from 0 to 100");
        const auto reach = static_cast<int64_t>(std::ceil(radius)), size = 2 * reach + 1;
        float* weights = put(context, out, size, size);
        double sum = 0;
        for (int64_t i = 0; i < size * size; ++i) {
            int inside = 0;
            for (int k = 0; k < 64; ++k) {
                const double x = static_cast<double>(i % size - reach) + (k % 8 + 0.5) / 8 - 0.5;
                const double y = static_cast<double>(i / size - reach) + (k / 8 + 0.5) / 8 - 0.5;
                inside += x * x + y * y <= (radius + 0.5) * (radius + 0.5);
            }
            weights[i] = static_cast<float>(inside);
            sum += inside;
        }
        for (int64_t i = 0; i < size * size; ++i) weights[i] /= static_cast<float>(sum);
    }

    // A line through the center; a positive direction weighs its end more, a negative one its start.
    static void motion(Context& context, std::span<Value> out, int64_t size, double degrees, double direction) {
        float* weights = put(context, out, size, size);
        std::fill_n(weights, size * size, 0.0f);
        const double angle = degrees * std::numbers::pi / 180, half = static_cast<double>(size / 2);
        const int steps = static_cast<int>(size) * 4;
        double sum = 0;
        for (int i = 0; i <= steps; ++i) {
            const double t = 2.0 * i / steps - 1, weight = std::max(0.0, 1 + direction * t);
            const double x = half + t * half * std::cos(angle), y = half - t * half * std::sin(angle);
            const auto left = static_cast<int64_t>(x), top = static_cast<int64_t>(y);
            const double across = x - static_cast<double>(left), down = y - static_cast<double>(top);
            for (int k = 0; k < 4; ++k) {
                const int64_t column = std::min(left + k % 2, size - 1), row = std::min(top + k / 2, size - 1);
                const double share = (k % 2 ? across : 1 - across) * (k / 2 ? down : 1 - down) * weight;
                weights[row * size + column] += static_cast<float>(share);
                sum += share;
            }
        }
        for (int64_t i = 0; i < size * size; ++i) weights[i] /= static_cast<float>(sum);
    }

    std::string shape_;
};

// Sums along the ray from the center of the image through each pixel.
class ZoomBlur : public Step {
   public:
    explicit ZoomBlur(const ZoomBlurParams& params) : samples_(params.samples) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ZoomBlurInputs in(values);
        require_type(in.image, {DType::u8}, "zoom_blur");
        if (in.image.ndim != 3)
            throw Fault(FaultKind::argument, "zoom_blur: one image is needed, got " + describe(in.image));
        const double factor = argument(in.factor, "zoom_blur: factor");
        if (!(factor >= 1)) throw Fault(FaultKind::argument, "zoom_blur: factor must be at least 1");
        const Value x = packed(context, in.image);
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        const int64_t height = x.shape[0], width = x.shape[1], channels = x.shape[2];
        // For each copy, the source row of every row and the source column of every column.
        Arena& arena = context.thread.arena;
        auto* columns = arena.take<int32_t>(static_cast<size_t>(samples_ * width));
        auto* sums = arena.take<uint16_t>(static_cast<size_t>(width * channels));  // of at most 64 bytes
        const auto** rows = arena.take<const uint8_t*>(static_cast<size_t>(samples_));
        const auto place = [](int64_t at, int64_t extent, double scale) {
            const double middle = static_cast<double>(extent) / 2;
            const double source = middle + (static_cast<double>(at) + 0.5 - middle) / scale;
            return std::clamp<int64_t>(static_cast<int64_t>(source), 0, extent - 1);
        };
        const auto scale = [&](int64_t k) {
            return 1 + (factor - 1) * static_cast<double>(k) / static_cast<double>(samples_ - 1);
        };
        for (int64_t k = 0; k < samples_; ++k) {
            for (int64_t i = 0; i < width; ++i)
                columns[k * width + i] = static_cast<int32_t>(place(i, width, scale(k)) * channels);
        }
        const Divisor by = Divisor::of(samples_).value();  // there is one for all of 2 to 64
        for (int64_t y = 0; y < height; ++y) {
            uint8_t* to = out[0].as<uint8_t>() + y * width * channels;
            for (int64_t k = 0; k < samples_; ++k)
                rows[k] = x.as<uint8_t>() + place(y, height, scale(k)) * width * channels;
            if (channels == 3) {
                effect_rows().mean_of_rows(to, rows, columns, samples_, width, by);
                continue;
            }
            std::fill_n(sums, width * channels, uint16_t{0});
            for (int64_t k = 0; k < samples_; ++k) {
                const int32_t* from = columns + k * width;
                for (int64_t i = 0; i < width * channels; ++i)
                    sums[i] = static_cast<uint16_t>(sums[i] + rows[k][from[i / channels] + i % channels]);
            }
            for (int64_t i = 0; i < width * channels; ++i) to[i] = by.mean(sums[i]);
        }
    }

   private:
    int64_t samples_;
};

class ScatterPixels : public Step {
   public:
    explicit ScatterPixels(const ScatterPixelsParams& params) : key_(params.key) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ScatterPixelsInputs in(values);
        if (in.image.ndim != 3)
            throw Fault(FaultKind::argument, "glass_blur: one image is needed, got " + describe(in.image));
        const auto reach = static_cast<int64_t>(argument(in.distance, "glass_blur: distance"));
        if (reach < 0 || reach > 100) throw Fault(FaultKind::argument, "glass_blur: distance must be from 0 to 100");
        const Value x = packed(context, in.image);
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        const int64_t height = x.shape[0], width = x.shape[1];
        const auto pixel = static_cast<size_t>(x.shape[2] * size_of(x.dtype));
        const auto range = static_cast<uint64_t>(2 * reach + 1);
        for_each_words(stream_id(key_, context.id), height * width,
                       [&](const uint32_t* words, int64_t first, int64_t count) {
                           for (int64_t i = 0; i < count; ++i) {
                               const int64_t at = first + i;
                               const auto across = static_cast<int64_t>((words[i] & 0xffff) * range >> 16) - reach;
                               const auto down = static_cast<int64_t>((words[i] >> 16) * range >> 16) - reach;
                               const int64_t row = std::clamp<int64_t>(at / width + down, 0, height - 1);
                               const int64_t column = std::clamp<int64_t>(at % width + across, 0, width - 1);
                               std::memcpy(out[0].data + static_cast<size_t>(at) * pixel,
                                           x.data + static_cast<size_t>(row * width + column) * pixel, pixel);
                           }
                       });
    }

   private:
    uint64_t key_;
};

}  // namespace

std::unique_ptr<Step> make_box_blur(const BoxBlurParams&) { return std::make_unique<BoxBlur>(); }
std::unique_ptr<Step> make_filter_kernel(const FilterKernelParams& params) {
    return std::make_unique<FilterKernel>(params);
}
std::unique_ptr<Step> make_zoom_blur(const ZoomBlurParams& params) { return std::make_unique<ZoomBlur>(params); }
std::unique_ptr<Step> make_scatter_pixels(const ScatterPixelsParams& params) {
    return std::make_unique<ScatterPixels>(params);
}

}  // namespace pixelmill
