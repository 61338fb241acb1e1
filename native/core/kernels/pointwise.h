// Passes that look at one element at a time: conversion, normalization, and copies that change the memory order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../arena.h"
#include "../value.h"

namespace pixelmill {

// An image of any element type; strides are counted in elements.
struct Raster {
    std::byte* data = nullptr;
    DType dtype = DType::u8;
    int64_t height = 0, width = 0, channels = 0;
    int64_t row = 0, pixel = 0, channel = 0;
    bool leaves = false;  // this thread does not read it again, so it may be written past the caches

    std::byte* at(int64_t y, int64_t x, int64_t c = 0) const {
        return data + (y * row + x * pixel + c * channel) * size_of(dtype);
    }
};

// Left and right swapped, by strides.
Raster mirrored(const Raster& image);

// out = (in - subtract[c]) * multiply[c], in single precision: this form has the bits of DALI's.
struct Scaling {
    const float* subtract;
    const float* multiply;
};

// Converts every element; both sides have the same shape, out is packed.
void convert_elements(const Value& out, const Value& in);

// Out may have more channels than in; those are zero. Out is packed in either channel order.
void normalize(const Raster& out, const Raster& in, const Scaling& scaling, Arena& arena);

// The same elements, packed; the images that decoders, crops and flips make have their own fast paths.
void pack(const Value& out, const Value& in, Arena& arena);

// Row passes over 8-bit pixels. A pixel of 4 bytes holds up to 4 channels.
struct PixelRows {
    void (*pack3)(uint8_t* out, const uint8_t* in4, int64_t pixels);
    void (*spread3)(uint8_t* out4, const uint8_t* in3, int64_t pixels);
    void (*reverse4)(uint8_t* out4, const uint8_t* in4, int64_t pixels);
    // Plane c starts at out + c * plane.
    using ToPlanes = void(float* out, int64_t plane, const uint8_t* in4, int64_t pixels, int channels, Scaling scaling);
    ToPlanes* to_planes;
    // The same past the caches, where vectors fit: lines that are only written need not be fetched first. After the
    // last row, `fence` makes all of it visible before what the thread writes next.
    ToPlanes* stream_planes;
    void (*fence)();
    // 3 or 4 channels.
    void (*to_pixels)(float* out, const uint8_t* in4, int64_t pixels, int channels, Scaling scaling);
    // Rounded and saturated, as convert<uint8_t> does it.
    void (*to_bytes)(uint8_t* out, const float* in, int64_t count);
};
const PixelRows& pixel_rows();  // of the current SIMD level

namespace neon {
extern const PixelRows pixel_rows;  // on ARM
}

}  // namespace pixelmill
