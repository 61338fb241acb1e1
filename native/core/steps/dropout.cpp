// Random rectangles that are filled, and the noise of sensors.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "../kernels/convert.h"
#include "../kernels/draws.h"
#include "../rng.h"
#include "declared/effects.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

class Holes : public Step {
   public:
    explicit Holes(const HolesParams& params) : name_(params.name), by_area_(params.by_area), key_(params.key) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const HolesInputs in(values);
        const Value& x = in.image;
        if (x.ndim != 3) throw Fault(FaultKind::argument, name_ + ": one image is needed, got " + describe(x));
        if (in.fill_value.elements() != 1 && in.fill_value.elements() != x.shape[2]) {
            throw Fault(FaultKind::argument, name_ + ": fill_value must be one number, or one for each channel");
        }
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        pack(out[0], x, context.thread.arena);
        if (x.elements() == 0) return;
        Stream random(key_, context.id);
        const auto drawn = [&](const Value& range) {
            const double low = range.number(0), high = range.elements() > 1 ? range.number(1) : low;
            return low < high ? random.uniform(low, high) : low;
        };
        const double least = in.count.number(0), most = in.count.elements() > 1 ? in.count.number(1) : least;
        if (!(least >= 0 && most <= 10000)) throw Fault(FaultKind::argument, name_ + ": holes must be from 0 to 10000");
        const auto extra = static_cast<int64_t>(std::max(0.0, most - least));
        const int64_t count = static_cast<int64_t>(least) + random.below(extra + 1);
        for (int64_t i = 0; i < count; ++i) {
            double height = drawn(in.first), width = drawn(in.second);
            if (by_area_) {
                const double area = height, ratio = std::max(width, 1e-6);
                const auto square = static_cast<double>(x.shape[0]) * static_cast<double>(x.shape[1]) * area;
                height = std::sqrt(square / ratio) / static_cast<double>(x.shape[0]);
                width = std::sqrt(square * ratio) / static_cast<double>(x.shape[1]);
            }
            const int64_t rows = extent(height, x.shape[0]), columns = extent(width, x.shape[1]);
            const int64_t top = random.below(x.shape[0] - rows + 1), left = random.below(x.shape[1] - columns + 1);
            fill(out[0], in.fill_value, top, left, rows, columns);
        }
    }

   private:
    static int64_t extent(double part, int64_t whole) {
        const double pixels = std::floor(part * static_cast<double>(whole) + 0.5);
        return static_cast<int64_t>(std::clamp(pixels, 0.0, static_cast<double>(whole)));
    }

    static void fill(const Value& out, const Value& levels, int64_t top, int64_t left, int64_t rows, int64_t columns) {
        with_type(out.dtype, [&](auto zero) {
            using T = decltype(zero);
            const int64_t channels = out.shape[2], length = columns * channels;
            if (rows == 0 || columns == 0) return;
            T* first = out.as<T>() + (top * out.shape[1] + left) * channels;
            for (int64_t i = 0; i < length; ++i) {
                first[i] =
                    i < channels ? convert<T>(levels.number(levels.elements() > 1 ? i : 0)) : first[i - channels];
            }
            for (int64_t y = 1; y < rows; ++y) std::copy_n(first, length, first + y * out.shape[1] * channels);
        });
    }

    std::string name_;
    bool by_area_;
    uint64_t key_;
};

// One normal for each pixel, or four: the first is for its brightness, the others are for its colors.
class SensorNoise : public Step {
   public:
    explicit SensorNoise(const SensorNoiseParams& params) : name_(params.name), key_(params.key) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const SensorNoiseInputs in(values);
        require_type(in.image, {DType::u8}, name_);
        if (in.image.ndim != 3 || in.image.shape[2] > 3)
            throw Fault(FaultKind::argument,
                        name_ + ": one image of up to three channels is needed, got " + describe(in.image));
        const bool colored = in.color.present();
        const auto luma = static_cast<float>(argument(in.luma, name_)),
                   color = colored ? 255 * static_cast<float>(argument(in.color, name_)) : 0;
        const Value x = packed(context, in.image);
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        const int64_t channels = x.shape[2], pixels = x.shape[0] * x.shape[1], each = colored ? 4 : 1;
        const Draws& kernels = draws();
        for_each_words(stream_id(key_, context.id), each * pixels,
                       [&](const uint32_t* words, int64_t first, int64_t count) {
                           alignas(64) float noise[words_at_once];
                           const uint8_t* from = x.as<uint8_t>() + first / each * channels;
                           uint8_t* to = out[0].as<uint8_t>() + first / each * channels;
                           kernels.normals(noise, words, (count + 1) / 2 * 2, 0.0f, 1.0f);
                           if (!colored) return kernels.speckle(to, from, noise, count, channels, luma);
                           kernels.grain(to, from, noise, count / 4, channels, luma, color);
                       });
    }

   private:
    std::string name_;
    uint64_t key_;
};

}  // namespace

std::unique_ptr<Step> make_holes(const HolesParams& params) { return std::make_unique<Holes>(params); }
std::unique_ptr<Step> make_sensor_noise(const SensorNoiseParams& params) {
    return std::make_unique<SensorNoise>(params);
}

}  // namespace pixelmill
