// Colors: every output channel is a weighted sum of the input's channels. And brightness: one line for all elements.
#pragma once

#include <cstdint>

#include "../value.h"
#include "levels.h"
#include "pointwise.h"

namespace pixelmill {

// out[i] = weight[i][0] * in[0] + weight[i][1] * in[1] + weight[i][2] * in[2] + offset[i], in single precision.
struct ColorMatrix {
    float weight[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    float offset[3] = {0, 0, 0};
};

// Three channels to three. Out is packed; of any types. Bytes may be written past the caches.
void transform_colors(const Raster& out, const Raster& in, const ColorMatrix& matrix, bool past_caches, Arena& arena);

// Bytes: red, green and blue (or the reverse) to one channel, 0.299, 0.587 and 0.114 of them.
void to_gray(const Raster& out, const Raster& in, bool reversed, Arena& arena);

// Bytes: the order of three channels reversed.
void reverse_channels(const Raster& out, const Raster& in, Arena& arena);

// Bytes: one channel, by a table, to the first of three; the others are its copies, or `neutral` where that is not -1.
void spread_gray(const Raster& out, const Raster& in, const uint8_t* table, int neutral, Arena& arena);

// Row passes. A pixel of 4 bytes holds 3 channels.
struct ColorRows {
    void (*bytes)(uint8_t* out3, const uint8_t* in4, int64_t pixels, const ColorMatrix& matrix);
    void (*packed_bytes)(uint8_t* out3, const uint8_t* in3, int64_t pixels, const ColorMatrix& matrix);
    void (*floats)(float* out3, const float* in3, int64_t pixels, const ColorMatrix& matrix);  // out is not in
    void (*gray)(uint8_t* out, const uint8_t* in4, int64_t pixels, bool reversed);
    void (*reversed)(uint8_t* out3, const uint8_t* in, int64_t pixels, int64_t step);  // 3 or 4 bytes a pixel
    void (*spread)(uint8_t* out3, const uint8_t* in, int64_t pixels, int neutral);
    // By output and input type, in the order u8, i16, i32, f32.
    void (*multiply_add[4][4])(void* out, const void* in, int64_t count, float factor, float addend);
};
const ColorRows& color_rows();  // of the current SIMD level

// Every element times `factor` plus `addend`, in single precision; types are u8, i16, i32 and f32.
class MultiplyAdd {
   public:
    // For about `count` elements.
    MultiplyAdd(DType made, DType read, float factor, float addend, int64_t count);
    void operator()(uint8_t* out, const uint8_t* in, int64_t count) const;
    // Whole lines past the caches, as `look_up_lines` does.
    int64_t lines(uint8_t* out, const uint8_t* in, int64_t count) const;

   private:
    void (*pass_)(void* out, const void* in, int64_t count, float factor, float addend);
    float factor_, addend_;
    bool by_table_;
    LevelTable table_;
};

}  // namespace pixelmill
