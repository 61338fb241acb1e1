// The inverse transform of blocks to half of their size, for jpeg_kernels_neon.cpp.

// The constants of transform::four: of the numbers 2 and 6, and of the odd ones for its two odd sums.
enum Weight4 { s2, s6, a7, a5, a3, a1, b7, b5, b3, b1 };
constexpr int16_t weight4_values[16] = {
    fix(1.847759065), -fix(0.765366865), -fix(0.211164243), fix(1.451774981), -fix(2.172734803),
    fix(1.061594337), -fix(0.509795579), -fix(0.601344887), fix(0.899976223), fix(2.562915447),
};

// Number i is even[i] + odd[i], number 3 - i their difference. Sums of four numbers of 16 bits and their weights may
// leave 32 bits, where the plain code wraps, so half a unit is added here and not by a rounding shift.
struct HalfParts {
    Wide even[2], odd[2];
};

template <int bits, int rows>
inline HalfParts four(const int16x8_t* r, const Weights16& by) {
    const int32x4_t half = vdupq_n_s32(1 << (bits - 1));
    const Wide first = shifted<const_bits + 1>(r[0]);
    const Wide tmp0{vaddq_s32(first.low, half), vaddq_s32(first.high, half)};
    Wide tmp2 = times<s2>(r[2], by);
    Wide upper = plus<b1>(times<b3>(r[3], by), r[1], by), lower = plus<a1>(times<a3>(r[3], by), r[1], by);
    if constexpr (rows == 8) {
        tmp2 = plus<s6>(tmp2, r[6], by);
        upper = plus<b5>(plus<b7>(upper, r[7], by), r[5], by);
        lower = plus<a5>(plus<a7>(lower, r[7], by), r[5], by);
    }
    return {{tmp0 + tmp2, tmp0 - tmp2}, {upper, lower}};
}

// Four rows of eight columns, saturated. False if the plain code has to do it.
template <int rows>
inline bool columns4(int16x8_t* out, const int16_t* block, const int16_t* quant, const Weights16& by) {
    constexpr int bits = const_bits - pass1_bits + 1;
    int16x8_t r[8];
    for (int i = 0; i < rows; ++i) {
        if (i != 4) r[i] = vmulq_s16(vld1q_s16(block + 8 * i), vld1q_s16(quant + 8 * i));
    }
    const HalfParts p = four<bits, rows>(r, by);
    const auto narrowed = [](Wide a) { return vqshrn_high_n_s32(vqshrn_n_s32(a.low, bits), a.high, bits); };
    for (int i = 0; i < 2; ++i) {
        out[i] = narrowed(p.even[i] + p.odd[i]);
        out[3 - i] = narrowed(p.even[i] - p.odd[i]);
    }
    transpose4(out);  // columns 0 and 4, 1 and 5, and so on
    return !overflows(r[0]);
}

// Two blocks side by side. `rows` is 8, or 4 when nothing lies outside of the first four rows and columns.
template <int rows>
inline void pair4(uint8_t* out, ptrdiff_t stride, const int16_t* blocks, const int16_t* quant, const Weights16& by) {
    constexpr int bits = const_bits + pass1_bits + 3 + 1;
    int16x8_t a[4], b[4], m[8];
    if (!columns4<rows>(a, blocks, quant, by) || !columns4<rows>(b, blocks + 64, quant, by)) [[unlikely]] {
        transform::block4(out, stride, blocks, quant);
        return transform::block4(out + 4, stride, blocks + 64, quant);
    }
    for (int i = 0; i < 4; ++i) {  // each column of the first block, then that of the second
        const int64x2_t left = vreinterpretq_s64_s16(a[i]), right = vreinterpretq_s64_s16(b[i]);
        m[i] = vreinterpretq_s16_s64(vtrn1q_s64(left, right));
        m[i + 4] = vreinterpretq_s16_s64(vtrn2q_s64(left, right));
    }
    const HalfParts p = four<bits, rows>(m, by);
    const auto sum = [&](int i) {
        const Wide &x = p.even[i], &y = p.odd[i];
        return vqshrn_n_s16(vaddhn_high_s32(vaddhn_s32(x.low, y.low), x.high, y.high), bits - 16);
    };
    const auto difference = [&](int i) {
        const Wide &x = p.even[i], &y = p.odd[i];
        return vqshrn_n_s16(vsubhn_high_s32(vsubhn_s32(x.low, y.low), x.high, y.high), bits - 16);
    };
    const int8x8_t c0 = sum(0), c1 = sum(1), c2 = difference(1), c3 = difference(0);
    const int8x16_t even = vcombine_s8(vzip1_s8(c0, c2), vzip2_s8(c0, c2));
    const int8x16_t odd = vcombine_s8(vzip1_s8(c1, c3), vzip2_s8(c1, c3));
    const int16x8_t first = vreinterpretq_s16_s8(vzip1q_s8(even, odd));
    const int16x8_t second = vreinterpretq_s16_s8(vzip2q_s8(even, odd));
    store_two(out, stride, first, second, false);
    store_two(out + 2 * stride, stride, first, second, true);
}

void idct4(uint8_t* out, ptrdiff_t stride, const BlockRow& row) {
    const Weights16 by(weight4_values);
    int64_t i = 0;
    for (; i + 2 <= row.count; i += 2, out += 8) {
        int16_t* blocks = row.blocks + 64 * i;
        const bool corners = row.last[i] <= last_of_four && row.last[i + 1] <= last_of_four;
        corners ? pair4<4>(out, stride, blocks, row.quant, by) : pair4<8>(out, stride, blocks, row.quant, by);
        if (row.clears) std::memset(blocks, 0, 128 * sizeof(int16_t));
    }
    if (i == row.count) return;
    int16_t* block = row.blocks + 64 * i;
    transform::block4(out, stride, block, row.quant);
    if (row.clears) std::memset(block, 0, 64 * sizeof(int16_t));
}
