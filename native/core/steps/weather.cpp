// Weather, shadows and dirt on the lens, drawn into images of bytes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include "../kernels/convert.h"
#include "../kernels/effects.h"
#include "../rng.h"
#include "declared/effects.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

// A packed image of bytes that is drawn into.
struct Picture {
    uint8_t* data;
    int64_t height, width, channels;

    uint8_t* at(int64_t y, int64_t x) const { return data + (y * width + x) * channels; }
    // Moves a pixel towards a level, by a share from 0 to 1.
    void blend(int64_t y, int64_t x, double level, double share) const {
        uint8_t* pixel = at(y, x);
        const auto part = static_cast<int32_t>(share * 256 + 0.5), to = static_cast<int32_t>(level);
        for (int64_t c = 0; c < channels; ++c)
            pixel[c] = static_cast<uint8_t>(pixel[c] + ((to - pixel[c]) * part >> 8));
    }
};

// Numbers from 0 to 1 that change smoothly: random at the nodes of a grid, blended between them.
class SmoothNoise {
   public:
    SmoothNoise(Stream& random, int64_t nodes, const Picture& image, Arena& arena)
        : nodes_(nodes),
          width_(image.width),
          height_(image.height),
          values_(arena.take<float>(static_cast<size_t>(nodes * nodes))),
          line_(arena.take<float>(static_cast<size_t>(nodes))) {
        for (int64_t i = 0; i < nodes * nodes; ++i) values_[i] = static_cast<float>(random.unit());
    }
    // One row of numbers.
    void row(float* out, int64_t y) const {
        const auto [row, down] = place(y, height_);
        for (int64_t i = 0; i < nodes_; ++i) {
            line_[i] = values_[row * nodes_ + i] * (1 - down) + values_[(row + 1) * nodes_ + i] * down;
        }
        for (int64_t x = 0; x < width_; ++x) {
            const auto [column, across] = place(x, width_);
            out[x] = line_[column] * (1 - across) + line_[column + 1] * across;
        }
    }

   private:
    std::pair<int64_t, float> place(int64_t at, int64_t extent) const {
        const float exact =
            (static_cast<float>(at) + 0.5f) / static_cast<float>(extent) * static_cast<float>(nodes_ - 1);
        const auto node = std::min(static_cast<int64_t>(exact), nodes_ - 2);
        const float t = exact - static_cast<float>(node);
        return {node, t * t * (3 - 2 * t)};
    }
    int64_t nodes_, width_, height_;
    float *values_, *line_;
};

class Weather : public Step {
   public:
    explicit Weather(const WeatherParams& params) : effect_(params.effect), key_(params.key) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const WeatherInputs in(values);
        require_type(in.image, {DType::u8}, effect_);
        if (in.image.ndim != 3)
            throw Fault(FaultKind::argument, effect_ + ": one image is needed, got " + describe(in.image));
        out[0] = context.allocate(0, DType::u8, shape_of(in.image));
        pack(out[0], in.image, context.thread.arena);
        const Picture image{out[0].as<uint8_t>(), in.image.shape[0], in.image.shape[1], in.image.shape[2]};
        if (in.image.elements() == 0) return;
        Stream random(key_, context.id);
        const auto number = [&](size_t index) { return argument(in.numbers[index], effect_); };
        Arena& arena = context.thread.arena;
        if (effect_ == "rain") rain(image, random, number(0), number(1), number(2));
        if (effect_ == "snow") snow(image, number(0), number(1));
        if (effect_ == "fog") fog(image, random, number(0), arena);
        if (effect_ == "sun_flare") sun_flare(image, random, number(0), number(1), number(2));
        if (effect_ == "shadow") shadow(image, random, number(0));
        if (effect_ == "spatter") spatter(image, random, number(0), number(1), arena);
    }

   private:
    static void rain(const Picture& image, Stream& random, double amount, double slant, double length) {
        const auto drops =
            static_cast<int64_t>(std::clamp(amount, 0.0, 1.0) * static_cast<double>(image.height * image.width) / 60);
        const double fall = std::max(1.0, length * static_cast<double>(image.height));
        const double drift = std::tan(std::clamp(slant, -80.0, 80.0) * std::numbers::pi / 180);
        for (int64_t i = 0; i < image.height * image.width * image.channels; ++i)
            image.data[i] = static_cast<uint8_t>(image.data[i] * 7 / 8);  // the sky is gray
        for (int64_t drop = 0; drop < drops; ++drop) {
            const double x = random.uniform(0, static_cast<double>(image.width));
            const double y = random.uniform(-fall, static_cast<double>(image.height));
            for (int64_t step = 0; step < static_cast<int64_t>(fall); ++step) {
                const auto row = static_cast<int64_t>(std::floor(y)) + step;
                const auto column = static_cast<int64_t>(std::floor(x + drift * static_cast<double>(step)));
                if (row >= 0 && row < image.height && column >= 0 && column < image.width)
                    image.blend(row, column, 200, 0.5);
            }
        }
    }

    // What is darker than a threshold is covered by snow.
    static void snow(const Picture& image, double amount, double brightness) {
        const double threshold = 255 * std::clamp(amount, 0.0, 1.0) / 2 + 85;
        int32_t factors[511];  // in parts of 256, by the sum of the darkest and the brightest channel
        for (int sum = 0; sum < 511; ++sum) {
            const double lightness = std::max(sum / 2.0, 1.0);
            const double lighter = sum / 2.0 < threshold ? std::min(255.0, lightness * brightness) / lightness : 1;
            factors[sum] = static_cast<int32_t>(std::max(lighter, 0.0) * 256 + 0.5);
        }
        if (image.channels == 3) return effect_rows().snow(image.data, image.height * image.width, factors);
        for (int64_t i = 0; i < image.height * image.width; ++i) {
            uint8_t* pixel = image.data + i * image.channels;
            int32_t low = 255, high = 0;
            for (int64_t c = 0; c < image.channels; ++c) {
                low = std::min<int32_t>(low, pixel[c]);
                high = std::max<int32_t>(high, pixel[c]);
            }
            const int32_t factor = factors[low + high];
            if (factor == 256) continue;
            for (int64_t c = 0; c < image.channels; ++c)
                pixel[c] = static_cast<uint8_t>(std::min(255, (pixel[c] * factor + 128) >> 8));
        }
    }

    static void fog(const Picture& image, Stream& random, double density, Arena& arena) {
        const SmoothNoise noise(random, 6, image, arena);
        auto* row = arena.take<float>(static_cast<size_t>(image.width));
        const double most = std::clamp(density, 0.0, 1.0);
        for (int64_t y = 0; y < image.height; ++y) {
            noise.row(row, y);
            for (int64_t x = 0; x < image.width; ++x)
                image.blend(y, x, 235, most * (0.6 + 0.4 * static_cast<double>(row[x])));
        }
    }

    // A bright disk that fades out, and smaller ones on the line through the center of the image.
    static void sun_flare(const Picture& image, Stream& random, double x, double y, double radius) {
        const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
        const double size = std::max(1.0, radius * std::max(width, height));
        disk(image, x * width, y * height, size, 1.0);
        for (int i = 0; i < 6; ++i) {
            const double along = random.uniform(0.3, 2.0), part = random.uniform(0.05, 0.3);
            disk(image, x * width + (width / 2 - x * width) * along, y * height + (height / 2 - y * height) * along,
                 size * part, 0.35);
        }
    }

    static void disk(const Picture& image, double x, double y, double radius, double strength) {
        const auto first = std::max<int64_t>(0, static_cast<int64_t>(y - radius)),
                   last = std::min(image.height, static_cast<int64_t>(y + radius) + 1);
        const auto left = std::max<int64_t>(0, static_cast<int64_t>(x - radius)),
                   right = std::min(image.width, static_cast<int64_t>(x + radius) + 1);
        for (int64_t row = first; row < last; ++row) {
            for (int64_t column = left; column < right; ++column) {
                const double across = static_cast<double>(column) + 0.5 - x, down = static_cast<double>(row) + 0.5 - y;
                const double near = 1 - std::sqrt(across * across + down * down) / radius;
                if (near > 0) image.blend(row, column, 255, strength * near * near);
            }
        }
    }

    // A random polygon of five corners, as seen row by row.
    static void shadow(const Picture& image, Stream& random, double intensity) {
        double x[5], y[5];
        const double turn = random.uniform(0, 2 * std::numbers::pi);
        const double middle_x = random.uniform(0.2, 0.8), middle_y = random.uniform(0.3, 0.9);
        for (int i = 0; i < 5; ++i) {
            const double angle = turn + (i + random.uniform(-0.3, 0.3)) * 2 * std::numbers::pi / 5,
                         reach = random.uniform(0.2, 0.5);
            x[i] = (middle_x + reach * std::cos(angle)) * static_cast<double>(image.width);
            y[i] = (middle_y + reach * std::sin(angle)) * static_cast<double>(image.height);
        }
        const double share = std::clamp(intensity, 0.0, 1.0);
        for (int64_t row = 0; row < image.height; ++row) {
            const double at = static_cast<double>(row) + 0.5;
            double crossings[5];
            int count = 0;
            for (int i = 0; i < 5; ++i) {
                const int next = (i + 1) % 5;
                if ((y[i] > at) != (y[next] > at))
                    crossings[count++] = x[i] + (x[next] - x[i]) * (at - y[i]) / (y[next] - y[i]);
            }
            std::sort(crossings, crossings + count);
            for (int k = 0; k + 1 < count; k += 2) {
                const auto from =
                    static_cast<int64_t>(std::clamp(crossings[k] + 0.5, 0.0, static_cast<double>(image.width)));
                const auto to =
                    static_cast<int64_t>(std::clamp(crossings[k + 1] + 0.5, 0.0, static_cast<double>(image.width)));
                for (int64_t column = from; column < to; ++column) image.blend(row, column, 0, share);
            }
        }
    }

    // Drops where smooth noise is above a threshold; their edges fade.
    static void spatter(const Picture& image, Stream& random, double amount, double lightness, Arena& arena) {
        const SmoothNoise noise(random, 24, image, arena);
        auto* row = arena.take<float>(static_cast<size_t>(image.width));
        const double threshold = 1 - 0.6 * std::clamp(amount, 0.0, 1.0), color = 255 * std::clamp(lightness, 0.0, 1.0);
        for (int64_t y = 0; y < image.height; ++y) {
            noise.row(row, y);
            for (int64_t x = 0; x < image.width; ++x) {
                const double above = (static_cast<double>(row[x]) - threshold) * 8;
                if (above > 0) image.blend(y, x, color, std::min(above, 0.8));
            }
        }
    }

    std::string effect_;
    uint64_t key_;
};

}  // namespace

std::unique_ptr<Step> make_weather(const WeatherParams& params) { return std::make_unique<Weather>(params); }

}  // namespace pixelmill
