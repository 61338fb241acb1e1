#include "poisson.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "convert.h"
#include "draws.h"

namespace pixelmill {

namespace {

constexpr double few = 12, many = 1000;

struct Reciprocals {
    double of[101] = {};
    constexpr Reciprocals() {
        for (int k = 1; k <= 100; ++k) of[k] = 1.0 / k;
    }
};
constexpr Reciprocals reciprocals;

// exp(-x) for x from 0 to 16: a power of two, and Taylor's series for the rest.
double decay(double x) {
    const auto halvings = static_cast<int64_t>(x * 1.4426950408889634074 + 0.5);
    const double rest = x - static_cast<double>(halvings) * 0.69314718055994530942;
    double sum = 1;
    for (int k = 13; k >= 1; --k) sum = 1 - sum * rest * reciprocals.of[k];
    return sum * std::bit_cast<double>((1023 - halvings) << 52);
}

// The probability of the most likely number `mode` = floor(mean), by Stirling's series; for means that are not few.
double peak(double mean, double mode) {
    const double x = (mean - mode) / mode, square = mode * mode;
    double log1p = 0;  // of x, which is below 1 / few
    for (int k = 14; k >= 1; --k) log1p = x * (1.0 / k - log1p);
    const double stirling = (1.0 / 12 - (1.0 / 360 - 1.0 / (1260 * square)) / square) / mode;
    return decay(mean - mode - mode * log1p + stirling) / std::sqrt(6.283185307179586477 * mode);
}

// `probability` is that of 0.
double from_zero(double mean, double share, double probability) {
    int number = 0;
    while (share >= probability && number < 100) {
        share -= probability;
        probability *= mean * reciprocals.of[++number];
    }
    return number;
}

// Looks at the numbers around the most likely one, above and below in turn.
double from_peak(double mean, double share) {
    const double mode = std::floor(mean);
    double above = peak(mean, mode), below = above;
    share -= above;
    for (double step = 1; share >= 0 && step < 10 * std::sqrt(mean) + 20; ++step) {
        above *= mean / (mode + step);
        share -= above;
        if (share < 0) return mode + step;
        if (step > mode) continue;
        below *= (mode - step + 1) / mean;
        share -= below;
        if (share < 0) return mode - step;
    }
    return mode;
}

// Cornish and Fisher: the normal distribution with the skewness put right. The error is below 0.02 of a grain.
double from_normal(double mean, const uint32_t* words) {
    float normal[2];
    draws().normals(normal, words, 2, 0, 1);
    const double z = normal[0];
    return std::max(0.0, std::floor(mean + std::sqrt(mean) * z + (z * z - 1) / 6 + 0.5));
}

}  // namespace

void draw_grains(double* grains, double* means, const uint32_t* words, int64_t count) {
    // What needs no decision comes first: the processor then works on several at a time.
    for (int64_t i = 0; i < count; ++i) {
        means[i] = means[i] > 0 ? means[i] : 0;
        grains[i] = decay(means[i] < few ? means[i] : 0);
    }
    for (int64_t i = 0; i < count; ++i, words += 2) {
        const double share = static_cast<double>((uint64_t{words[0]} << 32 | words[1]) >> 11) * 0x1p-53;
        if (means[i] < few) {
            grains[i] = from_zero(means[i], share, grains[i]);
        } else {
            grains[i] = means[i] < many ? from_peak(means[i], share) : from_normal(means[i], words);
        }
    }
}

void ByteGrains::prepare(float factor) {
    if (factor == factor_) return;
    factor_ = factor;
    limits_.clear();
    results_.clear();
    for (int level = 0; level < 256; ++level)
        add_level(level, std::max(0.0, level / static_cast<double>(factor)), factor);
}

void ByteGrains::add_level(int level, double mean, float factor) {
    // Numbers further away come less often than once in 2^32 words.
    const double reach = 7 * std::sqrt(mean) + 16;
    const auto mode = static_cast<int64_t>(mean), first = std::max<int64_t>(0, mode - static_cast<int64_t>(reach));
    std::vector<double> weights(static_cast<size_t>(mode + static_cast<int64_t>(reach) - first + 1));
    const auto at = [&](int64_t number) -> double& { return weights[static_cast<size_t>(number - first)]; };
    at(mode) = 1;
    for (int64_t n = mode; n > first; --n) at(n - 1) = at(n) * static_cast<double>(n) / mean;
    for (int64_t n = mode + 1; n - first < static_cast<int64_t>(weights.size()); ++n)
        at(n) = at(n - 1) * mean / static_cast<double>(n);
    double sum = 0, total = 0;
    for (double weight : weights) total += weight;
    Level& row = levels_[level];
    row.first = static_cast<uint32_t>(limits_.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        sum += weights[i];
        const double limit = i + 1 == weights.size() ? 0x1p32 : sum / total * 0x1p32;
        limits_.push_back(static_cast<uint32_t>(std::clamp(limit - 1, 0.0, 0x1p32 - 1)));
        results_.push_back(convert<uint8_t>(static_cast<float>(first + static_cast<int64_t>(i)) * factor));
    }
    uint32_t place = 0;
    for (uint32_t group = 0; group < std::size(row.start); ++group) {
        while (limits_[row.first + place] < group << guide_shift) ++place;
        row.start[group] = static_cast<uint16_t>(place);
    }
}

}  // namespace pixelmill
