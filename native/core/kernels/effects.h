// Rows of pixels under snow, and rows of images that are zoomed into.
#pragma once

#include <cstdint>

#include "levels.h"

namespace pixelmill {

struct EffectRows {
    // Pixels of three channels, multiplied by factors in parts of 256, by the sum of the darkest and the brightest
    // channel.
    void (*snow)(uint8_t* pixels, int64_t count, const int32_t* factors);
    // The mean of one pixel of three channels from each of `samples` rows: that of row k begins at
    // rows[k] + columns[k * width + x]. Places never lie farther from the middle than x does.
    void (*mean_of_rows)(uint8_t* out, const uint8_t* const* rows, const int32_t* columns, int64_t samples,
                         int64_t width, Divisor by);
};
const EffectRows& effect_rows();  // of the current SIMD level

}  // namespace pixelmill
