// Bytes that are replaced one by one, and sums over squares of them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "../arena.h"
#include "pointwise.h"

namespace pixelmill {

// Divides numbers of 16 bits by one of 2 to 256 with a multiplication: (x + half) * factor / 2^(16 + shift).
struct Divisor {
    uint16_t half, factor;
    int shift;

    // A divisor that rounds to the nearest for all sums of `count` bytes, or nothing if there is none.
    static std::optional<Divisor> of(int64_t count);
    uint8_t mean(uint32_t sum) const { return static_cast<uint8_t>(((sum + half) * factor) >> 16 >> shift); }
};

struct LevelPasses {
    void (*look_up)(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* table);
    void (*invert_from)(uint8_t* out, const uint8_t* in, int64_t count, uint8_t threshold);
    void (*keep_bits)(uint8_t* out, const uint8_t* in, int64_t count, uint8_t bits);
    // Channel c of each pixel of three is channel from[c], or 0 where that is negative.
    void (*choose_channels)(uint8_t* out, const uint8_t* in, int64_t pixels, const int8_t* from);
    // sums[i] += in[i] - old[i]
    void (*slide)(int32_t* sums, const int32_t* in, const int32_t* old, int64_t count);
    // sums[i] * factor, rounded, as bytes
    void (*scaled)(uint8_t* out, const int32_t* sums, int64_t count, float factor);
    // The same for small windows. sums[i] += in[i] - old[i]
    void (*slide_bytes)(uint16_t* sums, const uint8_t* in, const uint8_t* old, int64_t count);
    // The mean of `taps` sums that lie `step` apart.
    void (*mean_of_sums)(uint8_t* out, const uint16_t* sums, int64_t count, int64_t taps, int64_t step, Divisor by);
};
const LevelPasses& level_passes();  // of the current SIMD level

using LevelTable = std::array<uint8_t, 256>;

// Packed pixels of three channels, each replaced by a table of its own.
void look_up_colors(uint8_t* out, const uint8_t* in, int64_t pixels, const LevelTable* tables);

// Replaces bytes by a table.
void look_up(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* table);
// The same for whole lines, written past the caches; returns how many bytes were made, 0 without registers that wide.
int64_t look_up_lines(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* table);

// The mean of `height` x `width` pixels around each; the border is reflected (dcb|abcd|cba). Packed bytes, odd extents.
void box_mean(const Raster& out, const Raster& in, int64_t height, int64_t width, Arena& arena);

}  // namespace pixelmill
