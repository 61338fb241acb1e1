#include "plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "filters.h"

namespace pixelmill {

namespace {

constexpr const char* outside = "a resampling plan leaves its picture";

// The weights of one output after clamping to the source, without zeros at the ends.
struct Taps {
    int64_t first = 0;
    int count = 0;
};

// Fills `weight` (room for support) with weights that add up to 1.
Taps taps_of(const AxisFilter& filter, int64_t i, int64_t source, float* weight) {
    const float begin = static_cast<float>(i) * filter.step + filter.start;
    const float at = std::ceil(begin);
    const float offset = at - begin;
    const auto first = static_cast<int64_t>(at);
    float sum = 0;
    for (int k = 0; k < filter.support; ++k) {
        weight[k] = filter.weight(offset + static_cast<float>(k));
        sum += weight[k];
    }
    const float unit = sum != 0 ? 1 / sum : 1.0f;
    int begins = 0, ends = filter.support;
    // What lies outside of the source repeats its edge: its weight moves to the edge pixel.
    const auto inside_from = static_cast<int>(std::clamp<int64_t>(-first, 0, filter.support - 1));
    const auto inside_to = static_cast<int>(std::clamp<int64_t>(source - first, 1, filter.support));
    for (; begins < inside_from; ++begins) weight[begins + 1] += weight[begins];
    for (; ends > inside_to; --ends) weight[ends - 2] += weight[ends - 1];
    if (ends <= begins) ends = begins + 1;
    while (ends - begins > 1 && weight[begins] == 0) ++begins;
    while (ends - begins > 1 && weight[ends - 1] == 0) --ends;
    for (int k = begins; k < ends; ++k) weight[k - begins] = weight[k] * unit;
    return {std::clamp<int64_t>(first + begins, 0, source - 1), ends - begins};
}

// Rounds the running sum instead of each weight: the total is exact however many taps there are.
void quantise(int16_t* fixed, const float* weight, int count) {
    constexpr float one = 1 << weight_bits;
    float sum = 0;
    int before = 0;
    for (int k = 0; k < count; ++k) {
        sum += weight[k];
        const int now = k + 1 < count ? static_cast<int>(std::floor(sum * one + 0.5f)) : 1 << weight_bits;
        fixed[k] = static_cast<int16_t>(std::clamp(now - before, -32768, 32767));
        before = now;
    }
}

int64_t padded(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

// Moves outputs that would read behind the picture's end to the left, with zeros in front, and copies the last one.
template <class T>
void settle(T* weights, int32_t* first, const AxisPlan& plan, int64_t extent) {
    for (int32_t i = 0; i < plan.count; ++i) {
        const auto shift = static_cast<int32_t>(std::max<int64_t>(first[i] + plan.taps - extent, 0));
        if (shift == 0) continue;
        T* mine = weights + int64_t{i} * plan.stride;
        std::memmove(mine + shift, mine, static_cast<size_t>(plan.taps - shift) * sizeof(T));
        std::fill(mine, mine + shift, T{0});
        first[i] -= shift;
    }
    for (int64_t i = plan.count; i < padded(plan.count, 4); ++i) {
        first[i] = first[plan.count - 1];
        std::copy_n(weights + int64_t{plan.count - 1} * plan.stride, plan.stride, weights + i * plan.stride);
    }
}

void note_range(AxisPlan& plan, int64_t extent) {
    const auto [low, high] = std::minmax_element(plan.first, plan.first + plan.count);
    plan.low = *low;
    plan.high = *high + plan.taps;
    if (plan.low < 0 || plan.high > extent) throw std::logic_error(outside);
}

int32_t copy_step(const AxisPlan& plan) {
    if (plan.taps != 1) return 0;
    const int32_t step = plan.count > 1 ? plan.first[1] - plan.first[0] : 1;
    if (step != 1 && step != -1) return 0;
    for (int32_t i = 1; i < plan.count; ++i) {
        if (plan.first[i] - plan.first[i - 1] != step) return 0;
    }
    return step;
}

// `place` of output i among the wanted ones.
int64_t wanted(const Axis& axis, int64_t i) {
    const auto first = static_cast<int64_t>(axis.first), count = static_cast<int64_t>(axis.count);
    return axis.flip != 0 ? first + count - 1 - i : first + i;
}

// Nearest positions: DALI multiplies along the innermost axis and adds up along the others, in single precision.
// `base` was subtracted from the window before and is added to the pixel after.
void nearest_pixels(int32_t* first, const Axis& axis, bool innermost, int64_t base, int64_t extent) {
    const auto low = static_cast<float>(axis.low);
    const float step = (static_cast<float>(axis.high) - low) / static_cast<float>(axis.out);
    const float origin = low - static_cast<float>(base);
    const auto begin = static_cast<int64_t>(axis.first), count = static_cast<int64_t>(axis.count);
    const auto source = static_cast<int64_t>(axis.source), offset = static_cast<int64_t>(axis.origin);
    const bool shifts_only = innermost && step == 1;
    float sum = origin + 0.5f * step;
    for (int64_t i = 0; i < begin + count; ++i, sum += step) {
        if (i < begin) continue;
        float at = innermost ? origin + (static_cast<float>(i) + 0.5f) * step : sum;
        if (shifts_only) at = std::floor(origin + 0.5f) + static_cast<float>(i);
        const int64_t pixel = std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)) + base, 0, source - 1) - offset;
        const int64_t place = axis.flip != 0 ? begin + count - 1 - i : i - begin;
        first[place] = static_cast<int32_t>(std::clamp<int64_t>(pixel, 0, extent - 1));
    }
}

// DALI shifts its picture to the window along all axes but the one it resamples first, which rounds differently. This
// finds that axis as its cost estimate does; axes count from the innermost one.
struct PassOrder {
    int axes;
    float size[3], out[3];
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
            search(done | 1u << a, done == 0 ? a : first, cost + (factor * volume + volume * 3));
            size[a] = before;
        }
    }
};

}  // namespace

AxisPlan plan_axis(const Axis& axis, const FilterChoice& filters, int64_t extent, Weights kind, Arena& arena) {
    const AxisFilter filter(axis, filters);
    AxisPlan plan;
    plan.count = static_cast<int32_t>(axis.count);
    const int64_t rows = padded(plan.count, 4);
    auto* first = arena.take<int32_t>(static_cast<size_t>(rows));
    plan.first = first;
    const auto source = static_cast<int64_t>(axis.source), origin = static_cast<int64_t>(axis.origin);
    const int64_t room = padded(std::min<int64_t>(filter.support, std::max<int64_t>(source, 1)), 4);
    plan.stride = static_cast<int32_t>(room);
    auto* weight = arena.take<float>(static_cast<size_t>(filter.support) + 4);
    auto* fixed = kind == Weights::fixed ? arena.take<int16_t>(static_cast<size_t>(rows * room)) : nullptr;
    auto* real = kind == Weights::real ? arena.take<float>(static_cast<size_t>(rows * room)) : nullptr;
    if (fixed != nullptr) std::memset(fixed, 0, static_cast<size_t>(rows * room) * sizeof(*fixed));
    if (real != nullptr) std::memset(real, 0, static_cast<size_t>(rows * room) * sizeof(*real));
    if (filter.filter == Filter::nearest) nearest_pixels(first, axis, false, 0, extent);
    for (int32_t i = 0; i < plan.count; ++i) {
        Taps taps{first[i], 1};
        if (filter.filter == Filter::nearest) {
            weight[0] = 1;
        } else {
            taps = taps_of(filter, wanted(axis, i), source, weight);
            first[i] = static_cast<int32_t>(taps.first - origin);
        }
        if (first[i] < 0 || first[i] + taps.count > extent) throw std::logic_error(outside);
        plan.taps = std::max(plan.taps, taps.count);
        for (int k = 0; k < taps.count; ++k) plan.overshoots |= weight[k] < 0;
        if (fixed != nullptr) quantise(fixed + i * room, weight, taps.count);
        if (real != nullptr) std::copy_n(weight, taps.count, real + i * room);
    }
    if (fixed != nullptr) settle(fixed, first, plan, extent);
    if (real != nullptr) settle(real, first, plan, extent);
    plan.fixed = fixed;
    plan.real = real;
    note_range(plan, extent);
    plan.copies = copy_step(plan);
    return plan;
}

bool plan_nearest(std::span<AxisPlan> plans, std::span<const Axis> axes, const FilterChoice& filters,
                  std::span<const int64_t> extents, Arena& arena) {
    const int count = static_cast<int>(axes.size());
    PassOrder order{.axes = count, .size = {}, .out = {}};
    int64_t base[3] = {};
    for (int a = 0; a < count; ++a) {
        const Axis& axis = axes[static_cast<size_t>(count - 1 - a)];
        if (AxisFilter(axis, filters).filter != Filter::nearest) return false;
        const double low = std::min(axis.low, axis.high), high = std::max(axis.low, axis.high);
        base[a] = static_cast<int64_t>(std::clamp(std::floor(low), 0.0, axis.source));
        order.size[a] = static_cast<float>(std::clamp(std::ceil(high + 1), 0.0, axis.source)) - static_cast<float>(base[a]);
        order.out[a] = static_cast<float>(axis.out);
    }
    order.search(0, 0, 0);
    for (int a = 0; a < count; ++a) {
        const auto at = static_cast<size_t>(count - 1 - a);
        AxisPlan& plan = plans[at];
        plan = {};
        plan.count = static_cast<int32_t>(axes[at].count);
        plan.taps = 1;
        auto* first = arena.take<int32_t>(static_cast<size_t>(plan.count));
        nearest_pixels(first, axes[at], a == 0, a == order.first_pass ? 0 : base[a], extents[at]);
        plan.first = first;
        note_range(plan, extents[at]);
        plan.copies = copy_step(plan);
    }
    return true;
}

void mirror_source(AxisPlan& plan, int64_t extent, Arena& arena) {
    const int64_t rows = padded(plan.count, 4);
    auto* first = arena.take<int32_t>(static_cast<size_t>(rows));
    const bool weighs = plan.fixed != nullptr || plan.real != nullptr;
    auto* fixed = plan.fixed != nullptr ? arena.take<int16_t>(static_cast<size_t>(rows * plan.stride)) : nullptr;
    auto* real = plan.real != nullptr ? arena.take<float>(static_cast<size_t>(rows * plan.stride)) : nullptr;
    for (int64_t i = 0; i < (weighs ? rows : plan.count); ++i) {
        first[i] = static_cast<int32_t>(extent - plan.first[i] - plan.taps);
        for (int32_t k = 0; k < plan.stride && weighs; ++k) {
            const int64_t from = i * plan.stride + (k < plan.taps ? plan.taps - 1 - k : k);
            if (fixed != nullptr) fixed[i * plan.stride + k] = plan.fixed[from];
            if (real != nullptr) real[i * plan.stride + k] = plan.real[from];
        }
    }
    plan.first = first;
    plan.fixed = fixed;
    plan.real = real;
    const int32_t low = plan.low;
    plan.low = static_cast<int32_t>(extent) - plan.high;
    plan.high = static_cast<int32_t>(extent) - low;
    plan.copies = -plan.copies;
}

}  // namespace pixelmill
