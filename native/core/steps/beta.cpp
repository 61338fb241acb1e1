// Numbers between 0 and 1 from a beta distribution.
#include <cmath>
#include <numbers>

#include "../rng.h"
#include "declared/random.h"
#include "random_shape.h"

namespace pixelmill {

namespace {

double open_unit(Stream& draws) { return (draws.word() + 0.5) * 0x1p-32; }  // neither 0 nor 1

double normal(Stream& draws) {
    const double radius = std::sqrt(-2.0 * std::log(open_unit(draws)));
    return radius * std::cos(2.0 * std::numbers::pi * draws.unit());
}

// Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000). The logarithm, because
// with a small shape the number itself may be too small for a double.
double log_gamma_draw(Stream& draws, double shape) {
    const double boost = shape < 1 ? std::log(open_unit(draws)) / shape : 0.0;
    const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3.0, c = 1.0 / std::sqrt(9.0 * d);
    while (true) {
        const double x = normal(draws), root = 1.0 + c * x;
        if (root <= 0) continue;
        const double v = root * root * root;
        if (std::log(open_unit(draws)) < 0.5 * x * x + d - d * v + d * std::log(v)) return std::log(d * v) + boost;
    }
}

// M. D. Joehnk, "Erzeugung von betaverteilten und gammaverteilten Zufallszahlen", Metrika 8 (1964): for shapes up to 1,
// where it needs few attempts.
double johnk_draw(Stream& draws, double alpha, double beta) {
    while (true) {
        const double a = std::log(open_unit(draws)) / alpha, b = std::log(open_unit(draws)) / beta;
        const double x = std::exp(a), y = std::exp(b);
        if (x + y > 1) continue;
        return x + y > 1e-300 ? x / (x + y) : 1.0 / (1.0 + std::exp(b - a));
    }
}

// The fraction that one of two gamma variables has in their sum.
double beta_draw(Stream& draws, double alpha, double beta) {
    if (alpha <= 1 && beta <= 1) return johnk_draw(draws, alpha, beta);
    const double a = log_gamma_draw(draws, alpha), b = log_gamma_draw(draws, beta);
    return 1.0 / (1.0 + std::exp(b - a));
}

class Beta : public Step {
   public:
    explicit Beta(const BetaParams& params) : key_(params.key), wide_(params.wide) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const BetaInputs in(values);
        const double alpha = in.alpha.number(), beta = in.beta.number();
        if (!(alpha > 0 && beta > 0 && std::isfinite(alpha) && std::isfinite(beta))) {
            throw Fault(FaultKind::argument, "alpha and beta must be above 0, got " + std::to_string(alpha) + " and " +
                                                 std::to_string(beta));
        }
        out[0] = context.allocate(0, wide_ ? DType::f64 : DType::f32, drawn_shape(context, in.shape));
        const int64_t count = out[0].elements();
        Stream draws(key_, context.id);
        for (int64_t i = 0; i < count; ++i) {
            const double drawn = beta_draw(draws, alpha, beta);
            if (wide_) {
                out[0].as<double>()[i] = drawn;
            } else {
                out[0].as<float>()[i] = static_cast<float>(drawn);
            }
        }
    }

   private:
    uint64_t key_;
    bool wide_;
};

}  // namespace

std::unique_ptr<Step> make_beta(const BetaParams& params) { return std::make_unique<Beta>(params); }

}  // namespace pixelmill
