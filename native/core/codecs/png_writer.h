// PNG files, into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../view.h"

namespace pixelmill {

struct PngFormat {
    // zlib's, 1 to 9. Level 0 is for noise, which nothing makes smaller: no filters, no search for repetitions.
    int level = 4;
    int bits = 8;  // or 16: samples of two bytes, the high one first; strides count bytes
};

// Makes `out` a PNG file; its memory is used again. One channel is gray, three are red, green and blue, and two and
// four have alpha; pixels are packed.
void encode_png(View<const uint8_t> image, PngFormat format, std::vector<std::byte>& out);

// Adds a chunk of `count` bytes that readers skip, before the end; returns where its content starts. The caller fills
// it and calls `seal_png_chunk`. Twelve bytes come on top.
size_t add_png_chunk(std::vector<std::byte>& file, size_t count);
void seal_png_chunk(std::vector<std::byte>& file, size_t content, size_t count);

}  // namespace pixelmill
