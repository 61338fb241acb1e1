#include "filters.h"

#include <algorithm>

namespace pixelmill {

namespace {

float cubic(float x) {  // Catmull and Rom
    x = std::fabs(x);
    if (x >= 2) return 0;
    const float squared = x * x, cubed = squared * x;
    return x > 1 ? -0.5f * cubed + 2.5f * squared - 4.0f * x + 2.0f : 1.5f * cubed - 2.5f * squared + 1.0f;
}

float sinc(float x) {
    const double angle = x * std::numbers::pi;
    return x == 0 ? 1.0f : static_cast<float>(std::sin(angle) / angle);
}

float lanczos3(float x) { return std::fabs(x) >= 3 ? 0.0f : sinc(x) * sinc(x / 3); }

float gaussian(float x) { return std::exp(-x * x); }

// The window spans [-half, half].
template <int points>
std::array<float, points> sampled(float (*window)(float), float half) {
    std::array<float, points> table{};
    for (int i = 0; i < points; ++i) {
        table[static_cast<size_t>(i)] = window(2 * half * (static_cast<float>(i) - (points - 1) * 0.5f) / (points - 1));
    }
    return table;
}

float default_radius(Filter filter, float ratio) {
    switch (filter) {
        case Filter::cubic: return 2 * ratio;
        case Filter::lanczos3: return 3 * ratio;
        default: return ratio;
    }
}

}  // namespace

WindowTable window_table(Filter filter) {
    static const auto cubic_table = sampled<129>(cubic, 2);
    static const auto lanczos_table = sampled<193>(lanczos3, 3);
    static const auto gaussian_table = sampled<65>(gaussian, 2);
    switch (filter) {
        case Filter::cubic: return {cubic_table.data(), 129};
        case Filter::lanczos3: return {lanczos_table.data(), 193};
        default: return {gaussian_table.data(), 65};
    }
}

AxisFilter::AxisFilter(const Axis& axis, const FilterChoice& filters) {
    const auto low = static_cast<float>(axis.low), high = static_cast<float>(axis.high);
    const auto out = static_cast<float>(axis.out);
    const float extent = std::fabs(high - low);
    const bool shrinks = out < extent;
    filter = shrinks ? filters.min : filters.mag;
    const bool widens = shrinks && filters.antialias;
    radius = default_radius(filter, widens ? extent / out : 1.0f);
    if (filter == Filter::linear) filter = Filter::triangular;
    step = (high - low) / out;
    if (filter == Filter::nearest) {
        support = 1;
        density_ = 1;
        start = low;
        return;
    }
    int intervals = 2;
    if (filter != Filter::triangular) {
        table_ = window_table(filter);
        intervals = table_.points - 1;
    }
    density_ = static_cast<float>(intervals) / (2 * radius);
    support = static_cast<int>(std::ceil(static_cast<float>(intervals) / density_));
    start = low + (0.5f * step - 0.5f - radius);
}

}  // namespace pixelmill
