// BMP files of 24 bits a pixel, or of 32 with transparency, into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../view.h"

namespace pixelmill {

// Transparency needs the longer header, which says where it is.
inline constexpr size_t bmp_header_bytes(int64_t channels) { return channels == 4 ? 122 : 54; }

// Makes `out` a BMP file; its memory is used again. Gray, one channel, is written as three equal ones; four channels
// are red, green, blue and alpha. `gap` bytes, left as they are, come between header and pixels.
void encode_bmp(View<const uint8_t> image, size_t gap, std::vector<std::byte>& out);

}  // namespace pixelmill
