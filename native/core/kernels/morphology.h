// The largest or smallest of the neighbors of every pixel.
#pragma once

#include <cstdint>

#include "../arena.h"
#include "convolve.h"
#include "pointwise.h"

namespace pixelmill {

// A rectangle of `height` by `width` pixels. (anchor_y, anchor_x) is its pixel that lies on the pixel of the result.
struct Neighborhood {
    int64_t height = 3, width = 3, anchor_y = 1, anchor_x = 1;
    Border border = Border::constant;  // constant: pixels outside of the image do not take part
};

// Packed pixels of u8, u16, i16 or f32; rows of `in` may be anywhere.
void dilate(const Raster& out, const Raster& in, const Neighborhood& neighborhood, Arena& arena);
void erode(const Raster& out, const Raster& in, const Neighborhood& neighborhood, Arena& arena);

}  // namespace pixelmill
