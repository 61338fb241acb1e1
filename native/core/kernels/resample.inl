// Included once per SIMD level; AVX2_CODE says which. All sums are of integers, so every level returns the same bytes.
//
// Fixed point: the weights of an output are multiples of 2^-14 that add up to exactly 1, so a constant image stays
// constant. A horizontal sum is at most 255 * 2^14 and keeps `fraction` bits: 255 << 7 fits an int16, and 6 bits leave
// a factor of two for filters with negative weights, whose results are saturated. Vertical sums of int16 * int16 then
// fit 32 bits. Right shifts of negative sums are arithmetic at both levels.

inline int16_t saturated16(int32_t value) {
    return static_cast<int16_t>(value < -32768 ? -32768 : value > 32767 ? 32767 : value);
}

// `fixed_taps` of 0 stands for any number.
template <int step, int channels, int fixed_taps>
inline void horizontal_rows(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                            int fraction) {
    const int shift = weight_bits - fraction, taps = fixed_taps > 0 ? fixed_taps : plan.taps;
    constexpr int cells = channels == 1 ? 1 : 4;
    for (int r = 0; r < rows; ++r) {
        int16_t* to = out[r];
        for (int32_t x = 0; x < plan.count; ++x, to += cells) {
            const uint8_t* pixel = in[r] + int64_t{plan.first[x]} * step;
            const int16_t* weight = plan.fixed + int64_t{x} * plan.stride;
            int32_t sum[cells] = {};
            for (int c = 0; c < channels; ++c) sum[c] = 1 << (shift - 1);
            for (int k = 0; k < taps; ++k) {
                for (int c = 0; c < channels; ++c) sum[c] += pixel[k * step + c] * weight[k];
            }
            for (int c = 0; c < cells; ++c) sum[c] >>= shift;
            if (plan.overshoots) {
                for (int c = 0; c < cells; ++c) sum[c] = saturated16(sum[c]);
            }
            for (int c = 0; c < cells; ++c) to[c] = static_cast<int16_t>(sum[c]);
        }
    }
}

template <int step, int channels>
inline void horizontal_plain(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                             int fraction) {
    switch (plan.taps) {
        case 2: return horizontal_rows<step, channels, 2>(out, in, rows, plan, fraction);
        case 3: return horizontal_rows<step, channels, 3>(out, in, rows, plan, fraction);
        case 4: return horizontal_rows<step, channels, 4>(out, in, rows, plan, fraction);
        default: horizontal_rows<step, channels, 0>(out, in, rows, plan, fraction);
    }
}

#if AVX2_CODE

// Two rows at a time, one in each half of the register: taps k and k + 1 of one channel lie side by side for madd. Each
// load takes 16 bytes where four taps need 12 or 16; ByteResampler::readable sees to it that they can be read, and the
// plan has zero weights for the taps that are not there.
template <int step>
struct TwoRows {
    static __m256i pairs(int from) {
        char order[16];
        for (int c = 0; c < 4; ++c) {
            const bool used = step == 4 || c < 3;
            order[4 * c] = static_cast<char>(used ? from * step + c : -1);
            order[4 * c + 2] = static_cast<char>(used ? (from + 1) * step + c : -1);
            order[4 * c + 1] = order[4 * c + 3] = -1;
        }
        return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(order)));
    }
    static __m256i load(const uint8_t* upper, const uint8_t* lower) {
        return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(upper))),
                                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(lower)), 1);
    }
};

inline void fetch(const uint8_t* line) { __builtin_prefetch(line); }

inline __m256i weight_pair(const int16_t* weight) {
    int32_t both;
    std::memcpy(&both, weight, 4);
    return _mm256_set1_epi32(both);
}

// `quads` groups of four taps; 0 stands for one pair only, -1 for as many as the plan has. Outputs come in twos: the
// plan is padded with copies of its last output, and the rows of the ring to a multiple of 32 values, so an odd count
// needs no tail.
template <int step, int quads>
inline void horizontal_four(int16_t* const* out, const uint8_t* const* in, const AxisPlan& plan, int64_t ahead,
                            int fraction) {
    const int shift = weight_bits - fraction;
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const __m128i bits = _mm_cvtsi32_si128(shift);
    const __m256i front = TwoRows<step>::pairs(0), back = TwoRows<step>::pairs(2);
    const int groups = quads < 0 ? (plan.taps + 3) / 4 : quads;
    for (int32_t x = 0; x < plan.count; x += 2) {
        if (x % 8 == 0) {
            const int64_t next = int64_t{plan.first[x]} * step + ahead;
            for (int r = 0; r < 4; ++r) fetch(in[r] + next);
        }
        __m256i sums[2][2];
        for (int o = 0; o < 2; ++o) {
            const int64_t at = int64_t{plan.first[x + o]} * step;
            const int16_t* weight = plan.fixed + int64_t{x + o} * plan.stride;
            __m256i upper = half, lower = half;
            if constexpr (quads == 0) {
                const __m256i pair = weight_pair(weight);
                upper = _mm256_add_epi32(
                    upper,
                    _mm256_madd_epi16(_mm256_shuffle_epi8(TwoRows<step>::load(in[0] + at, in[1] + at), front), pair));
                lower = _mm256_add_epi32(
                    lower,
                    _mm256_madd_epi16(_mm256_shuffle_epi8(TwoRows<step>::load(in[2] + at, in[3] + at), front), pair));
            }
            for (int g = 0; g < groups; ++g) {
                const __m256i first = weight_pair(weight + 4 * g), second = weight_pair(weight + 4 * g + 2);
                const int64_t from = at + 4 * g * step;
                const __m256i a = TwoRows<step>::load(in[0] + from, in[1] + from);
                const __m256i b = TwoRows<step>::load(in[2] + from, in[3] + from);
                upper = _mm256_add_epi32(upper, _mm256_madd_epi16(_mm256_shuffle_epi8(a, front), first));
                lower = _mm256_add_epi32(lower, _mm256_madd_epi16(_mm256_shuffle_epi8(b, front), first));
                upper = _mm256_add_epi32(upper, _mm256_madd_epi16(_mm256_shuffle_epi8(a, back), second));
                lower = _mm256_add_epi32(lower, _mm256_madd_epi16(_mm256_shuffle_epi8(b, back), second));
            }
            sums[0][o] = _mm256_sra_epi32(upper, bits);
            sums[1][o] = _mm256_sra_epi32(lower, bits);
        }
        for (int h = 0; h < 2; ++h) {
            const __m256i packed = _mm256_packs_epi32(sums[h][0], sums[h][1]);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out[2 * h] + 4 * x), _mm256_castsi256_si128(packed));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out[2 * h + 1] + 4 * x), _mm256_extracti128_si256(packed, 1));
        }
    }
}

template <int step>
inline void horizontal_pixels(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                              int64_t ahead, int fraction) {
    // Missing rows are made twice, which costs less than code for one, two and three rows.
    int16_t* to[4];
    const uint8_t* from[4];
    for (int r = 0; r < 4; ++r) {
        to[r] = out[r < rows ? r : rows - 1];
        from[r] = in[r < rows ? r : rows - 1];
    }
    if (plan.taps <= 2) {
        horizontal_four<step, 0>(to, from, plan, ahead, fraction);
    } else if (plan.taps <= 4) {
        horizontal_four<step, 1>(to, from, plan, ahead, fraction);
    } else if (plan.taps <= 8) {
        horizontal_four<step, 2>(to, from, plan, ahead, fraction);
    } else {
        horizontal_four<step, -1>(to, from, plan, ahead, fraction);
    }
}

#endif

inline void horizontal4(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                        const TapGroup* /*groups*/, int64_t ahead, int fraction) {
#if AVX2_CODE
    horizontal_pixels<4>(out, in, rows, plan, ahead, fraction);
#else
    (void)ahead;
    horizontal_plain<4, 4>(out, in, rows, plan, fraction);
#endif
}

inline void horizontal3(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                        const TapGroup* /*groups*/, int64_t ahead, int fraction) {
#if AVX2_CODE
    horizontal_pixels<3>(out, in, rows, plan, ahead, fraction);
#else
    (void)ahead;
    horizontal_plain<3, 3>(out, in, rows, plan, fraction);
#endif
}

#if AVX2_CODE
// Four taps of four outputs as 16-bit pairs' sums: two sums for each output.
inline __m256i four_outputs(const uint8_t* row, const int32_t* first, const int16_t* weights, int64_t stride, int k) {
    const auto bytes = [&](int o) { return _mm_loadu_si32(row + first[o] + k); };
    const auto weight = [&](int o) {
        return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(weights + o * stride + k));
    };
    const __m128i sixteen =
        _mm_unpacklo_epi64(_mm_unpacklo_epi32(bytes(0), bytes(1)), _mm_unpacklo_epi32(bytes(2), bytes(3)));
    __m256i of_all;
    if (stride == 4) {
        of_all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
    } else {
        of_all = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_unpacklo_epi64(weight(0), weight(1))),
                                         _mm_unpacklo_epi64(weight(2), weight(3)), 1);
    }
    return _mm256_madd_epi16(_mm256_cvtepu8_epi16(sixteen), of_all);
}

template <bool four_taps>
inline void horizontal_gray(int16_t* out, const uint8_t* in, const AxisPlan& plan, int fraction) {
    const int shift = weight_bits - fraction;
    const __m128i bits = _mm_cvtsi32_si128(shift);
    const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
    const int64_t stride = four_taps ? 4 : plan.stride;
    for (int32_t x = 0; x < plan.count; x += 8) {
        const int16_t* weights = plan.fixed + x * stride;
        __m256i low = four_outputs(in, plan.first + x, weights, stride, 0);
        __m256i high = four_outputs(in, plan.first + x + 4, weights + 4 * stride, stride, 0);
        for (int k = 4; k < plan.taps && !four_taps; k += 4) {
            low = _mm256_add_epi32(low, four_outputs(in, plan.first + x, weights, stride, k));
            high = _mm256_add_epi32(high, four_outputs(in, plan.first + x + 4, weights + 4 * stride, stride, k));
        }
        const __m256i eight = _mm256_permute4x64_epi64(_mm256_hadd_epi32(low, high), 0xD8);
        const __m256i rounded = _mm256_sra_epi32(_mm256_add_epi32(eight, half), bits);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + x),
                         _mm_packs_epi32(_mm256_castsi256_si128(rounded), _mm256_extracti128_si256(rounded, 1)));
    }
}
#endif

inline void horizontal1(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                        const TapGroup* /*groups*/, int64_t ahead, int fraction) {
#if AVX2_CODE
    auto* pass = plan.stride == 4 ? horizontal_gray<true> : horizontal_gray<false>;
    for (int r = 0; r < rows; ++r) pass(out[r], in[r], plan, fraction);
#else
    (void)ahead;
    horizontal_plain<1, 1>(out, in, rows, plan, fraction);
#endif
}

#if AVX2_CODE
// mulhrs rounds each product to 16 bits, (a * b + 2^14) >> 15, which halves the work of 32-bit sums. It errs by at most
// half a unit of the last fraction bit per tap, so it is used for few taps only. Weights and rows are not negative
// here, so no product is the one that overflows (-32768 * -32768), and sums stay below 2^15. The plain loop of
// vertical_few rounds each product the same way.
template <int taps>
inline void vertical_rounded(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count,
                             int fraction) {
    const __m256i half = _mm256_set1_epi16(static_cast<int16_t>(1 << (fraction - 2)));
    const __m128i bits = _mm_cvtsi32_si128(fraction - 1);
    __m256i weight[taps];
    for (int k = 0; k < taps; ++k) weight[k] = _mm256_set1_epi16(weights[k]);
    const auto load = [&](int k, int64_t x) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(rows[k] + x));
    };
    for (int64_t x = 0; x < count; x += 32) {
        __m256i low = half, high = half;
        for (int k = 0; k < taps; ++k) {
            low = _mm256_add_epi16(low, _mm256_mulhrs_epi16(load(k, x), weight[k]));
            high = _mm256_add_epi16(high, _mm256_mulhrs_epi16(load(k, x + 16), weight[k]));
        }
        const __m256i bytes = _mm256_packus_epi16(_mm256_sra_epi16(low, bits), _mm256_sra_epi16(high, bits));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x), _mm256_permute4x64_epi64(bytes, 0xD8));
    }
}
#endif

inline void vertical_few(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int taps, int64_t count,
                         int fraction) {
#if AVX2_CODE
    switch (taps) {
        case 1: return vertical_rounded<1>(out, rows, weights, count, fraction);
        case 2: return vertical_rounded<2>(out, rows, weights, count, fraction);
        case 3: return vertical_rounded<3>(out, rows, weights, count, fraction);
        default: return vertical_rounded<4>(out, rows, weights, count, fraction);
    }
#else
    for (int64_t x = 0; x < count; x += 32) {
        int32_t sum[32];
        for (int i = 0; i < 32; ++i) sum[i] = 1 << (fraction - 2);
        for (int k = 0; k < taps; ++k) {
            const int16_t* row = rows[k] + x;
            const int16_t weight = weights[k];
            for (int i = 0; i < 32; ++i) sum[i] += (row[i] * weight + (1 << weight_bits)) >> (weight_bits + 1);
        }
        for (int i = 0; i < 32; ++i) {
            const int32_t value = sum[i] >> (fraction - 1);
            out[x + i] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
        }
    }
#endif
}

// Rows come in pairs for madd; an odd count repeats the last row, with a weight of zero. Rows are aligned to 64 bytes
// and padded to a multiple of 32 values by their owner, and so is `out`.
inline void vertical(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int taps, int64_t count,
                     int fraction) {
    const int shift = weight_bits + fraction, pairs = (taps + 1) / 2;
    for (int64_t x = 0; x < count; x += 32) {
#if AVX2_CODE
        const __m256i half = _mm256_set1_epi32(1 << (shift - 1));
        const __m128i bits = _mm_cvtsi32_si128(shift);
        __m256i sum[4] = {half, half, half, half};
        for (int p = 0; p < pairs; ++p) {
            const __m256i weight = weight_pair(weights + 2 * p);
            for (int h = 0; h < 2; ++h) {
                const __m256i a = _mm256_load_si256(reinterpret_cast<const __m256i*>(rows[2 * p] + x + 16 * h));
                const __m256i b = _mm256_load_si256(reinterpret_cast<const __m256i*>(rows[2 * p + 1] + x + 16 * h));
                sum[2 * h] = _mm256_add_epi32(sum[2 * h], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), weight));
                sum[2 * h + 1] =
                    _mm256_add_epi32(sum[2 * h + 1], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), weight));
            }
        }
        for (auto& four : sum) four = _mm256_sra_epi32(four, bits);
        const __m256i bytes =
            _mm256_packus_epi16(_mm256_packs_epi32(sum[0], sum[1]), _mm256_packs_epi32(sum[2], sum[3]));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x), _mm256_permute4x64_epi64(bytes, 0xD8));
#else
        int32_t sum[32];
        for (int i = 0; i < 32; ++i) sum[i] = 1 << (shift - 1);
        for (int p = 0; p < pairs; ++p) {
            const int16_t *a = rows[2 * p] + x, *b = rows[2 * p + 1] + x;
            const int16_t weight_a = weights[2 * p], weight_b = weights[2 * p + 1];
            for (int i = 0; i < 32; ++i) sum[i] += a[i] * weight_a + b[i] * weight_b;
        }
        for (int i = 0; i < 32; ++i) {
            const int32_t value = sum[i] >> shift;
            out[x + i] = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
        }
#endif
    }
}

inline void widen(int16_t* out, const uint8_t* in, int64_t count, int fraction) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int16_t>(in[i] << fraction);
}

constexpr ByteResampling byte_resampling{4,       horizontal4, horizontal3, horizontal1, vertical, vertical_few,
                                         nullptr, widen,       nullptr};
