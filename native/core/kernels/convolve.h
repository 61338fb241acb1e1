// Weighted sums of neighbors: filters that are a product of one for each axis, and filters of two dimensions.
#pragma once

#include <cstdint>

#include "../arena.h"
#include "../view.h"
#include "pointwise.h"
#include "resample_real.h"

namespace pixelmill {

// What lies beyond the edges: edcb|abcde|dcba, dcba|abcde|edcb, aaaa|abcde|eeee, bcde|abcde|abcd, or one value.
enum class Border : uint8_t { reflect_101, reflect_1001, clamp, wrap, constant };

// Which of `extent` places stands for place `i`, which may lie outside of them; -1 for the value of Border::constant.
int64_t border_index(int64_t i, int64_t extent, Border border);

// out[i] = the sum of weights[k] * in[i - before + k].
struct Taps {
    const float* weights = nullptr;
    int count = 1, before = 0;
};

// A volume of floats, packed: depth slices of rows of pixels.
struct Volume {
    float* data = nullptr;
    int64_t depth = 1, height = 1, width = 1, channels = 1;
    Plane slice(int64_t z) const {
        return {data + z * height * width * channels, height, width, channels, width * channels};
    }
};

// Filters along depth, height and width, borders reflected; `add` adds to what is in `out`.
void convolve(const Volume& out, const Volume& in, const Taps (&taps)[3], bool add, Arena& arena);

// The same for images of bytes and taps that are symmetric and add up to 1, in fixed point: the error stays below
// 0.1 of a level. Both are packed pixels; rows of `in` may lie anywhere.
inline constexpr int most_byte_taps = 63;
void blur_bytes(View<uint8_t> out, View<const uint8_t> in, const Taps& vertical, const Taps& horizontal, Arena& arena);

struct Filter2d {
    const float* weights = nullptr;  // rows of columns
    int64_t height = 1, width = 1, anchor_y = 0, anchor_x = 0;
    Border border = Border::reflect_101;
    float fill = 0;
    bool valid = false;  // only where the filter lies inside: out is smaller by its size less one
    // From floats to floats: weights that are zero are left out, and so is what they would make of infinities. Bytes
    // are always filtered in this way.
    bool sparse = false;
};

// Packed pixels of any type; rows of `in` may lie anywhere. Out has the type of `in`, or is float.
void filter(const Raster& out, const Raster& in, const Filter2d& filter, Arena& arena);

// A filter over rows: weight k of row r is that of rows[r][x + k * step]. The next output row begins with rows[1].
struct Window2d {
    const float* const* rows;
    const float* weights;
    int64_t height, width, step;
};

struct Convolution {
    // One or two neighboring output rows; `add` adds to what they hold.
    void (*correlate)(float* const* out, int count, const Window2d& window, int64_t length, bool add);
    // Symmetric weights in parts of 2^14, the middle one first, `reach` of them after it. The sum of rows has six
    // more bits than a byte, the sum along a row takes them off again. rows[0] and rows[2 * reach] are the outermost.
    void (*blur_rows)(int16_t* out, const uint8_t* const* rows, const int16_t* weights, int reach, int64_t length);
    void (*blur_line)(uint8_t* out, const int16_t* in, const int16_t* weights, int reach, int64_t step, int64_t length);
    void (*load_bytes)(float* out, const uint8_t* in, int64_t count);
    void (*store_bytes)(uint8_t* out, const float* in, int64_t count);
    // One output row, rounded to bytes: the sum of from[k][x] * weights[k] over all taps.
    void (*correlate_bytes)(uint8_t* out, const float* const* from, const float* weights, int64_t taps, int64_t length);
    // The same of floats.
    void (*correlate_taps)(float* out, const float* const* from, const float* weights, int64_t taps, int64_t length);
    // That of bytes with weights in parts of 2^15, which are positive and add up to 1, and bytes with seven more bits.
    // A product is rounded to 16 bits, so a sum is off by at most a 128th of a level for each tap.
    void (*widen_bytes)(int16_t* out, const uint8_t* in, int64_t count);
    void (*correlate_words)(uint8_t* out, const int16_t* const* from, const int16_t* weights, int64_t taps,
                            int64_t length);
};
const Convolution& convolution();  // of the current SIMD level

}  // namespace pixelmill
