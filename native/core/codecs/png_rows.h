// Rows of a PNG as they were filtered, back to pixels of 8 bits a sample.
#pragma once

#include <cstdint>

namespace pixelmill {

// The inverse of filter `kind`, 0 to 4 (PNG specification, 9.2). `above` is the row before, or zeros for the first one;
// `pixel` is the distance of the bytes of a channel: 1 to 4. Reads `png_overrun` bytes after `row` and after `above`.
inline constexpr int64_t png_overrun = 3;
using Unfilter = void(uint8_t* out, const uint8_t* row, const uint8_t* above, int64_t bytes, int pixel, int kind);
Unfilter& png_unfilter();  // of the current SIMD level

}  // namespace pixelmill
