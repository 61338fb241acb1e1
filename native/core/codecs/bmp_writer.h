// BMP files of 24 bits a pixel, into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../view.h"

namespace pixelmill {

inline constexpr size_t bmp_header_bytes = 54;

// Makes `out` a BMP file; its memory is used again. Gray, one channel, is written as three equal ones. `gap` bytes,
// left as they are, come between header and pixels.
void encode_bmp(View<const uint8_t> image, size_t gap, std::vector<std::byte>& out);

}  // namespace pixelmill
