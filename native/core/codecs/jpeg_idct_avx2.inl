// Inverse transforms of blocks in pairs, for jpeg_kernels_avx2.cpp.

// transform::eight for all numbers at once, descaled by `bits`.
// Products are exact in 32 bits and rounded only at the end, so libjpeg's sums may be regrouped into pairs for madd,
// two weighted numbers each, without a change of a bit.
template <int bits>
inline void eight(__m256i* r) {
    const Pairs p26(r[2], r[6]);
    const Wide tmp2 = p26.times(fix(0.541196100), fix(0.541196100) - fix(1.847759065));
    const Wide tmp3 = p26.times(fix(0.541196100) + fix(0.765366865), fix(0.541196100));
    const Wide tmp0 = rounded<bits>(shifted<const_bits>(_mm256_add_epi16(r[0], r[4])));
    const Wide tmp1 = rounded<bits>(shifted<const_bits>(_mm256_sub_epi16(r[0], r[4])));

    const Pairs z(_mm256_add_epi16(r[7], r[3]), _mm256_add_epi16(r[5], r[1]));
    const Wide sum3 = z.times(fix(1.175875602) - fix(1.961570560), fix(1.175875602));
    const Wide sum4 = z.times(fix(1.175875602), fix(1.175875602) - fix(0.390180644));
    const Pairs p71(r[7], r[1]), p53(r[5], r[3]);
    const Wide odd0 = p71.times(-fix(0.899976223), fix(1.501321110) - fix(0.899976223)) + sum4;
    const Wide odd1 = p53.times(-fix(2.562915447), fix(3.072711026) - fix(2.562915447)) + sum3;
    const Wide odd2 = p53.times(fix(2.053119869) - fix(2.562915447), -fix(2.562915447)) + sum4;
    const Wide odd3 = p71.times(fix(0.298631336) - fix(0.899976223), -fix(0.899976223)) + sum3;

    const Wide even0 = tmp0 + tmp3, even1 = tmp1 + tmp2, even2 = tmp1 - tmp2, even3 = tmp0 - tmp3;
    r[0] = narrowed<bits>(even0 + odd0);
    r[7] = narrowed<bits>(even0 - odd0);
    r[1] = narrowed<bits>(even1 + odd1);
    r[6] = narrowed<bits>(even1 - odd1);
    r[2] = narrowed<bits>(even2 + odd2);
    r[5] = narrowed<bits>(even2 - odd2);
    r[3] = narrowed<bits>(even3 + odd3);
    r[4] = narrowed<bits>(even3 - odd3);
}

// The same where r[4] to r[7] are zero: a weighted sum of two numbers each for the even and the odd ones.
template <int bits>
inline void eight_of_four(__m256i* r) {
    constexpr int32_t one = 1 << const_bits;
    const Pairs p02(r[0], r[2]), p31(r[3], r[1]);
    const Wide even0 = rounded<bits>(p02.times(one, fix(0.541196100) + fix(0.765366865)));
    const Wide even1 = rounded<bits>(p02.times(one, fix(0.541196100)));
    const Wide even2 = rounded<bits>(p02.times(one, -fix(0.541196100)));
    const Wide even3 = rounded<bits>(p02.times(one, -fix(0.541196100) - fix(0.765366865)));
    const Wide odd0 =
        p31.times(fix(1.175875602), fix(1.501321110) - fix(0.899976223) + fix(1.175875602) - fix(0.390180644));
    const Wide odd1 =
        p31.times(fix(3.072711026) - fix(2.562915447) + fix(1.175875602) - fix(1.961570560), fix(1.175875602));
    const Wide odd2 = p31.times(fix(1.175875602) - fix(2.562915447), fix(1.175875602) - fix(0.390180644));
    const Wide odd3 = p31.times(fix(1.175875602) - fix(1.961570560), fix(1.175875602) - fix(0.899976223));
    r[0] = narrowed<bits>(even0 + odd0);
    r[7] = narrowed<bits>(even0 - odd0);
    r[1] = narrowed<bits>(even1 + odd1);
    r[6] = narrowed<bits>(even1 - odd1);
    r[2] = narrowed<bits>(even2 + odd2);
    r[5] = narrowed<bits>(even2 - odd2);
    r[3] = narrowed<bits>(even3 + odd3);
    r[4] = narrowed<bits>(even3 - odd3);
}

// Rows to columns, 8 x 8 in each half.
inline void transpose8(__m256i* r) {
    __m256i a[8], b[8];
    for (int i = 0; i < 4; ++i) {
        a[2 * i] = _mm256_unpacklo_epi16(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_epi16(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 2; ++k) {
            b[4 * i + 2 * k] = _mm256_unpacklo_epi32(a[4 * i + k], a[4 * i + k + 2]);
            b[4 * i + 2 * k + 1] = _mm256_unpackhi_epi32(a[4 * i + k], a[4 * i + k + 2]);
        }
    }
    for (int k = 0; k < 4; ++k) {
        r[2 * k] = _mm256_unpacklo_epi64(b[k], b[k + 4]);
        r[2 * k + 1] = _mm256_unpackhi_epi64(b[k], b[k + 4]);
    }
}

// The first four columns of eight rows.
inline void transpose_four(__m256i* r) {
    const __m256i a01 = _mm256_unpacklo_epi16(r[0], r[1]), a23 = _mm256_unpacklo_epi16(r[2], r[3]);
    const __m256i a45 = _mm256_unpacklo_epi16(r[4], r[5]), a67 = _mm256_unpacklo_epi16(r[6], r[7]);
    const __m256i upper01 = _mm256_unpacklo_epi32(a01, a23), upper23 = _mm256_unpackhi_epi32(a01, a23);
    const __m256i lower01 = _mm256_unpacklo_epi32(a45, a67), lower23 = _mm256_unpackhi_epi32(a45, a67);
    r[0] = _mm256_unpacklo_epi64(upper01, lower01);
    r[1] = _mm256_unpackhi_epi64(upper01, lower01);
    r[2] = _mm256_unpacklo_epi64(upper23, lower23);
    r[3] = _mm256_unpackhi_epi64(upper23, lower23);
}

// Row `row` of two blocks that follow each other.
inline __m256i row_of(const int16_t* blocks, int row) {
    const auto* a = reinterpret_cast<const __m128i*>(blocks + 8 * row);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_load_si128(a)), _mm_load_si128(a + 8), 1);
}

inline __m256i quant_of(const int16_t* quant, int row) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(quant + 8 * row)));
}

inline void clear_pair(int16_t* blocks) {
    for (int i = 0; i < 128; i += 16)
        _mm256_store_si256(reinterpret_cast<__m256i*>(blocks + i), _mm256_setzero_si256());
}

// Whether the first row, times four, leaves 16 bits. libjpeg-turbo then has other results for blocks that have
// nothing below that row, and the plain code knows which.
inline bool overflows(__m256i first) {
    const __m256i back = _mm256_srai_epi16(_mm256_slli_epi16(first, pass1_bits), pass1_bits);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(back, first)) != -1;
}

// Samples of 16 bits around zero to bytes around 128.
inline __m256i to_bytes(__m256i a, __m256i b) {
    return _mm256_add_epi8(_mm256_packs_epi16(a, b), _mm256_set1_epi8(-128));
}

// Two blocks without anything but their first coefficient.
inline void fill_pair(uint8_t* out, ptrdiff_t stride, const int16_t* blocks, int32_t quant) {
    for (int i = 0; i < 2; ++i, out += 8, blocks += 64) {
        const int32_t middle = transform::wrap(transform::times(transform::wrap(blocks[0] * quant), pass1_bits));
        const uint64_t all = transform::sample(transform::descale(middle, pass1_bits + 3)) * 0x0101010101010101u;
        for (int y = 0; y < 8; ++y) std::memcpy(out + y * stride, &all, sizeof all);
    }
}

// `rows` is 8, or 4 when nothing lies outside of the first four rows and columns.
template <int rows>
inline void pair8(uint8_t* out, ptrdiff_t stride, const int16_t* blocks, const int16_t* quant) {
    __m256i r[8];
    for (int i = 0; i < rows; ++i) r[i] = _mm256_mullo_epi16(row_of(blocks, i), quant_of(quant, i));
    if (overflows(r[0])) [[unlikely]] {
        transform::block8(out, stride, blocks, quant);
        transform::block8(out + 8, stride, blocks + 64, quant);
        return;
    }
    if constexpr (rows == 8) {
        eight<const_bits - pass1_bits>(r);
        transpose8(r);
        eight<const_bits + pass1_bits + 3>(r);
    } else {
        eight_of_four<const_bits - pass1_bits>(r);
        transpose_four(r);
        eight_of_four<const_bits + pass1_bits + 3>(r);
    }
    // Columns to rows, as bytes: column k and k + 1 side by side, then rows of two, four and eight columns.
    const __m256i c01 = to_bytes(r[0], r[1]), c23 = to_bytes(r[2], r[3]), c45 = to_bytes(r[4], r[5]),
                  c67 = to_bytes(r[6], r[7]);
    const __m256i order = _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15,  //
                                           0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    const __m256i p01 = _mm256_shuffle_epi8(c01, order), p23 = _mm256_shuffle_epi8(c23, order),
                  p45 = _mm256_shuffle_epi8(c45, order), p67 = _mm256_shuffle_epi8(c67, order);
    const __m256i upper03 = _mm256_unpacklo_epi16(p01, p23), lower03 = _mm256_unpackhi_epi16(p01, p23);
    const __m256i upper47 = _mm256_unpacklo_epi16(p45, p67), lower47 = _mm256_unpackhi_epi16(p45, p67);
    const __m256i pairs[4] = {_mm256_unpacklo_epi32(upper03, upper47), _mm256_unpackhi_epi32(upper03, upper47),
                              _mm256_unpacklo_epi32(lower03, lower47), _mm256_unpackhi_epi32(lower03, lower47)};
    for (int i = 0; i < 4; ++i) {  // each half holds two rows of its block
        const __m256i both = _mm256_permute4x64_epi64(pairs[i], 0b11'01'10'00);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * i * stride), _mm256_castsi256_si128(both));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + (2 * i + 1) * stride), _mm256_extracti128_si256(both, 1));
    }
}

constexpr int last_of_four = 9;  // up to there the stream stays within the first four diagonals

void idct8(uint8_t* out, ptrdiff_t stride, const BlockRow& row) {
    for (int64_t i = 0; i < row.count; i += 2, out += 16) {
        int16_t* blocks = row.blocks + 64 * i;
        const int last = row.last[i] > row.last[i + 1] ? row.last[i] : row.last[i + 1];
        if (last == 0) {
            fill_pair(out, stride, blocks, row.quant[0]);
            if (row.clears) blocks[0] = blocks[64] = 0;
            continue;
        }
        last <= last_of_four ? pair8<4>(out, stride, blocks, row.quant) : pair8<8>(out, stride, blocks, row.quant);
        if (row.clears) clear_pair(blocks);
    }
}

// transform::four; r[4] does not count, and those after it do not where there are no more than four rows.
template <int bits, int rows>
inline void four(__m256i* out, const __m256i* r) {
    const Wide tmp0 = rounded<bits>(shifted<const_bits + 1>(r[0]));
    const Pairs p31(r[3], r[1]);
    Wide tmp2, odd0 = p31.times(-fix(2.172734803), fix(1.061594337));
    Wide odd2 = p31.times(fix(0.899976223), fix(2.562915447));
    if constexpr (rows == 8) {
        const Pairs p75(r[7], r[5]);
        tmp2 = Pairs(r[2], r[6]).times(fix(1.847759065), -fix(0.765366865));
        odd0 = odd0 + p75.times(-fix(0.211164243), fix(1.451774981));
        odd2 = odd2 + p75.times(-fix(0.509795579), -fix(0.601344887));
    } else {
        tmp2 = Pairs(r[2], _mm256_setzero_si256()).times(fix(1.847759065), 0);
    }
    const Wide upper = tmp0 + tmp2, lower = tmp0 - tmp2;
    out[0] = narrowed<bits>(upper + odd2);
    out[3] = narrowed<bits>(upper - odd2);
    out[1] = narrowed<bits>(lower + odd0);
    out[2] = narrowed<bits>(lower - odd0);
}

// Four rows of eight numbers of two pairs of blocks to columns: the four numbers of a block of the first pair, then
// those of the second one.
inline void transpose_pairs(__m256i* out, const __m256i* a, const __m256i* b) {
    const auto columns = [](__m256i* made, const __m256i* r) {
        const __m256i low01 = _mm256_unpacklo_epi16(r[0], r[1]), low23 = _mm256_unpacklo_epi16(r[2], r[3]);
        const __m256i high01 = _mm256_unpackhi_epi16(r[0], r[1]), high23 = _mm256_unpackhi_epi16(r[2], r[3]);
        made[0] = _mm256_unpacklo_epi32(low01, low23);  // columns 0 and 1, and so on
        made[1] = _mm256_unpackhi_epi32(low01, low23);
        made[2] = _mm256_unpacklo_epi32(high01, high23);
        made[3] = _mm256_unpackhi_epi32(high01, high23);
    };
    __m256i first[4], second[4];
    columns(first, a);
    columns(second, b);
    for (int i = 0; i < 4; ++i) {
        out[2 * i] = _mm256_unpacklo_epi64(first[i], second[i]);
        out[2 * i + 1] = _mm256_unpackhi_epi64(first[i], second[i]);
    }
}

// Whether the plain code has to do it.
template <int rows>
inline bool columns4(__m256i* out, const int16_t* blocks, const int16_t* quant) {
    __m256i r[8];
    for (int i = 0; i < rows; ++i) {
        if (i != 4) r[i] = _mm256_mullo_epi16(row_of(blocks, i), quant_of(quant, i));
    }
    four<const_bits - pass1_bits + 1, rows>(out, r);
    return overflows(r[0]);
}

// Four blocks side by side. `rows` is 8, or 4 when nothing lies outside of the first four rows and columns.
template <int rows>
inline void quad4(uint8_t* out, ptrdiff_t stride, const int16_t* blocks, const int16_t* quant) {
    __m256i a[4], b[4], m[8], c[4];
    const bool plain = columns4<rows>(a, blocks, quant) | columns4<rows>(b, blocks + 128, quant);
    if (plain) [[unlikely]] {
        for (int i = 0; i < 4; ++i) transform::block4(out + 4 * i, stride, blocks + 64 * i, quant);
        return;
    }
    transpose_pairs(m, a, b);
    four<const_bits + pass1_bits + 3 + 1, rows>(c, m);
    // Columns to rows of four bytes: each half has those of two blocks.
    const __m256i low01 = _mm256_unpacklo_epi16(c[0], c[1]), low23 = _mm256_unpacklo_epi16(c[2], c[3]);
    const __m256i high01 = _mm256_unpackhi_epi16(c[0], c[1]), high23 = _mm256_unpackhi_epi16(c[2], c[3]);
    const __m256i first = to_bytes(_mm256_unpacklo_epi32(low01, low23), _mm256_unpackhi_epi32(low01, low23));
    const __m256i second = to_bytes(_mm256_unpacklo_epi32(high01, high23), _mm256_unpackhi_epi32(high01, high23));
    const __m256i upper = _mm256_unpacklo_epi32(first, second), lower = _mm256_unpackhi_epi32(first, second);
    // Rows 0 and 1 of `upper`, 2 and 3 of `lower`, are of blocks 0 and 2 in its lower half, 1 and 3 in its upper one.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i rows01 = _mm256_permutevar8x32_epi32(upper, order),
                  rows23 = _mm256_permutevar8x32_epi32(lower, order);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(rows01));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + stride), _mm256_extracti128_si256(rows01, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 2 * stride), _mm256_castsi256_si128(rows23));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * stride), _mm256_extracti128_si256(rows23, 1));
}

inline bool in_corners(const uint8_t* last) {
    return last[0] <= last_of_four && last[1] <= last_of_four && last[2] <= last_of_four && last[3] <= last_of_four;
}

void idct4(uint8_t* out, ptrdiff_t stride, const BlockRow& row) {
    int64_t i = 0;
    for (; i + 4 <= row.count; i += 4, out += 16) {
        int16_t* blocks = row.blocks + 64 * i;
        in_corners(row.last + i) ? quad4<4>(out, stride, blocks, row.quant) : quad4<8>(out, stride, blocks, row.quant);
        if (!row.clears) continue;
        clear_pair(blocks);
        clear_pair(blocks + 128);
    }
    for (; i < row.count; ++i, out += 4) {
        int16_t* block = row.blocks + 64 * i;
        transform::block4(out, stride, block, row.quant);
        if (row.clears) std::memset(block, 0, 64 * sizeof(int16_t));
    }
}

// transform::two for the columns 0, 1, 3, 5, 7 of a block; the numbers between them are garbage that nothing reads.
inline void one2(uint8_t* out, ptrdiff_t stride, const int16_t* block, const int16_t* quant) {
    const auto row = [&](int i) {
        return _mm_mullo_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(block + 8 * i)),
                               _mm_load_si128(reinterpret_cast<const __m128i*>(quant + 8 * i)));
    };
    const auto by = [](int32_t first, int32_t second) { return _mm256_castsi256_si128(weights(first, second)); };
    const __m128i zero = _mm_setzero_si128(), r1 = row(1), r3 = row(3), r5 = row(5), r7 = row(7), r0 = row(0);
    const __m128i by75 = by(-fix(0.720959822), fix(0.850430095)), by31 = by(-fix(1.272758580), fix(3.624509785));
    constexpr int bits1 = const_bits - pass1_bits + 2, bits2 = const_bits + pass1_bits + 3 + 2;
    __m128i upper[2], lower[2];
    for (int half = 0; half < 2; ++half) {
        const auto pairs = [&](__m128i a, __m128i b) {
            return half == 0 ? _mm_unpacklo_epi16(a, b) : _mm_unpackhi_epi16(a, b);
        };
        const __m128i odd = _mm_add_epi32(_mm_madd_epi16(pairs(r7, r5), by75), _mm_madd_epi16(pairs(r3, r1), by31));
        const __m128i even =
            _mm_add_epi32(_mm_srai_epi32(pairs(zero, r0), 16 - const_bits - 2), _mm_set1_epi32(1 << (bits1 - 1)));
        upper[half] = _mm_srai_epi32(_mm_add_epi32(even, odd), bits1);
        lower[half] = _mm_srai_epi32(_mm_sub_epi32(even, odd), bits1);
    }
    // The odd columns as pairs of 16 bits: (1, 3) and (5, 7), weighted, and added up.
    const __m128i weight =
        _mm_setr_epi16(0, fix(3.624509785), 0, -fix(1.272758580), 0, fix(0.850430095), 0, -fix(0.720959822));
    const auto finish = [&](const __m128i* columns, uint8_t* to) {
        const __m128i products = _mm_madd_epi16(_mm_packs_epi32(columns[0], columns[1]), weight);
        const __m128i halves = _mm_add_epi32(products, _mm_srli_si128(products, 8));
        const int32_t odd = transform::sum(_mm_cvtsi128_si32(halves), _mm_extract_epi32(halves, 1));
        const int32_t even = transform::times(_mm_cvtsi128_si32(columns[0]), const_bits + 2);
        to[0] = transform::sample(transform::descale(transform::sum(even, odd), bits2));
        to[1] = transform::sample(transform::descale(transform::difference(even, odd), bits2));
    };
    finish(upper, out);
    finish(lower, out + stride);
}

// Two rows of one sample a column, for two blocks, one in each half of a register.
struct TwoRows {
    Wide upper, lower;
};

template <int rows>
inline TwoRows columns2(const int16_t* blocks, const int16_t* quant) {
    constexpr int bits = const_bits - pass1_bits + 2;
    const auto row = [&](int i) { return _mm256_mullo_epi16(row_of(blocks, i), quant_of(quant, i)); };
    Wide odd = Pairs(row(3), row(1)).times(-fix(1.272758580), fix(3.624509785));
    if constexpr (rows == 8) odd = odd + Pairs(row(7), row(5)).times(-fix(0.720959822), fix(0.850430095));
    const Wide even = rounded<bits>(shifted<const_bits + 2>(row(0)));
    const Wide upper = even + odd, lower = even - odd;
    return {{_mm256_srai_epi32(upper.low, bits), _mm256_srai_epi32(upper.high, bits)},
            {_mm256_srai_epi32(lower.low, bits), _mm256_srai_epi32(lower.high, bits)}};
}

// Four blocks side by side. After the columns, each half has four rows to finish: the upper and the lower one of one
// block of the first pair, and of one block of the second. `rows` as above.
template <int rows>
inline void quad2(uint8_t* out, ptrdiff_t stride, const int16_t* blocks, const int16_t* quant) {
    constexpr int bits = const_bits + pass1_bits + 3 + 2;
    const TwoRows a = columns2<rows>(blocks, quant), b = columns2<rows>(blocks + 128, quant);
    const __m256i weight = _mm256_broadcastsi128_si256(
        _mm_setr_epi16(0, fix(3.624509785), 0, -fix(1.272758580), 0, fix(0.850430095), 0, -fix(0.720959822)));
    const auto products = [&](Wide row) { return _mm256_madd_epi16(_mm256_packs_epi32(row.low, row.high), weight); };
    const __m256i odd = _mm256_hadd_epi32(_mm256_hadd_epi32(products(a.upper), products(a.lower)),
                                          _mm256_hadd_epi32(products(b.upper), products(b.lower)));
    const __m256i first = _mm256_unpacklo_epi64(_mm256_unpacklo_epi32(a.upper.low, a.lower.low),
                                                _mm256_unpacklo_epi32(b.upper.low, b.lower.low));
    const __m256i even = _mm256_add_epi32(_mm256_slli_epi32(first, const_bits + 2), _mm256_set1_epi32(1 << (bits - 1)));
    const __m256i left = _mm256_srai_epi32(_mm256_add_epi32(even, odd), bits);
    const __m256i right = _mm256_srai_epi32(_mm256_sub_epi32(even, odd), bits);
    const __m256i words = _mm256_packs_epi32(left, right), bytes = to_bytes(words, words);
    // Upper row of the first pair, upper row of the second; then the lower ones.
    const __m256i order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 2, 6, 1, 5, 3, 7, -1, -1, -1, -1, -1, -1, -1, -1));
    const __m256i sorted = _mm256_shuffle_epi8(bytes, order);
    const __m128i both = _mm_unpacklo_epi16(_mm256_castsi256_si128(sorted), _mm256_extracti128_si256(sorted, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out), both);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + stride), _mm_unpackhi_epi64(both, both));
}

void idct2(uint8_t* out, ptrdiff_t stride, const BlockRow& row) {
    int64_t i = 0;
    for (; i + 4 <= row.count; i += 4, out += 8) {
        int16_t* blocks = row.blocks + 64 * i;
        in_corners(row.last + i) ? quad2<4>(out, stride, blocks, row.quant) : quad2<8>(out, stride, blocks, row.quant);
        if (!row.clears) continue;
        clear_pair(blocks);
        clear_pair(blocks + 128);
    }
    for (; i < row.count; ++i, out += 2) {
        int16_t* block = row.blocks + 64 * i;
        one2(out, stride, block, row.quant);
        if (row.clears) std::memset(block, 0, 64 * sizeof(int16_t));
    }
}

void idct1(uint8_t* out, ptrdiff_t, const BlockRow& row) {
    for (int64_t i = 0; i < row.count; ++i) {
        out[i] = transform::block1(row.blocks + 64 * i, row.quant);
        if (row.clears) row.blocks[64 * i] = 0;
    }
}
