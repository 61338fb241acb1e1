// Random numbers. They depend on the operator's key and the sample alone; other steps apply them.
#include "declared/random.h"

#include <cmath>
#include <cstring>

#include "../kernels/draws.h"
#include "random_shape.h"

namespace pixelmill {

namespace {

class Draw : public Step {
   public:
    template <class Params>
    explicit Draw(const Params& params) : key_(params.key) {}

   protected:
    Stream stream(const Context& context) const { return Stream(key_, context.id); }
    StreamId id(const Context& context) const { return stream_id(key_, context.id); }

   private:
    uint64_t key_;
};

class Uniform : public Draw {
   public:
    explicit Uniform(const UniformParams& params) : Draw(params), wide_(params.wide) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const UniformInputs in(values);
        out[0] = context.allocate(0, wide_ ? DType::f64 : DType::f32, drawn_shape(context, in.shape));
        const int64_t count = out[0].elements();
        Stream numbers = stream(context);
        if (in.choices.present()) {
            const int64_t choices = in.choices.elements();
            if (choices == 0) throw Fault(FaultKind::argument, "values: at least one is needed");
            for (int64_t i = 0; i < count; ++i) put(out[0], i, in.choices.number(numbers.below(choices)));
            return;
        }
        if (in.range.elements() != 2)
            throw Fault(FaultKind::argument, "range: two numbers are needed, got " + describe(in.range));
        const double low = in.range.number(0), high = in.range.number(1);
        if (!(low <= high)) throw Fault(FaultKind::argument, "range: the first value is above the second");
        if (wide_) {
            auto* drawn = out[0].as<double>();
            for (int64_t i = 0; i < count; ++i) {
                drawn[i] = low + static_cast<double>(numbers.below(int64_t{1} << 53)) * 0x1p-53 * (high - low);
            }
            return;
        }
        // Rounding to float may reach the excluded end.
        const auto end = static_cast<float>(high);
        const float last = high > low ? std::nextafter(end, static_cast<float>(low)) : end;
        for_each_words(id(context), count, [&](const uint32_t* words, int64_t first, int64_t part) {
            draws().uniforms(out[0].as<float>() + first, words, part, low, high - low, last);
        });
    }

   private:
    void put(const Value& out, int64_t i, double drawn) const {
        if (wide_) {
            out.as<double>()[i] = drawn;
        } else {
            out.as<float>()[i] = static_cast<float>(drawn);
        }
    }
    bool wide_;
};

class Normal : public Draw {
   public:
    using Draw::Draw;
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const NormalInputs in(values);
        out[0] = context.allocate(0, DType::f32, drawn_shape(context, in.shape));
        const auto mean = static_cast<float>(in.mean.number()), deviation = static_cast<float>(in.stddev.number());
        for_each_words(id(context), out[0].elements(), [&](const uint32_t* words, int64_t first, int64_t part) {
            float* drawn = out[0].as<float>() + first;
            draws().normals(drawn, words, part & ~int64_t{1}, mean, deviation);
            if (part % 2 == 0) return;
            float last[2];  // they come in pairs
            draws().normals(last, words + part - 1, 2, mean, deviation);
            drawn[part - 1] = last[0];
        });
    }
};

class CoinFlip : public Draw {
   public:
    using Draw::Draw;
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CoinFlipInputs in(values);
        const double probability = in.probability.number();
        if (!(probability >= 0 && probability <= 1)) {
            throw Fault(FaultKind::argument, "probability: must be from 0 to 1, got " + std::to_string(probability));
        }
        out[0] = context.allocate(0, DType::i32, drawn_shape(context, in.shape));
        for_each_words(id(context), out[0].elements(), [&](const uint32_t* words, int64_t first, int64_t part) {
            auto* drawn = out[0].as<int32_t>() + first;
            for (int64_t i = 0; i < part; ++i) drawn[i] = words[i] * 0x1p-32 < probability;
        });
    }
};

class Choice : public Draw {
   public:
    using Draw::Draw;
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ChoiceInputs in(values);
        const Value& a = in.choices;
        const int64_t choices = a.ndim == 0 ? a.integer() : a.shape[0];
        if (choices < 1) throw Fault(FaultKind::argument, "a: there is nothing to choose from");
        if (in.weights.present() && in.weights.elements() != choices) {
            throw Fault(FaultKind::argument, "p: " + std::to_string(in.weights.elements()) + " probabilities for " +
                                                 std::to_string(choices) + " choices");
        }
        std::vector<int64_t> shape = drawn_shape(context, in.shape);
        int64_t count = 1, row = 1;
        for (int64_t extent : shape) count *= extent;
        for (int d = 1; d < a.ndim; ++d) {
            shape.push_back(a.shape[d]);
            row *= a.shape[d];
        }
        out[0] = context.allocate(0, a.dtype, shape);
        Stream draws = stream(context);
        const int64_t row_bytes = row * size_of(a.dtype);
        for (int64_t i = 0; i < count; ++i) {
            const int64_t chosen = in.weights.present() ? weighted(draws, in.weights) : draws.below(choices);
            copy_choice(out[0].data + i * row_bytes, a, chosen, row_bytes);
        }
    }

   private:
    static int64_t weighted(Stream& draws, const Value& p) {
        double total = 0;
        for (int64_t i = 0; i < p.elements(); ++i) {
            if (p.number(i) < 0) throw Fault(FaultKind::argument, "p: probabilities cannot be negative");
            total += p.number(i);
        }
        if (!(total > 0)) throw Fault(FaultKind::argument, "p: the probabilities add up to nothing");
        double left = draws.unit() * total;
        for (int64_t i = 0; i < p.elements(); ++i) {
            left -= p.number(i);
            if (left < 0) return i;
        }
        return p.elements() - 1;
    }
    static void copy_choice(std::byte* out, const Value& a, int64_t chosen, int64_t row_bytes) {
        if (a.ndim > 0) {
            std::memcpy(out, a.data + chosen * row_bytes, static_cast<size_t>(row_bytes));
            return;
        }
        switch (size_of(a.dtype)) {  // an index, in the type of the count
            case 1: *reinterpret_cast<uint8_t*>(out) = static_cast<uint8_t>(chosen); break;
            case 2: *reinterpret_cast<uint16_t*>(out) = static_cast<uint16_t>(chosen); break;
            case 4: *reinterpret_cast<uint32_t*>(out) = static_cast<uint32_t>(chosen); break;
            default: *reinterpret_cast<uint64_t*>(out) = static_cast<uint64_t>(chosen);
        }
    }
};

}  // namespace

std::unique_ptr<Step> make_uniform(const UniformParams& params) { return std::make_unique<Uniform>(params); }
std::unique_ptr<Step> make_normal(const NormalParams& params) { return std::make_unique<Normal>(params); }
std::unique_ptr<Step> make_coin_flip(const CoinFlipParams& params) { return std::make_unique<CoinFlip>(params); }
std::unique_ptr<Step> make_choice(const ChoiceParams& params) { return std::make_unique<Choice>(params); }

}  // namespace pixelmill
