// The inverse transform of blocks, for jpeg_kernels_neon.cpp.

using transform::const_bits, transform::fix, transform::pass1_bits;

// The constants of transform::eight, those of sums of four numbers after them.
enum Weight { w26, w66, w22, w33, w34, w44, w77, w71, w55, w53, w35, w17, f01, f13, f23, f31 };
constexpr int16_t weight_values[16] = {
    fix(0.541196100),
    fix(0.541196100) - fix(1.847759065),
    fix(0.541196100) + fix(0.765366865),
    fix(1.175875602) - fix(1.961570560),
    fix(1.175875602),
    fix(1.175875602) - fix(0.390180644),
    -fix(0.899976223),
    fix(1.501321110) - fix(0.899976223),
    -fix(2.562915447),
    fix(3.072711026) - fix(2.562915447),
    fix(2.053119869) - fix(2.562915447),
    fix(0.298631336) - fix(0.899976223),
    fix(1.501321110) - fix(0.899976223) + fix(1.175875602) - fix(0.390180644),
    fix(3.072711026) - fix(2.562915447) + fix(1.175875602) - fix(1.961570560),
    fix(1.175875602) - fix(2.562915447),
    fix(1.175875602) - fix(0.899976223),
};

// Sixteen constants, of which the instructions take one by its place.
struct Weights16 {
    int16x8_t low, high;
    explicit Weights16(const int16_t* values) : low(vld1q_s16(values)), high(vld1q_s16(values + 8)) {}
    template <int w>
    int16x8_t half() const {
        return w < 8 ? low : high;
    }
};

// Products and sums of eight numbers, 32 bits each. No sum of transform::eight leaves them: the largest is
// 32768 * (41241 + 15137 + 8192). So the order of additions is free, and a rounding shift is exact.
struct Wide {
    int32x4_t low, high;
};

inline Wide operator+(Wide a, Wide b) { return {vaddq_s32(a.low, b.low), vaddq_s32(a.high, b.high)}; }
inline Wide operator-(Wide a, Wide b) { return {vsubq_s32(a.low, b.low), vsubq_s32(a.high, b.high)}; }

template <int w>
inline Wide times(int16x8_t a, const Weights16& by) {
    return {vmull_laneq_s16(vget_low_s16(a), by.half<w>(), w % 8), vmull_high_laneq_s16(a, by.half<w>(), w % 8)};
}
template <int w>
inline Wide plus(Wide sum, int16x8_t a, const Weights16& by) {
    return {vmlal_laneq_s16(sum.low, vget_low_s16(a), by.half<w>(), w % 8),
            vmlal_high_laneq_s16(sum.high, a, by.half<w>(), w % 8)};
}
template <int bits>
inline Wide shifted(int16x8_t a) {
    return {vshll_n_s16(vget_low_s16(a), bits), vshll_high_n_s16(a, bits)};
}

// The same of four numbers.
template <int w>
inline int32x4_t times(int16x4_t a, const Weights16& by) {
    return vmull_laneq_s16(a, by.half<w>(), w % 8);
}
template <int w>
inline int32x4_t plus(int32x4_t sum, int16x4_t a, const Weights16& by) {
    return vmlal_laneq_s16(sum, a, by.half<w>(), w % 8);
}
template <int bits>
inline int32x4_t shifted(int16x4_t a) {
    return vshll_n_s16(a, bits);
}

// What the results are made of: number i is even[i] + odd[i], number 7 - i their difference.
template <class Sums>
struct Parts {
    Sums even[4], odd[4];
};

inline Parts<Wide> eight(const int16x8_t* r, const Weights16& by) {
    const Wide tmp2 = plus<w66>(times<w26>(r[2], by), r[6], by), tmp3 = plus<w26>(times<w22>(r[2], by), r[6], by);
    const Wide tmp0 = shifted<const_bits>(vaddq_s16(r[0], r[4])), tmp1 = shifted<const_bits>(vsubq_s16(r[0], r[4]));
    const int16x8_t z3 = vaddq_s16(r[7], r[3]), z4 = vaddq_s16(r[5], r[1]);
    const Wide sum3 = plus<w34>(times<w33>(z3, by), z4, by), sum4 = plus<w44>(times<w34>(z3, by), z4, by);
    return {{tmp0 + tmp3, tmp1 + tmp2, tmp1 - tmp2, tmp0 - tmp3},
            {plus<w71>(plus<w77>(sum4, r[7], by), r[1], by), plus<w53>(plus<w55>(sum3, r[5], by), r[3], by),
             plus<w55>(plus<w35>(sum4, r[5], by), r[3], by), plus<w77>(plus<w17>(sum3, r[7], by), r[1], by)}};
}

// The same where r[4] to r[7] are zero.
template <class Numbers>
inline auto eight_of_four(const Numbers* r, const Weights16& by) {
    const auto tmp0 = shifted<const_bits>(r[0]), tmp2 = times<w26>(r[2], by), tmp3 = times<w22>(r[2], by);
    return Parts<decltype(shifted<const_bits>(r[0]))>{
        {tmp0 + tmp3, tmp0 + tmp2, tmp0 - tmp2, tmp0 - tmp3},
        {plus<f01>(times<w34>(r[3], by), r[1], by), plus<w34>(times<f13>(r[3], by), r[1], by),
         plus<w44>(times<f23>(r[3], by), r[1], by), plus<f31>(times<w33>(r[3], by), r[1], by)}};
}

// Saturated results of the first pass.
inline int16x8_t descaled(int32x4_t low, int32x4_t high) {
    constexpr int bits = const_bits - pass1_bits;
    return vqrshrn_high_n_s32(vqrshrn_n_s32(low, bits), high, bits);
}
inline int16x8_t descaled(Wide a) { return descaled(a.low, a.high); }

// Samples around zero: the sum's upper half, then the two bits that are left of const_bits + pass1_bits + 3.
inline int8x16_t samples(const Parts<Wide>& p, int i, int k) {
    const auto upper = [&](int place) {
        const Wide &a = p.even[place < 4 ? place : 7 - place], &b = p.odd[place < 4 ? place : 7 - place];
        return place < 4 ? vaddhn_high_s32(vaddhn_s32(a.low, b.low), a.high, b.high)
                         : vsubhn_high_s32(vsubhn_s32(a.low, b.low), a.high, b.high);
    };
    return vqrshrn_high_n_s16(vqrshrn_n_s16(upper(i), 2), upper(k), 2);
}

inline int16x8_t first_of_pairs(int16x8_t a, int16x8_t b) {
    return vreinterpretq_s16_s32(vtrn1q_s32(vreinterpretq_s32_s16(a), vreinterpretq_s32_s16(b)));
}
inline int16x8_t second_of_pairs(int16x8_t a, int16x8_t b) {
    return vreinterpretq_s16_s32(vtrn2q_s32(vreinterpretq_s32_s16(a), vreinterpretq_s32_s16(b)));
}

// Four rows to columns, in each half.
inline void transpose4(int16x8_t* r) {
    const int16x8_t a = vtrn1q_s16(r[0], r[1]), b = vtrn2q_s16(r[0], r[1]);
    const int16x8_t c = vtrn1q_s16(r[2], r[3]), d = vtrn2q_s16(r[2], r[3]);
    r[0] = first_of_pairs(a, c);
    r[1] = first_of_pairs(b, d);
    r[2] = second_of_pairs(a, c);
    r[3] = second_of_pairs(b, d);
}

inline void transpose8(int16x8_t* r) {
    transpose4(r);
    transpose4(r + 4);
    for (int i = 0; i < 4; ++i) {
        const int64x2_t upper = vreinterpretq_s64_s16(r[i]), lower = vreinterpretq_s64_s16(r[i + 4]);
        r[i] = vreinterpretq_s16_s64(vtrn1q_s64(upper, lower));
        r[i + 4] = vreinterpretq_s16_s64(vtrn2q_s64(upper, lower));
    }
}

inline void store_two(uint8_t* out, ptrdiff_t stride, int16x8_t low, int16x8_t high, bool second) {
    const int32x4_t a = vreinterpretq_s32_s16(low), b = vreinterpretq_s32_s16(high);
    const uint8x16_t rows = vreinterpretq_u8_s32(second ? vzip2q_s32(a, b) : vzip1q_s32(a, b));
    const uint8x16_t bytes = veorq_u8(rows, vdupq_n_u8(0x80));
    vst1_u8(out, vget_low_u8(bytes));
    vst1_u8(out + stride, vget_high_u8(bytes));
}

// The second pass ends with columns; rows of bytes are made from columns 0 and 4, 1 and 5, and so on.
inline void store_block(uint8_t* out, ptrdiff_t stride, const Parts<Wide>& p) {
    const int8x16_t c04 = samples(p, 0, 4), c15 = samples(p, 1, 5), c26 = samples(p, 2, 6), c37 = samples(p, 3, 7);
    const int8x16_t even0 = vzip1q_s8(c04, c26), even4 = vzip2q_s8(c04, c26);
    const int8x16_t odd0 = vzip1q_s8(c15, c37), odd4 = vzip2q_s8(c15, c37);
    const auto words = [](int8x16_t a) { return vreinterpretq_s16_s8(a); };
    const int16x8_t upper0 = words(vzip1q_s8(even0, odd0)), lower0 = words(vzip2q_s8(even0, odd0));
    const int16x8_t upper4 = words(vzip1q_s8(even4, odd4)), lower4 = words(vzip2q_s8(even4, odd4));
    store_two(out, stride, upper0, upper4, false);
    store_two(out + 2 * stride, stride, upper0, upper4, true);
    store_two(out + 4 * stride, stride, lower0, lower4, false);
    store_two(out + 6 * stride, stride, lower0, lower4, true);
}

// Whether the first row, times four, leaves 16 bits; libjpeg-turbo then has other results for blocks that have nothing
// below that row, and the plain code knows which.
inline bool overflows(int16x8_t first) { return vmaxvq_u16(vreinterpretq_u16_s16(vabsq_s16(first))) > 8191; }

inline void block8(uint8_t* out, ptrdiff_t stride, const int16_t* block, const int16_t* quant, const Weights16& by) {
    int16x8_t r[8];
    for (int i = 0; i < 8; ++i) r[i] = vmulq_s16(vld1q_s16(block + 8 * i), vld1q_s16(quant + 8 * i));
    if (overflows(r[0])) [[unlikely]]
        return transform::block8(out, stride, block, quant);
    const Parts<Wide> p = eight(r, by);
    for (int i = 0; i < 4; ++i) {
        r[i] = descaled(p.even[i] + p.odd[i]);
        r[7 - i] = descaled(p.even[i] - p.odd[i]);
    }
    transpose8(r);
    store_block(out, stride, eight(r, by));
}

// A block that has nothing outside of its first four rows and columns.
inline void corner8(uint8_t* out, ptrdiff_t stride, const int16_t* block, const int16_t* quant, const Weights16& by) {
    int16x4_t r[4];
    for (int i = 0; i < 4; ++i) r[i] = vmul_s16(vld1_s16(block + 8 * i), vld1_s16(quant + 8 * i));
    if (overflows(vcombine_s16(r[0], r[0]))) [[unlikely]]
        return transform::block8(out, stride, block, quant);
    const Parts<int32x4_t> p = eight_of_four(r, by);
    int16x8_t both[4];  // rows 0 and 4, 1 and 5, and so on
    for (int i = 0; i < 4; ++i) both[i] = descaled(p.even[i] + p.odd[i], p.even[3 - i] - p.odd[3 - i]);
    transpose4(both);
    store_block(out, stride, eight_of_four(both, by));
}

// A block without anything but its first coefficient.
inline void fill8(uint8_t* out, ptrdiff_t stride, int32_t first, int32_t quant) {
    const int32_t middle = transform::wrap(transform::times(transform::wrap(first * quant), pass1_bits));
    const uint8x8_t all = vdup_n_u8(transform::sample(transform::descale(middle, pass1_bits + 3)));
    for (int y = 0; y < 8; ++y) vst1_u8(out + y * stride, all);
}

constexpr int last_of_four = 9;  // up to there the stream stays within the first four diagonals

void idct8(uint8_t* out, ptrdiff_t stride, const BlockRow& row) {
    const Weights16 by(weight_values);
    for (int64_t i = 0; i < row.count; ++i, out += 8) {
        int16_t* block = row.blocks + 64 * i;
        if (row.last[i] == 0) {
            fill8(out, stride, block[0], row.quant[0]);
        } else if (row.last[i] <= last_of_four) {
            corner8(out, stride, block, row.quant, by);
        } else {
            block8(out, stride, block, row.quant, by);
        }
        if (row.clears) std::memset(block, 0, 64 * sizeof(int16_t));
    }
}
