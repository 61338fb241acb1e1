// Bytes that are replaced one by one, and sums over squares of them.
#pragma once

#include <cstdint>

#include "../arena.h"
#include "pointwise.h"

namespace pixelmill {

struct LevelPasses {
    void (*look_up)(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* table);
    void (*invert_from)(uint8_t* out, const uint8_t* in, int64_t count, uint8_t threshold);
    void (*keep_bits)(uint8_t* out, const uint8_t* in, int64_t count, uint8_t bits);
    // sums[i] += in[i] - old[i]
    void (*slide)(int32_t* sums, const int32_t* in, const int32_t* old, int64_t count);
    // sums[i] * factor, rounded, as bytes
    void (*scaled)(uint8_t* out, const int32_t* sums, int64_t count, float factor);
};
const LevelPasses& level_passes();  // of the current SIMD level

// The mean of `height` x `width` pixels around each; the border is reflected (dcb|abcd|cba). Packed bytes, odd extents.
void box_mean(const Raster& out, const Raster& in, int64_t height, int64_t width, Arena& arena);

}  // namespace pixelmill
