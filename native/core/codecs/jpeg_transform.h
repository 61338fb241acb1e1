// The arithmetic of libjpeg-turbo's accurate inverse transforms, one block, plain C++.
//
// libjpeg-turbo's vector code works with 16-bit registers: products with the quantization table and sums of two inputs
// wrap around, results between the passes saturate. Pixels of real images never get that far, damaged and hostile files
// do, and they get the same bytes here. Constants have 13 fractional bits; the first pass keeps 2 more bits than its
// result needs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace pixelmill::transform {

constexpr int const_bits = 13, pass1_bits = 2;

constexpr int32_t fix(double x) { return static_cast<int32_t>(x * (1 << const_bits) + 0.5); }

inline int32_t wrap(int32_t value) { return static_cast<int16_t>(value); }
inline int32_t saturate(int32_t value) { return std::clamp<int32_t>(value, -32768, 32767); }

inline int32_t times(int32_t value, int bits) { return static_cast<int32_t>(static_cast<uint32_t>(value) << bits); }
inline int32_t sum(int32_t a, int32_t b) {  // of 32 bits, wrapping
    return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
inline int32_t difference(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b));
}
inline int32_t descale(int32_t value, int bits) { return sum(value, 1 << (bits - 1)) >> bits; }
inline uint8_t sample(int32_t value) { return static_cast<uint8_t>(std::clamp<int32_t>(value, -128, 127) + 128); }

// Eight values to eight, before descaling.
inline void eight(int32_t* out, const int32_t* in) {
    const int32_t tmp2 = in[2] * fix(0.541196100) + in[6] * (fix(0.541196100) - fix(1.847759065));
    const int32_t tmp3 = in[2] * (fix(0.541196100) + fix(0.765366865)) + in[6] * fix(0.541196100);
    const int32_t tmp0 = times(wrap(in[0] + in[4]), const_bits), tmp1 = times(wrap(in[0] - in[4]), const_bits);
    const int32_t even[4] = {sum(tmp0, tmp3), sum(tmp1, tmp2), difference(tmp1, tmp2), difference(tmp0, tmp3)};

    const int32_t z3 = wrap(in[7] + in[3]), z4 = wrap(in[5] + in[1]);
    const int32_t sum3 = z3 * (fix(1.175875602) - fix(1.961570560)) + z4 * fix(1.175875602);
    const int32_t sum4 = z3 * fix(1.175875602) + z4 * (fix(1.175875602) - fix(0.390180644));
    const int32_t odd[4] = {sum(in[7] * -fix(0.899976223) + in[1] * (fix(1.501321110) - fix(0.899976223)), sum4),
                            sum(in[5] * -fix(2.562915447) + in[3] * (fix(3.072711026) - fix(2.562915447)), sum3),
                            sum(in[5] * (fix(2.053119869) - fix(2.562915447)) + in[3] * -fix(2.562915447), sum4),
                            sum(in[7] * (fix(0.298631336) - fix(0.899976223)) + in[1] * -fix(0.899976223), sum3)};
    for (int i = 0; i < 4; ++i) {
        out[i] = sum(even[i], odd[i]);
        out[7 - i] = difference(even[i], odd[i]);
    }
}

// Seven of eight values to four; in[4] does not count.
inline void four(int32_t* out, const int32_t* in) {
    const int32_t tmp0 = times(in[0], const_bits + 1);
    const int32_t tmp2 = in[2] * fix(1.847759065) + in[6] * -fix(0.765366865);
    const int32_t upper = sum(tmp0, tmp2), lower = difference(tmp0, tmp2);
    const int32_t odd0 =
        sum(in[7] * -fix(0.211164243) + in[5] * fix(1.451774981), in[3] * -fix(2.172734803) + in[1] * fix(1.061594337));
    const int32_t odd2 =
        sum(in[7] * -fix(0.509795579) + in[5] * -fix(0.601344887), in[3] * fix(0.899976223) + in[1] * fix(2.562915447));
    out[0] = sum(upper, odd2);
    out[3] = difference(upper, odd2);
    out[1] = sum(lower, odd0);
    out[2] = difference(lower, odd0);
}

// The first and the odd ones of eight values to two.
inline void two(int32_t* out, const int32_t* in) {
    const int32_t tmp10 = times(in[0], const_bits + 2);
    const int32_t tmp0 =
        sum(in[7] * -fix(0.720959822) + in[5] * fix(0.850430095), in[3] * -fix(1.272758580) + in[1] * fix(3.624509785));
    out[0] = sum(tmp10, tmp0);
    out[1] = difference(tmp10, tmp0);
}

// Coefficient `row`, `column` times its place in the table.
inline int32_t dequantized(const int16_t* block, const int16_t* quant, int row, int column) {
    return wrap(block[8 * row + column] * quant[8 * row + column]);
}

inline bool rows_empty(const int16_t* block, std::initializer_list<int> rows) {
    for (const int row : rows) {
        for (int column = 0; column < 8; ++column) {
            if (block[8 * row + column] != 0) return false;
        }
    }
    return true;
}

// A block of eight by eight samples.
inline void block8(uint8_t* out, ptrdiff_t stride, const int16_t* block, const int16_t* quant) {
    int32_t middle[8][8];                                        // by column
    const bool flat = rows_empty(block, {1, 2, 3, 4, 5, 6, 7});  // each column is its first value, which may wrap
    for (int column = 0; column < 8; ++column) {
        int32_t in[8], sums[8];
        for (int row = 0; row < 8; ++row) in[row] = dequantized(block, quant, row, column);
        eight(sums, in);
        for (int row = 0; row < 8; ++row) {
            middle[column][row] =
                flat ? wrap(times(in[0], pass1_bits)) : saturate(descale(sums[row], const_bits - pass1_bits));
        }
    }
    for (int row = 0; row < 8; ++row, out += stride) {
        int32_t in[8], sums[8];
        for (int column = 0; column < 8; ++column) in[column] = middle[column][row];
        eight(sums, in);
        for (int column = 0; column < 8; ++column)
            out[column] = sample(descale(sums[column], const_bits + pass1_bits + 3));
    }
}

// The same block in half of its size.
inline void block4(uint8_t* out, ptrdiff_t stride, const int16_t* block, const int16_t* quant) {
    int32_t middle[8][4];
    const bool flat = rows_empty(block, {1, 2, 3, 5, 6, 7});
    for (int column = 0; column < 8; ++column) {
        int32_t in[8], sums[4];
        for (int row = 0; row < 8; ++row) in[row] = dequantized(block, quant, row, column);
        four(sums, in);
        for (int row = 0; row < 4; ++row) {
            middle[column][row] =
                flat ? wrap(times(in[0], pass1_bits)) : saturate(descale(sums[row], const_bits - pass1_bits + 1));
        }
    }
    for (int row = 0; row < 4; ++row, out += stride) {
        int32_t in[8], sums[4];
        for (int column = 0; column < 8; ++column) in[column] = middle[column][row];
        four(sums, in);
        for (int column = 0; column < 4; ++column)
            out[column] = sample(saturate(descale(sums[column], const_bits + pass1_bits + 3 + 1)));
    }
}

// In a quarter of its size. Its first column stays in 32 bits between the passes.
inline void block2(uint8_t* out, ptrdiff_t stride, const int16_t* block, const int16_t* quant) {
    int32_t middle[8][2];
    for (const int column : {0, 1, 3, 5, 7}) {
        int32_t in[8], sums[2];
        for (int row = 0; row < 8; ++row) in[row] = dequantized(block, quant, row, column);
        two(sums, in);
        for (int row = 0; row < 2; ++row) {
            const int32_t value = descale(sums[row], const_bits - pass1_bits + 2);
            middle[column][row] = column == 0 ? value : saturate(value);
        }
    }
    for (int row = 0; row < 2; ++row, out += stride) {
        int32_t in[8], sums[2];
        for (const int column : {0, 1, 3, 5, 7}) in[column] = middle[column][row];
        two(sums, in);
        for (int column = 0; column < 2; ++column)
            out[column] = sample(descale(sums[column], const_bits + pass1_bits + 3 + 2));
    }
}

// In an eighth: the mean. Values far outside of a sample's range wrap as they do in libjpeg's table of 1024 entries.
inline uint8_t block1(const int16_t* block, const int16_t* quant) {
    const int32_t value = descale(block[0] * quant[0], 3);
    const int32_t place = (value + 512) & 1023;
    return sample(place - 512);
}

}  // namespace pixelmill::transform
