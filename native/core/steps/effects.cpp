// Effects that are a table of levels or a matrix of colors.
#include "declared/effects.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../kernels/color.h"
#include "../kernels/convert.h"
#include "../kernels/levels.h"
#include "../kernels/stream.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

double number_at(std::span<const Value> values, size_t index, const std::string& name) {
    return argument(values[index], name);
}

uint8_t level(double value) { return convert<uint8_t>(static_cast<float>(value)); }

using Table = std::array<uint8_t, 256>;

// Level by level: `curve` gets the level, and the level from 0 to 1.
template <class Curve>
Table table_of(Curve&& curve) {
    Table table;
    for (int v = 0; v < 256; ++v) table[static_cast<size_t>(v)] = level(curve(v, v / 255.0));
    return table;
}

// The least divisor of each level above 1.
constexpr std::array<uint8_t, 256> least_divisors = [] {
    std::array<uint8_t, 256> least{};
    for (int v = 255; v > 1; --v) {
        for (int multiple = v; multiple < 256; multiple += v)
            least[static_cast<size_t>(multiple)] = static_cast<uint8_t>(v);
    }
    return least;
}();

// Powers are products of those of prime numbers, for `pow` takes long. Those of large exponents would be infinite.
Table gamma_table(double exponent) {
    const bool products = exponent < 64;
    std::array<double, 256> power;
    for (size_t v = 0; v < 256; ++v) {
        const size_t least = least_divisors[v];
        const auto base = static_cast<double>(v);
        power[v] = products && least < v && v > 1 ? power[least] * power[v / least]
                                                  : std::pow(products ? base : base / 255, exponent);
    }
    return table_of([&](int v, double) { return 255 / power[255] * power[static_cast<size_t>(v)]; });
}

Table table_of(const std::string& curve, std::span<const Value> numbers) {
    double given[2] = {};
    for (size_t i = 0; i < numbers.size() && i < 2; ++i) given[i] = number_at(numbers, i, curve);
    const double first = given[0], second = given[1];
    if (curve == "gamma") return gamma_table(std::max(first, 0.0));
    if (curve == "invert") return table_of([](int v, double) { return 255 - v; });
    if (curve == "solarize") return table_of([&](int v, double) { return v >= first ? 255 - v : v; });
    if (curve == "posterize") {
        const auto bits = std::clamp<int64_t>(static_cast<int64_t>(first), 0, 8);
        return table_of([&](int v, double) { return v & ~((1 << (8 - bits)) - 1) & 255; });
    }
    // A Bezier curve from black to white.
    return table_of([&](int, double t) {
        return 255 * (3 * (1 - t) * (1 - t) * t * first + 3 * (1 - t) * t * t * second + t * t * t);
    });
}

class Levels : public Step {
   public:
    explicit Levels(const LevelsParams& params) : curve_(params.curve) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const LevelsInputs in(values);
        require_type(in.image, {DType::u8}, curve_);
        out[0] = context.allocate(0, DType::u8, shape_of(in.image));
        const Table table = table_of(curve_, in.numbers);
        const Value source = run_length(in.image) < 64 ? packed(context, in.image) : in.image;
        const LevelPasses& passes = level_passes();
        const auto first = curve_ == "solarize" ? number_at(in.numbers, 0, curve_) : 0.0;
        const auto pass = [&](uint8_t* target, const uint8_t* start, int64_t count) {
            if (curve_ == "posterize") return passes.keep_bits(target, start, count, table[255]);
            if (curve_ == "invert" || (curve_ == "solarize" && first > 0 && first <= 255)) {
                return passes.invert_from(target, start, count, static_cast<uint8_t>(std::ceil(first)));
            }
            look_up(target, start, count, table.data());
        };
        const auto lines = [&](uint8_t* target, const uint8_t* start, int64_t count) {
            return look_up_lines(target, start, count, table.data());
        };
        ResultStream stream(out[0].data, context.streams(0, out[0]));
        for_each_run(source, [&](int64_t, int64_t from, int64_t count) {
            stream.put(source.as<uint8_t>() + from, count, 1, 1, pass, lines);
        });
        stream.end();
    }

   private:
    std::string curve_;
};

// 3 x 3 weights and an offset for each row.
using Mix = std::array<std::array<double, 4>, 3>;

constexpr Mix unchanged{{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
constexpr double luma[3] = {0.299, 0.587, 0.114};

Mix then(const Mix& second, const Mix& first) {
    Mix made{};
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 4; ++j) {
            for (size_t k = 0; k < 3; ++k) made[i][j] += second[i][k] * first[k][j];
        }
        made[i][3] += second[i][3];
    }
    return made;
}

Mix scaled(double factor, double offset) {
    Mix made = unchanged;
    for (size_t i = 0; i < 3; ++i) {
        made[i][i] = factor;
        made[i][3] = offset;
    }
    return made;
}

Mix saturated(double factor) {
    Mix made{};
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) made[i][j] = (1 - factor) * luma[j] + (i == j ? factor : 0);
    }
    return made;
}

// A rotation about the gray axis.
Mix turned(double degrees) {
    const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), third = (1 - c) / 3,
                 s = std::sin(angle) / std::sqrt(3.0);
    return {{{c + third, third - s, third + s, 0},
             {third + s, c + third, third - s, 0},
             {third - s, third + s, c + third, 0}}};
}

void mix(Context& context, const Value& image, std::span<Value> out, const Mix& colors, const std::string& name) {
    require_type(image, {DType::u8, DType::i16, DType::i32, DType::f16, DType::f32}, name);
    if (image.ndim < 3 || image.shape[image.ndim - 1] != 3)
        throw Fault(FaultKind::argument, name + ": three channels are needed, got " + describe(image));
    out[0] = context.allocate(0, image.dtype, shape_of(image));
    if (image.elements() == 0) return;
    ColorMatrix matrix;
    for (size_t i = 0; i < 3; ++i) {
        for (size_t j = 0; j < 3; ++j) matrix.weight[i][j] = static_cast<float>(colors[i][j]);
        matrix.offset[i] = static_cast<float>(colors[i][3]);
    }
    const bool past_caches = context.streams(0, out[0]);
    for (int64_t i = 0; i < image_count(image); ++i)
        transform_colors(image_at(out[0], i), image_at(image, i), matrix, past_caches, context.thread.arena);
}

class ColorJitter : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ColorJitterInputs in(values);
        const std::string name = "color_jitter";
        const double gray = in.image.dtype == DType::f32 || in.image.dtype == DType::f16 ? 0.5 : 128;
        const double contrast = argument(in.contrast, name);
        const Mix changes[4] = {scaled(argument(in.brightness, name), 0), scaled(contrast, gray * (1 - contrast)),
                                saturated(argument(in.saturation, name)), turned(argument(in.hue, name))};
        if (in.order.elements() != 4) throw Fault(FaultKind::argument, name + ": order must be four numbers");
        Mix all = unchanged;
        for (int64_t i = 0; i < 4; ++i) {
            const int64_t which = in.order.integer(i);
            if (which < 0 || which > 3) throw Fault(FaultKind::argument, name + ": order must hold 0, 1, 2 and 3");
            all = then(changes[which], all);
        }
        mix(context, in.image, out, all, name);
    }
};

// Directions of the colors of natural images, and how far they spread along each (Krizhevsky et al., 2012).
constexpr double spread[3] = {0.2175, 0.0188, 0.0045};
constexpr double direction[3][3] = {{-0.5675, 0.7192, 0.4009}, {-0.5808, -0.0045, -0.8140}, {-0.5836, -0.6948, 0.4203}};
constexpr double sepia[3][3] = {{0.393, 0.769, 0.189}, {0.349, 0.686, 0.168}, {0.272, 0.534, 0.131}};

class MixChannels : public Step {
   public:
    explicit MixChannels(const MixChannelsParams& params) : mix_(params.mix) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const MixChannelsInputs in(values);
        const int64_t wanted = mix_ == "to_gray" || mix_ == "sepia" ? 1 : 3;
        if (in.numbers.elements() != wanted) {
            throw Fault(FaultKind::argument,
                        mix_ + ": " + std::to_string(wanted) + " numbers are needed, got " + describe(in.numbers));
        }
        const Mix made = colors(in.numbers);
        if (in.image.dtype == DType::u8 && in.image.ndim == 3 && in.image.shape[2] == 3 &&
            (mix_ == "channel_shuffle" || mix_ == "channel_dropout")) {
            return copy_channels(context, in.image, out, made);
        }
        mix(context, in.image, out, made, mix_);
    }

   private:
    // Each channel is another one, or nothing.
    static void copy_channels(Context& context, const Value& image, std::span<Value> out, const Mix& colors) {
        int8_t from[3] = {-1, -1, -1};
        for (size_t i = 0; i < 3; ++i) {
            for (size_t j = 0; j < 3; ++j) {
                if (colors[i][j] != 0) from[i] = static_cast<int8_t>(j);
            }
        }
        const Value x = packed(context, image);
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        ResultStream stream(out[0].data, context.streams(0, out[0]));
        const auto choose = [&](uint8_t* to, const uint8_t* pixels, int64_t count) {
            level_passes().choose_channels(to, pixels, count, from);
        };
        stream.put(x.as<uint8_t>(), x.elements() / 3, 3, 3, choose);
        stream.end();
    }

    Mix colors(const Value& numbers) const {
        Mix made = unchanged;
        if (mix_ == "to_gray") return saturated(1 - numbers.number());
        for (size_t i = 0; i < 3; ++i) {
            const auto at = static_cast<int64_t>(i);
            if (mix_ == "sepia") {
                const double amount = numbers.number();
                for (size_t j = 0; j < 3; ++j) made[i][j] = (i == j ? 1 - amount : 0) + amount * sepia[i][j];
            } else if (mix_ == "channel_shuffle") {
                const int64_t from = numbers.integer(at);
                if (from < 0 || from > 2) throw Fault(FaultKind::argument, mix_ + ": order must hold 0, 1 and 2");
                made[i] = {};
                made[i][static_cast<size_t>(from)] = 1;
            } else if (mix_ == "channel_dropout") {
                if (numbers.number(at) != 0) made[i] = {};
            } else if (mix_ == "rgb_shift") {
                made[i][3] = numbers.number(at);
            } else {
                for (int64_t k = 0; k < 3; ++k) made[i][3] += 255 * direction[i][k] * spread[k] * numbers.number(k);
            }
        }
        return made;
    }

    std::string mix_;
};

}  // namespace

std::unique_ptr<Step> make_levels(const LevelsParams& params) { return std::make_unique<Levels>(params); }
std::unique_ptr<Step> make_color_jitter(const ColorJitterParams&) { return std::make_unique<ColorJitter>(); }
std::unique_ptr<Step> make_mix_channels(const MixChannelsParams& params) {
    return std::make_unique<MixChannels>(params);
}

}  // namespace pixelmill
