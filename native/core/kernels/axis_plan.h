// An axis worked out: for every output the source pixels it reads and their weights.
#pragma once

#include <cstdint>
#include <span>

#include "../arena.h"
#include "axis.h"

namespace pixelmill {

inline constexpr int weight_bits = 14;

enum class Weights : uint8_t { fixed, real };

// Output i is the sum over k < taps of image[first[i] + k] * weight[i * stride + k]. All taps lie in the image.
// The `taps` weights of an output are followed by zeros up to `stride`, a multiple of 4, and the last output by copies
// of it up to a multiple of 8, so that vector code needs no tails. One of `fixed` and `real` is null, as requested.
struct AxisPlan {
    int32_t count = 0, taps = 0, stride = 0;
    const int32_t* first = nullptr;
    const int16_t* fixed = nullptr;  // each output's add up to 1 << weight_bits
    const float* real = nullptr;
    int32_t low = 0, high = 0;  // the image pixels that are read at all
    int32_t copies = 0;         // 1 or -1 when the axis only copies, forwards or backwards; else 0
    // Of the axis as a whole, for choices that must not depend on which of its outputs are wanted.
    int32_t support = 0;      // taps of an output, zero weights included
    float out = 0, span = 0;  // its outputs, and the source pixels under them
    bool overshoots = false;  // the filter has negative weights, results may leave the range of the source
};

// The plans of two or three axes, outermost first; their arrays live in `arena`. `extents` are the sizes of the image
// in memory. Returns true when every output is one source pixel along every axis; then there are no weights.
bool plan_axes(std::span<AxisPlan> plans, std::span<const Axis> axes, const FilterChoice& filters,
               std::span<const int64_t> extents, Weights kind, Arena& arena);

// The outputs from `first` on, at most `count` of them, as a plan of its own in the same memory.
AxisPlan part_of(const AxisPlan& plan, int32_t first, int32_t count);

// The plan for the image read backwards, in place of negating its strides.
void mirror_source(AxisPlan& plan, int64_t extent, Arena& arena);

}  // namespace pixelmill
