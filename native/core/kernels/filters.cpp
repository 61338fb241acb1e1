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

AxisFilter::AxisFilter(const Axis& axis, const FilterChoice& filters, int64_t base) {
    const auto low = static_cast<float>(axis.low), high = static_cast<float>(axis.high);
    const auto out = static_cast<float>(axis.out);
    const float extent = std::fabs(high - low);
    const bool shrinks = out < extent;
    filter = shrinks ? filters.min : filters.mag;
    const bool widens = shrinks && filters.antialias;
    radius = default_radius(filter, widens ? extent / out : 1.0f);
    if (filter == Filter::linear) filter = Filter::triangular;
    step = (high - low) / out;
    const float origin = low - static_cast<float>(base);
    if (filter == Filter::nearest) {
        support = 1;
        density_ = 1;
        start = origin;
        radius = 0;
        return;
    }
    int intervals = 2;
    if (filter != Filter::triangular) {
        table_ = window_table(filter);
        intervals = table_.points - 1;
    }
    float width = 2 * radius;
    if (filter == Filter::gaussian) {  // DALI goes by way of the deviation, and the window's end decides about a tap
        const auto deviation = static_cast<float>(radius * 0.5f / std::numbers::sqrt2);
        width = std::max(1.0f, static_cast<float>(4 * std::numbers::sqrt2) * deviation);
    }
    density_ = static_cast<float>(intervals) / width;
    support = static_cast<int>(std::ceil(static_cast<float>(intervals) / density_));
    radius = static_cast<float>(intervals) * 0.5f / density_;
    start = origin + (0.5f * step - 0.5f - radius);
}

namespace {

// The order of passes with the smallest cost by DALI's estimate; here axes count from the innermost one.
struct PassOrder {
    int axes;
    float size[3], out[3], support[3];
    float best = 1e30f;
    int first_pass = 0;

    void search(unsigned done, int first, float cost) {
        if (cost >= best) return;
        if (done + 1 == 1u << axes) {
            best = cost;
            first_pass = first;
            return;
        }
        for (int a = 0; a < axes; ++a) {
            if (done >> a & 1) continue;
            const float before = size[a];
            size[a] = out[a];
            float volume = 1;
            for (int d = 0; d < axes; ++d) volume *= size[d];
            const float factor = a == 0 ? 1.4f : a > 1 ? 1.2f : 1.0f;
            search(done | 1u << a, done == 0 ? a : first, cost + (factor * (support[a] * volume) + volume * 3));
            size[a] = before;
        }
    }
};

}  // namespace

void window_bases(int64_t* bases, std::span<const Axis> axes, const FilterChoice& filters) {
    const int count = static_cast<int>(axes.size());
    PassOrder order{.axes = count, .size = {}, .out = {}, .support = {}};
    for (int a = 0; a < count; ++a) {
        const Axis& axis = axes[static_cast<size_t>(count - 1 - a)];
        const AxisFilter filter(axis, filters);
        const auto start = static_cast<float>(axis.low), end = static_cast<float>(axis.high);
        const float low = std::floor(std::min(start, end) - filter.radius);
        const float high = std::ceil(std::max(start, end) - filter.radius + static_cast<float>(filter.support));
        const auto source = static_cast<float>(axis.source);
        bases[count - 1 - a] = static_cast<int64_t>(std::clamp(low, 0.0f, source));
        order.size[a] = std::clamp(high, 0.0f, source) - std::clamp(low, 0.0f, source);
        order.out[a] = static_cast<float>(axis.out);
        order.support[a] = static_cast<float>(filter.support);
    }
    order.search(0, 0, 0);
    bases[count - 1 - order.first_pass] = 0;
}

}  // namespace pixelmill
