// Random numbers in bulk: the words of a stream, and numbers made of them.
// Number n depends on the stream and n alone, and has the same bits at every SIMD level and on every machine.
#pragma once

#include <cstdint>

#include "../rng.h"

namespace pixelmill {

struct Draws {
    // The four words of each block, from `first` on.
    void (*words)(uint32_t* out, const StreamId& stream, uint32_t first, int64_t blocks);
    // Box and Muller: words 2i and 2i + 1 give normals 2i and 2i + 1. `count` is even.
    void (*normals)(float* out, const uint32_t* words, int64_t count, float mean, float deviation);
    // low + word / 2^32 * extent, but never above `last`.
    void (*uniforms)(float* out, const uint32_t* words, int64_t count, double low, double extent, float last);
    // Packed pixels of bytes: x + x * luma * noise, one number for each pixel.
    void (*speckle)(uint8_t* out, const uint8_t* in, const float* noise, int64_t pixels, int64_t channels, float luma);
    // Likewise with four numbers for each pixel: the first as above, the others are added to its channels times
    // `color`.
    void (*grain)(uint8_t* out, const uint8_t* in, const float* noise, int64_t pixels, int64_t channels, float luma,
                  float color);
};
const Draws& draws();  // of the current SIMD level

inline constexpr int64_t words_at_once = 2048;

// Calls `body(words, index of the first, how many)` until `count` words of a stream were seen, some at a time; all
// parts but the last have words_at_once.
template <class Body>
void for_each_words(const StreamId& stream, int64_t count, Body&& body) {
    alignas(64) uint32_t words[words_at_once];
    const Draws& kernels = draws();
    for (int64_t first = 0; first < count; first += words_at_once) {
        const int64_t part = count - first < words_at_once ? count - first : words_at_once;
        kernels.words(words, stream, static_cast<uint32_t>(first / 4), (part + 3) / 4);
        body(static_cast<const uint32_t*>(words), first, part);
    }
}

}  // namespace pixelmill
