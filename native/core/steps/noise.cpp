// Noise. Element n of a sample takes its numbers from fixed places of the operator's stream.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../kernels/convert.h"
#include "../kernels/convolve.h"
#include "../kernels/draws.h"
#include "../kernels/poisson.h"
#include "../platform/per_thread.h"
#include "declared/random.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

class Noise : public Step {
   public:
    template <class Params>
    explicit Noise(const Params& params) : key_(params.key) {}

   protected:
    StreamId id(const Context& context) const { return stream_id(key_, context.id); }

    static void check(const Value& x, const std::string& name) {
        if (x.dtype != DType::f16 && x.dtype != DType::f64 && x.dtype != DType::boolean) return;
        throw Fault(FaultKind::argument, name + ": elements of type " + name_of(x.dtype) + " are not supported");
    }

   private:
    uint64_t key_;
};

// Single precision holds all numbers of 16 bits.
template <class T>
using Exact = std::conditional_t<sizeof(T) <= 2 || std::is_same_v<T, float>, float, double>;

// Calls `body` with a zero of the type of a value that `check` has let through.
template <class Body>
void with_number(DType dtype, Body&& body) {
    with_type(dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<T, bool> && !std::is_same_v<T, double>) body(zero);
    });
}

class GaussianNoise : public Noise {
   public:
    using Noise::Noise;
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const GaussianNoiseInputs in(values);
        check(in.data, "noise.gaussian");
        const auto mean = static_cast<float>(argument(in.mean, "noise.gaussian: mean"));
        const auto deviation = static_cast<float>(argument(in.stddev, "noise.gaussian: stddev"));
        const Value x = packed(context, in.data);
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        for_each_words(id(context), x.elements(), [&](const uint32_t* words, int64_t first, int64_t part) {
            alignas(64) float noise[words_at_once];
            draws().normals(noise, words, (part + 1) & ~int64_t{1}, mean, deviation);
            add(out[0], x, noise, first, part);
        });
    }

   private:
    static void add(const Value& out, const Value& x, const float* noise, int64_t first, int64_t count) {
        if (x.dtype == DType::u8) return add_bytes(out.as<uint8_t>() + first, x.as<uint8_t>() + first, noise, count);
        with_number(x.dtype, [&](auto zero) {
            using T = decltype(zero);
            const T* from = x.as<T>() + first;
            T* to = out.as<T>() + first;
            for (int64_t i = 0; i < count; ++i)
                to[i] = convert<T>(static_cast<Exact<T>>(from[i]) + static_cast<Exact<T>>(noise[i]));
        });
    }

    static void add_bytes(uint8_t* out, const uint8_t* in, const float* noise, int64_t count) {
        alignas(64) float values[words_at_once];
        convolution().load_bytes(values, in, count);
        for (int64_t i = 0; i < count; ++i) values[i] += noise[i];
        convolution().store_bytes(out, values, count);
    }
};

class SaltAndPepper : public Noise {
   public:
    explicit SaltAndPepper(const SaltAndPepperParams& params) : Noise(params), channel_(params.channel) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const SaltAndPepperInputs in(values);
        const Value& x = in.data;
        check(x, name);
        const double chance = share(in.prob, "prob") * 0x1p32,
                     salt = chance * share(in.salt_vs_pepper, "salt_vs_pepper");
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        pack(out[0], x, context.thread.arena);
        with_number(x.dtype, [&](auto zero) {
            using T = decltype(zero);
            constexpr bool real = std::is_same_v<T, float>;
            const T white = value<T>(in.salt_val, real ? T(1) : std::numeric_limits<T>::max());
            const T black = value<T>(in.pepper_val, real ? T(-1) : std::numeric_limits<T>::min());
            strew(context, out[0], static_cast<uint64_t>(chance), static_cast<uint64_t>(salt), white, black);
        });
    }

   private:
    static double share(const Value& given, const std::string& argument_name) {
        const double chance = argument(given, std::string(name) + ": " + argument_name);
        if (chance >= 0 && chance <= 1) return chance;
        throw Fault(FaultKind::argument,
                    std::string(name) + ": " + argument_name + " must be from 0 to 1, got " + std::to_string(chance));
    }

    template <class T>
    static T value(const Value& given, T absent) {
        return given.present() ? convert<T>(std::trunc(argument(given, name))) : absent;
    }

    // One word decides about a pixel: about all elements along the axis of the channels, where there is one.
    template <class T>
    void strew(Context& context, const Value& out, uint64_t chance, uint64_t salt, T white, T black) const {
        const auto axis = static_cast<int>(channel_ == last_axis ? out.ndim - 1 : channel_);
        const int64_t channels = axis < 0 ? 1 : out.shape[axis], step = axis < 0 ? 1 : out.stride[axis];
        const int64_t pixels = channels == 0 ? 0 : out.elements() / channels;
        for_each_words(id(context), pixels, [&](const uint32_t* words, int64_t first, int64_t part) {
            int32_t found[words_at_once];
            int64_t count = 0;
            for (int64_t i = 0; i < part; ++i) {
                found[count] = static_cast<int32_t>(i);
                count += words[i] < chance ? 1 : 0;
            }
            for (int64_t k = 0; k < count; ++k) {
                const int64_t pixel = first + found[k];
                T* to = out.as<T>() + pixel / step * step * channels + pixel % step;
                for (int64_t c = 0; c < channels; ++c) to[c * step] = words[found[k]] < salt ? white : black;
            }
        });
    }

    static constexpr const char* name = "noise.salt_and_pepper";
    static constexpr int64_t last_axis = -2;
    int64_t channel_;  // its axis; -1 for none
};

class ShotNoise : public Noise {
   public:
    using Noise::Noise;
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ShotNoiseInputs in(values);
        check(in.data, "noise.shot");
        const auto factor = static_cast<float>(argument(in.factor, "noise.shot: factor"));
        if (factor == 0) {
            out[0] = in.data;
            return;
        }
        const Value x = packed(context, in.data);
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        if (x.dtype == DType::u8 && std::fabs(factor) >= smallest_table_factor)
            return shoot_bytes(context, out[0], x, factor);
        for_each_words(id(context), 2 * x.elements(), [&](const uint32_t* words, int64_t first, int64_t part) {
            with_number(x.dtype,
                        [&](auto zero) { shoot<decltype(zero)>(out[0], x, factor, words, first / 2, part / 2); });
        });
    }

   private:
    template <class T>
    static void shoot(const Value& out, const Value& x, double factor, const uint32_t* words, int64_t first,
                      int64_t count) {
        alignas(64) double means[words_at_once / 2], grains[words_at_once / 2];
        const T* from = x.as<T>() + first;
        T* to = out.as<T>() + first;
        for (int64_t i = 0; i < count; ++i) means[i] = static_cast<double>(from[i]) / factor;
        draw_grains(grains, means, words, count);
        for (int64_t i = 0; i < count; ++i) to[i] = convert<T>(static_cast<Exact<T>>(grains[i] * factor));
    }

    void shoot_bytes(Context& context, const Value& out, const Value& x, float factor) const {
        PER_THREAD(ByteGrains, grains);
        grains.prepare(factor);
        for_each_words(id(context), x.elements(), [&](const uint32_t* words, int64_t first, int64_t part) {
            const uint8_t* from = x.as<uint8_t>() + first;
            uint8_t* to = out.as<uint8_t>() + first;
            for (int64_t i = 0; i < part; ++i) to[i] = grains.draw(from[i], words[i]);
        });
    }
    static constexpr float smallest_table_factor = 0.02f;  // below it the tables would be too large
};

}  // namespace

std::unique_ptr<Step> make_gaussian_noise(const GaussianNoiseParams& params) {
    return std::make_unique<GaussianNoise>(params);
}
std::unique_ptr<Step> make_salt_and_pepper(const SaltAndPepperParams& params) {
    return std::make_unique<SaltAndPepper>(params);
}
std::unique_ptr<Step> make_shot_noise(const ShotNoiseParams& params) { return std::make_unique<ShotNoise>(params); }

}  // namespace pixelmill
