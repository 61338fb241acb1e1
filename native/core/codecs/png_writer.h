// PNG files, into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../view.h"

namespace pixelmill {

// `stored` is for noise, which nothing makes smaller: no filters, no search for repetitions.
enum class PngEffort : uint8_t { stored, fast };

// Makes `out` a PNG file of eight bits a sample; its memory is used again. One channel is gray, three are red, green
// and blue; pixels are packed.
void encode_png(View<const uint8_t> picture, PngEffort effort, std::vector<std::byte>& out);

// Adds a chunk of `count` bytes that readers skip, before the end; gives where its content starts. The caller fills it
// and calls `seal_png_chunk`. Twelve bytes come on top.
size_t add_png_chunk(std::vector<std::byte>& file, size_t count);
void seal_png_chunk(std::vector<std::byte>& file, size_t content, size_t count);

}  // namespace pixelmill
