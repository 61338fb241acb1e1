// CMYK to RGB as Pillow does it, bit for bit.
#pragma once

#include <cstdint>

namespace pixelmill {

// a * b / 255, rounded; exact for all bytes.
inline uint8_t multiply_255(uint32_t a, uint32_t b) {
    const uint32_t product = a * b + 128;
    return static_cast<uint8_t>((product + (product >> 8)) >> 8);
}

// One row of CMYK as it stands in JPEG files: every program writes it inverted, as Adobe did, so 255 is no ink.
// A destination pixel has `step` bytes, red at `red` and blue at `2 - red`.
inline void cmyk_row_to_rgb(uint8_t* out, const uint8_t* in, int64_t width, int64_t step, int red) {
    for (int64_t x = 0; x < width; x++, out += step, in += 4) {
        const uint32_t paper = in[3];
        out[red] = static_cast<uint8_t>(paper - multiply_255(255u - in[0], paper));
        out[1] = static_cast<uint8_t>(paper - multiply_255(255u - in[1], paper));
        out[2 - red] = static_cast<uint8_t>(paper - multiply_255(255u - in[2], paper));
    }
}

// Weights .299 .587 .114 in 16-bit fixed point, rounded; they add up to 65536 so that white stays white.
inline uint32_t luma(uint32_t red, uint32_t green, uint32_t blue) {
    return static_cast<uint32_t>((uint64_t{red} * 19595 + uint64_t{green} * 38470 + uint64_t{blue} * 7471 + 32768) >>
                                 16);
}

}  // namespace pixelmill
