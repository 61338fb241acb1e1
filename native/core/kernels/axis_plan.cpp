#include "axis_plan.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "filters.h"

namespace pixelmill {

namespace {

constexpr const char* outside = "a resampling plan reads outside its image";

// The weights of one output after clamping to the source, without zeros at the ends.
struct Taps {
    int64_t first = 0;
    int count = 0;
};

// The library's ceil is a call where the instruction is not part of the base machine.
int64_t ceiling(float x) {
    const auto whole = static_cast<int64_t>(x);
    return whole + (static_cast<float>(whole) < x ? 1 : 0);
}

// Fills `weight`, which holds `support` numbers, with weights that add up to 1.
Taps taps_of(const AxisFilter& filter, int64_t i, int64_t base, int64_t source, float* weight) {
    const float begin = static_cast<float>(i) * filter.step + filter.start;
    const int64_t at = ceiling(begin), first = at + base;
    const float offset = static_cast<float>(at) - begin;
    float sum = 0;
    for (int k = 0; k < filter.support; ++k) {
        weight[k] = filter.weight(offset + static_cast<float>(k));
        sum += weight[k];
    }
    const float unit = sum != 0 ? 1 / sum : 1.0f;
    int begins = 0, ends = filter.support;
    if (first < 0 || first + filter.support > source) {
        // What lies outside of the source repeats its edge: its weight moves to the edge pixel.
        const auto inside_from = static_cast<int>(std::clamp<int64_t>(-first, 0, filter.support - 1));
        const auto inside_to = static_cast<int>(std::clamp<int64_t>(source - first, 1, filter.support));
        for (; begins < inside_from; ++begins) weight[begins + 1] += weight[begins];
        for (; ends > inside_to; --ends) weight[ends - 2] += weight[ends - 1];
        if (ends <= begins) ends = begins + 1;
    }
    while (ends - begins > 1 && weight[begins] == 0) ++begins;
    while (ends - begins > 1 && weight[ends - 1] == 0) --ends;
    for (int k = begins; k < ends; ++k) weight[k - begins] = weight[k] * unit;
    if (ends - begins == 1) weight[0] = 1;  // exactly, because a copy is exact
    return {std::clamp<int64_t>(first + begins, 0, source - 1), ends - begins};
}

int rounded_weight(float weight) {
    constexpr float one = 1 << weight_bits, half_up = 32768.5f;  // positive, so that truncation rounds down
    return static_cast<int>(weight * one + half_up) - 32768;
}

// Rounds the running sum instead of each weight: the total is exact however many taps there are.
void quantize(int16_t* fixed, const float* weight, int count) {
    float sum = 0;
    int before = 0;
    for (int k = 0; k < count; ++k) {
        sum += weight[k];
        const int now = k + 1 < count ? rounded_weight(sum) : 1 << weight_bits;
        fixed[k] = static_cast<int16_t>(std::clamp(now - before, -32768, 32767));
        before = now;
    }
}

// Both of the above for several triangles at once, in loops that compilers turn into vectors: the same numbers,
// operation by operation. Those that leave the source, or begin with a zero, are left to the general code.
class Triangles {
   public:
    static constexpr int batch = 32, most_taps = 8;

    // The window of output number `first + step * j` becomes number j.
    Triangles(const AxisFilter& filter, int64_t first, int step) : support_(filter.support) {
        const auto from = static_cast<int32_t>(first);
        float offset[batch], sum[batch] = {};
        for (int j = 0; j < batch; ++j) {
            const float begin = static_cast<float>(from + step * j) * filter.step + filter.start;
            const auto whole = static_cast<int32_t>(begin);
            at_[j] = whole + (static_cast<float>(whole) < begin ? 1 : 0);
            offset[j] = static_cast<float>(at_[j]) - begin;
        }
        for (int k = 0; k < support_; ++k) {
            for (int j = 0; j < batch; ++j) {
                weight_[k][j] = filter.triangle(offset[j] + static_cast<float>(k));
                sum[j] += weight_[k][j];
                ends_[j] = weight_[k][j] != 0 ? k + 1 : ends_[j];
            }
        }
        quantize(sum);
        for (int k = support_; k < 4; ++k) std::fill_n(fixed_[k], batch, 0);
    }

    // Whether all of the first `count` are what `taps` returns some for.
    bool plain(int count, int64_t base, int64_t source) const {
        int32_t special = 0;
        for (int j = 0; j < count; ++j) special |= weight_[0][j] == 0 || ends_[j] < 2 ? 1 : 0;
        const auto [low, high] = std::minmax(at_[0], at_[count - 1]);  // outputs ascend or descend all the way
        return special == 0 && low + base >= 0 && high + base + support_ <= source;
    }

    // All taps of such outputs: where they begin, counted from `origin`, how many they are, and four weights for each.
    void four_taps(int count, int32_t origin, int32_t* first, int32_t* taps, int16_t* fixed) const {
        for (int j = 0; j < count; ++j) first[j] = at_[j] - origin;
        std::copy_n(ends_, count, taps);
        for (int j = 0; j < count; ++j) {
            for (int k = 0; k < 4; ++k) fixed[4 * j + k] = static_cast<int16_t>(fixed_[k][j]);
        }
    }

    // Returns no taps where the general code is needed.
    Taps taps(int j, int64_t base, int64_t source, int16_t* fixed) const {
        const int64_t first = at_[j] + base;
        if (first < 0 || first + support_ > source || weight_[0][j] == 0 || ends_[j] < 2) return {};
        for (int k = 0; k < support_; ++k) fixed[k] = static_cast<int16_t>(fixed_[k][j]);
        return {first, ends_[j]};
    }

   private:
    void quantize(const float* sum) {
        float unit[batch], part[batch] = {};
        int32_t before[batch] = {};
        for (int j = 0; j < batch; ++j) unit[j] = 1 / (sum[j] != 0 ? sum[j] : 1.0f);
        for (int k = 0; k < support_; ++k) {
            for (int j = 0; j < batch; ++j) {
                part[j] += weight_[k][j] * unit[j];
                const int32_t rounded = rounded_weight(part[j]);
                const int32_t now = k + 1 < ends_[j] ? rounded : 1 << weight_bits;
                fixed_[k][j] = now - before[j];
                before[j] = now;
            }
        }
    }

    int support_;
    int32_t at_[batch], ends_[batch] = {}, fixed_[most_taps][batch];  // of these, four at least are filled
    float weight_[most_taps][batch];
};

int64_t padded(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

bool in_order(const int32_t* first, int32_t count, bool descends) {
    int32_t out_of_order = 0;
    const int32_t sign = descends ? -1 : 1;
    for (int32_t i = 1; i < count; ++i) out_of_order |= sign * (first[i] - first[i - 1]) < 0 ? 1 : 0;
    return out_of_order == 0;
}

// Makes `first` ascend or descend all the way, and all outputs read `taps` pixels inside the image: those that need
// fewer start earlier, with zeros before theirs. Then copies the last output as often as vector code may read it.
template <class T>
void align(AxisPlan& plan, T* weights, int32_t* first, const int32_t* taps, int64_t extent) {
    const int32_t last = plan.count - 1;
    const bool descends = first[0] > first[last], ordered = in_order(first, plan.count, descends);
    int32_t lowest = first[descends ? 0 : last];
    for (int32_t i = 0; i < plan.count && ordered; ++i) plan.taps = std::max(plan.taps, taps[i]);
    for (int32_t n = 0; n < plan.count && !ordered; ++n) {
        const int32_t i = descends ? n : last - n;
        lowest = std::min(lowest, first[i]);
        plan.taps = std::max(plan.taps, first[i] + taps[i] - lowest);
    }
    lowest = first[descends ? 0 : last];
    for (int32_t n = 0; n < plan.count; ++n) {
        const int32_t i = descends ? n : last - n;
        lowest = std::min(lowest, first[i]);
        const auto from = static_cast<int32_t>(std::min<int64_t>(lowest, extent - plan.taps));
        if (from == first[i] && ordered) break;  // and so do all others
        if (from == first[i]) continue;
        T* mine = weights + int64_t{i} * plan.stride;
        std::copy_backward(mine, mine + taps[i], mine + taps[i] + first[i] - from);
        std::fill(mine, mine + first[i] - from, T{0});
        first[i] = from;
    }
    for (int64_t i = plan.count; i < padded(plan.count, 8); ++i) {
        first[i] = first[last];
        std::copy_n(weights + int64_t{last} * plan.stride, plan.stride, weights + i * plan.stride);
    }
}

// The outputs ascend or descend all the way.
void note_range(AxisPlan& plan, int64_t extent) {
    const int32_t one = plan.first[0], other = plan.first[plan.count - 1];
    plan.low = std::min(one, other);
    plan.high = std::max(one, other) + plan.taps;
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
void nearest_pixels(int32_t* first, const AxisFilter& filter, const Axis& axis, bool innermost, int64_t base,
                    int64_t extent) {
    const auto begin = static_cast<int64_t>(axis.first), count = static_cast<int64_t>(axis.count);
    const auto source = static_cast<int64_t>(axis.source), offset = static_cast<int64_t>(axis.origin);
    const float origin = filter.start, step = filter.step;
    float sum = origin + 0.5f * step;
    for (int64_t i = 0; i < begin + count; ++i, sum += step) {
        if (i < begin) continue;
        float at = innermost ? origin + (static_cast<float>(i) + 0.5f) * step : sum;
        if (innermost && step == 1) at = std::floor(origin + 0.5f) + static_cast<float>(i);
        const int64_t pixel = std::clamp<int64_t>(static_cast<int64_t>(std::floor(at)) + base, 0, source - 1) - offset;
        const int64_t place = axis.flip != 0 ? begin + count - 1 - i : i - begin;
        first[place] = static_cast<int32_t>(std::clamp<int64_t>(pixel, 0, extent - 1));
    }
}

struct Memory {
    int32_t *first, *taps;
    float *weight, *real;
    int16_t* fixed;
};

Memory memory_for(AxisPlan& plan, const AxisFilter& filter, int64_t source, Weights kind, Arena& arena) {
    const auto rows = static_cast<size_t>(padded(plan.count, 8));
    plan.stride = static_cast<int32_t>(padded(std::min<int64_t>(filter.support, source), 4));
    const size_t weights = rows * static_cast<size_t>(plan.stride);
    Memory memory{};
    memory.first = arena.take<int32_t>(rows);
    memory.taps = arena.take<int32_t>(rows);
    memory.weight = arena.take<float>(static_cast<size_t>(filter.support));
    if (kind == Weights::fixed) {
        memory.fixed = arena.take<int16_t>(weights);
        std::memset(memory.fixed, 0, weights * sizeof(int16_t));
    } else {
        memory.real = arena.take<float>(weights);
        std::memset(memory.real, 0, weights * sizeof(float));
    }
    return memory;
}

void check_inside(const Memory& memory, int32_t count, int64_t extent) {
    const auto end = static_cast<int32_t>(extent);
    int32_t beyond = 0;
    for (int32_t i = 0; i < count; ++i) beyond |= memory.first[i] < 0 || memory.first[i] + memory.taps[i] > end ? 1 : 0;
    if (beyond != 0) throw std::logic_error(outside);
}

// Fills in the outputs of one axis.
class AxisWriter {
   public:
    AxisWriter(const Axis& axis, const AxisFilter& filter, int64_t base, int32_t stride, const Memory& memory)
        : axis_(axis),
          filter_(filter),
          base_(base),
          source_(static_cast<int64_t>(axis.source)),
          origin_(static_cast<int64_t>(axis.origin)),
          stride_(stride),
          nearest_(filter.filter == Filter::nearest),
          memory_(memory) {}

    void write(int32_t count) const {
        const bool triangles = memory_.fixed != nullptr && filter_.filter == Filter::triangular &&
                               filter_.support <= std::min<int64_t>(source_, Triangles::most_taps);
        for (int32_t i = 0; i < count && !triangles; ++i) write_one(i, nullptr);
        for (int32_t i = 0; i < count && triangles; i += Triangles::batch) {
            const Triangles several(filter_, wanted(axis_, i), axis_.flip != 0 ? -1 : 1);
            const int32_t end = std::min(count, i + Triangles::batch);
            if (stride_ == 4 && several.plain(end - i, base_, source_)) {
                several.four_taps(end - i, static_cast<int32_t>(origin_ - base_), memory_.first + i, memory_.taps + i,
                                  memory_.fixed + int64_t{4} * i);
            } else {
                for (int32_t one = i; one < end; ++one) write_one(one, &several);
            }
        }
    }

   private:
    void write_one(int32_t i, const Triangles* several) const {
        const int64_t at = int64_t{i} * stride_;
        Taps taps{memory_.first[i], 1};
        if (several != nullptr) taps = several->taps(i % Triangles::batch, base_, source_, memory_.fixed + at);
        const bool quantized = several != nullptr && taps.count > 0;
        if (!nearest_ && !quantized) taps = taps_of(filter_, wanted(axis_, i), base_, source_, memory_.weight);
        if (!nearest_) memory_.first[i] = static_cast<int32_t>(taps.first - origin_);
        memory_.taps[i] = taps.count;
        if (memory_.fixed != nullptr && !quantized) quantize(memory_.fixed + at, memory_.weight, taps.count);
        if (memory_.real != nullptr) std::copy_n(memory_.weight, taps.count, memory_.real + at);
    }

    const Axis& axis_;
    const AxisFilter& filter_;
    int64_t base_, source_, origin_;
    int32_t stride_;
    bool nearest_;
    const Memory& memory_;
};

AxisPlan plan_axis(const Axis& axis, const AxisFilter& filter, bool innermost, int64_t base, int64_t extent,
                   Weights kind, Arena& arena) {
    AxisPlan plan;
    plan.count = static_cast<int32_t>(axis.count);
    plan.support = filter.support;
    plan.out = static_cast<float>(axis.out);
    plan.span = static_cast<float>(std::fabs(axis.high - axis.low));
    plan.overshoots = filter.filter == Filter::cubic || filter.filter == Filter::lanczos3;
    const Memory memory = memory_for(plan, filter, static_cast<int64_t>(axis.source), kind, arena);
    if (filter.filter == Filter::nearest) nearest_pixels(memory.first, filter, axis, innermost, base, extent);
    memory.weight[0] = 1;
    AxisWriter(axis, filter, base, plan.stride, memory).write(plan.count);
    check_inside(memory, plan.count, extent);
    if (memory.fixed != nullptr) align(plan, memory.fixed, memory.first, memory.taps, extent);
    if (memory.real != nullptr) align(plan, memory.real, memory.first, memory.taps, extent);
    plan.first = memory.first;
    plan.fixed = memory.fixed;
    plan.real = memory.real;
    return plan;
}

AxisPlan plan_nearest(const Axis& axis, const AxisFilter& filter, bool innermost, int64_t base, int64_t extent,
                      Arena& arena) {
    AxisPlan plan;
    plan.count = static_cast<int32_t>(axis.count);
    plan.taps = 1;
    auto* first = arena.take<int32_t>(static_cast<size_t>(plan.count));
    nearest_pixels(first, filter, axis, innermost, base, extent);
    plan.first = first;
    return plan;
}

}  // namespace

bool plan_axes(std::span<AxisPlan> plans, std::span<const Axis> axes, const FilterChoice& filters,
               std::span<const int64_t> extents, Weights kind, Arena& arena) {
    int64_t bases[3];
    window_bases(bases, axes, filters);
    bool nearest = true;
    for (const Axis& axis : axes) nearest &= AxisFilter(axis, filters).filter == Filter::nearest;
    for (size_t d = 0; d < axes.size(); ++d) {
        const AxisFilter filter(axes[d], filters, bases[d]);
        const bool innermost = d + 1 == axes.size();
        plans[d] = nearest ? plan_nearest(axes[d], filter, innermost, bases[d], extents[d], arena)
                           : plan_axis(axes[d], filter, innermost, bases[d], extents[d], kind, arena);
        note_range(plans[d], extents[d]);
        plans[d].copies = copy_step(plans[d]);
    }
    return nearest;
}

AxisPlan part_of(const AxisPlan& plan, int32_t first, int32_t count) {
    AxisPlan part = plan;
    part.count = std::min(count, plan.count - first);
    part.first += first;
    if (part.real != nullptr) part.real += int64_t{first} * plan.stride;
    if (part.fixed != nullptr) part.fixed += int64_t{first} * plan.stride;
    const int32_t one = part.first[0], other = part.first[part.count - 1];
    part.low = std::min(one, other);
    part.high = std::max(one, other) + plan.taps;
    return part;
}

void mirror_source(AxisPlan& plan, int64_t extent, Arena& arena) {
    const int64_t rows = padded(plan.count, 8);
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
