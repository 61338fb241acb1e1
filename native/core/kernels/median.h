// The median of the neighbors of every pixel; beyond the edges their outermost pixels are repeated.
#pragma once

#include <cstdint>

#include "pointwise.h"

namespace pixelmill {

// A window of `height` by `width` pixels, both odd. Packed pixels of one type, any but half and bool; rows of `in` may
// lie anywhere.
void median_blur(const Raster& out, const Raster& in, int64_t height, int64_t width, Arena& arena);

inline constexpr int64_t most_selected = 121;  // elements of a window that are sorted out by exchanges

struct Medians {
    // out[x] = the median of rows[r][x + k * step], r and k below height and width; at most `most_selected` of them.
    template <class T>
    using Row = void (*)(T* out, const T* const* rows, int64_t height, int64_t width, int64_t step, int64_t length);
    Row<uint8_t> u8;
    Row<int8_t> i8;
    Row<uint16_t> u16;
    Row<int16_t> i16;
    Row<uint32_t> u32;
    Row<int32_t> i32;
    Row<float> f32;
};
const Medians& medians();  // of the current SIMD level

}  // namespace pixelmill
