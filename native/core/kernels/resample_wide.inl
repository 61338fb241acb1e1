// The passes with AVX-512: eight outputs of a row at a time. The bytes are those of the other levels.

// Where the halves of a group differ in their channels, 64 bytes must hold the source pixels of eight outputs, but the
// results of both join without a shuffle. Where they do not, each half has four of the outputs.
struct Span {
    int32_t low, pixels;
};

inline Span span_of(bool near, const AxisPlan& plan, int32_t x, int half) {
    const int32_t* first = plan.first + x + (near ? 0 : 4 * half);
    const int32_t one = first[0], other = first[near ? 7 : 3];  // outputs ascend or descend all the way
    const int32_t low = one < other ? one : other, high = one < other ? other : one;
    return {low, high - low + (plan.taps + 1) / 2 * 2};
}

inline bool reaches(bool near, const AxisPlan& plan, int step) {
    bool all = true;
    for (int32_t x = 0; x < plan.count; x += 8) {
        for (int half = 0; half < 2; ++half) all &= span_of(near, plan, x, half).pixels * step <= 64;
    }
    return all;
}

// Doublewords are channels of outputs, their words the two taps of a pair.
inline void group_pairs(TapGroup& group, const AxisPlan& plan, int step, bool near, int32_t x) {
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m256i stride =
        _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(plan.stride));
    const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(plan.first + x)));
    for (int half = 0; half < 2; ++half) {
        __m512i outputs = _mm512_srli_epi32(numbers, 1);
        __m512i channels = _mm512_slli_epi32(_mm512_and_si512(numbers, _mm512_set1_epi32(1)), 1);
        channels = _mm512_add_epi32(channels, _mm512_set1_epi32(half));
        if (!near) {
            outputs = _mm512_add_epi32(_mm512_srli_epi32(numbers, 2), _mm512_set1_epi32(4 * half));
            channels = _mm512_and_si512(numbers, _mm512_set1_epi32(3));
        }
        const int32_t low = span_of(near, plan, x, half).low;
        group.base[half] = int64_t{low} * step;
        const __m512i from = _mm512_sub_epi32(_mm512_permutexvar_epi32(outputs, first), _mm512_set1_epi32(low));
        __m512i at = _mm512_add_epi32(_mm512_mullo_epi32(from, _mm512_set1_epi32(step)), channels);
        at = _mm512_or_si512(at, _mm512_slli_epi32(_mm512_add_epi32(at, _mm512_set1_epi32(step)), 16));
        _mm512_store_si512(group.places[half], at);
        for (int pair = 0; pair < (plan.taps + 1) / 2; ++pair) {
            const auto* weights = reinterpret_cast<const int*>(plan.fixed + int64_t{x} * plan.stride + 2 * pair);
            const __m512i both = _mm512_castsi256_si512(_mm256_i32gather_epi32(weights, stride, 2));
            _mm512_store_si512(group.weights[pair][half], _mm512_permutexvar_epi32(outputs, both));
        }
    }
}

// Whether all weights are bytes in parts of 2^7, as those of halves, quarters and doubles are: then a sum needs no
// rounding, and four taps are added at once.
inline bool weighs_bytes(const AxisPlan& plan) {
    int32_t all = 0, most = 0;
    for (int64_t i = 0; i < int64_t{plan.count} * plan.stride; ++i) {
        all |= plan.fixed[i];
        most = plan.fixed[i] > most ? plan.fixed[i] : most;
    }
    return (all & 127) == 0 && most <= 127 << 7;
}

// Doublewords are channels of outputs, their bytes four taps.
inline void group_fours(TapGroup& group, const AxisPlan& plan, int step, int32_t x) {
    constexpr int32_t each = 0x01010101;
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i outputs = _mm512_srli_epi32(numbers, 1);
    const __m512i channels = _mm512_slli_epi32(_mm512_and_si512(numbers, _mm512_set1_epi32(1)), 1);
    const __m256i stride =
        _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(plan.stride));
    const int32_t low = span_of(true, plan, x, 0).low;
    group.base[0] = int64_t{low} * step;
    const __m512i first = _mm512_castsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(plan.first + x)));
    const __m512i from = _mm512_sub_epi32(_mm512_permutexvar_epi32(outputs, first), _mm512_set1_epi32(low));
    __m512i at = _mm512_add_epi32(_mm512_mullo_epi32(from, _mm512_set1_epi32(step)), channels);
    at = _mm512_add_epi32(_mm512_mullo_epi32(at, _mm512_set1_epi32(each)), _mm512_set1_epi32(step * 0x03020100));
    _mm512_store_si512(group.places[0], at);
    for (int four = 0; four < (plan.taps + 3) / 4; ++four) {
        const __m512i words = _mm512_i32gather_epi64(stride, plan.fixed + int64_t{x} * plan.stride + 4 * four, 2);
        const __m512i weights = _mm512_castsi256_si512(_mm512_cvtepi16_epi8(_mm512_srai_epi16(words, 7)));
        _mm512_store_si512(group.weights[four][0], _mm512_permutexvar_epi32(outputs, weights));
    }
}

inline bool group_taps(TapGroup* groups, const AxisPlan& plan, int step) {
    const bool near = !plan.overshoots && reaches(true, plan, step), bytes = near && weighs_bytes(plan);
    if (!near && !reaches(false, plan, step)) return false;
    for (int32_t x = 0; x < plan.count; x += 8, ++groups) {
        groups->near = near;
        groups->bytes = bytes;
        if (bytes) {
            group_fours(*groups, plan, step, x);
        } else {
            group_pairs(*groups, plan, step, near, x);
        }
    }
    return true;
}

constexpr int most_rows = 8;  // with more of them, the places and weights of a group are loaded less often

// Places beyond the 64 bytes have no weight.
template <int step, int fours>
inline void horizontal_fours(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                             const TapGroup* groups, int64_t ahead) {
    const __m512i next_channel = _mm512_set1_epi8(1), next_four = _mm512_set1_epi8(4 * step);
    for (int32_t x = 0; x < plan.count; x += 8, ++groups) {
        __m512i places[2][fours], weights[fours];
        for (int f = 0; f < fours; ++f) {
            places[0][f] = f == 0 ? _mm512_load_si512(groups->places[0]) : _mm512_add_epi8(places[0][f - 1], next_four);
            places[1][f] = _mm512_add_epi8(places[0][f], next_channel);
            weights[f] = _mm512_load_si512(groups->weights[f][0]);
        }
        for (int r = 0; r < rows; ++r) {
            const __m512i bytes = _mm512_loadu_si512(in[r] + groups->base[0]);
            avx2::fetch(in[r] + groups->base[0] + ahead);
            __m512i even = _mm512_setzero_si512(), odd = even;
            for (int f = 0; f < fours; ++f) {
                even = _mm512_dpbusd_epi32(even, _mm512_permutexvar_epi8(places[0][f], bytes), weights[f]);
                odd = _mm512_dpbusd_epi32(odd, _mm512_permutexvar_epi8(places[1][f], bytes), weights[f]);
            }
            _mm512_storeu_si512(out[r] + 4 * x, _mm512_or_si512(even, _mm512_slli_epi32(odd, 16)));
        }
    }
}

template <int step, bool near, int pairs>
inline void horizontal_eights(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                              const TapGroup* groups, int64_t ahead, int fraction) {
    const int shift = weight_bits - fraction;
    const __m512i half_up = _mm512_set1_epi32(1 << (shift - 1));
    const __m128i bits = _mm_cvtsi32_si128(shift);
    const __m128i up = _mm_cvtsi32_si128(16 - shift);
    const __m512i upper = _mm512_set1_epi32(-65536);
    // The upper byte of a word is 0. The fourth channel of pixels that have three is any byte, which is not used.
    const __mmask64 lower = 0x5555555555555555u;
    const __m512i natural = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const __m512i next_channel = _mm512_set1_epi8(1), next_pair = _mm512_set1_epi8(2 * step);
    for (int32_t x = 0; x < plan.count; x += 8, ++groups) {
        __m512i places[2][pairs], weights[2][pairs];
        for (int half = 0; half < 2; ++half) {
            places[half][0] = near && half == 1 ? _mm512_add_epi8(places[0][0], next_channel)
                                                : _mm512_load_si512(groups->places[half]);
            for (int p = 1; p < pairs; ++p) places[half][p] = _mm512_add_epi8(places[half][p - 1], next_pair);
            for (int p = 0; p < pairs; ++p) weights[half][p] = _mm512_load_si512(groups->weights[p][near ? 0 : half]);
        }
        for (int r = 0; r < rows; ++r) {
            __m512i sums[2];
            for (int half = 0; half < 2; ++half) {
                const __m512i bytes = _mm512_loadu_si512(in[r] + groups->base[near ? 0 : half]);
                if (half == 0 || !near) avx2::fetch(in[r] + groups->base[half] + ahead);
                sums[half] = half_up;
                for (int p = 0; p < pairs; ++p) {
                    const __m512i words = _mm512_maskz_permutexvar_epi8(lower, places[half][p], bytes);
                    sums[half] = _mm512_dpwssd_epi32(sums[half], words, weights[half][p]);
                }
            }
            __m512i packed;
            if constexpr (near) {
                const __m512i even = _mm512_srl_epi32(sums[0], bits), odd = _mm512_sll_epi32(sums[1], up);
                packed = _mm512_ternarylogic_epi32(even, odd, upper, 0xF8);
            } else {
                packed = _mm512_packs_epi32(_mm512_sra_epi32(sums[0], bits), _mm512_sra_epi32(sums[1], bits));
                packed = _mm512_permutexvar_epi64(natural, packed);
            }
            _mm512_storeu_si512(out[r] + 4 * x, packed);
        }
    }
}

template <int step, bool near>
inline void horizontal_by_pairs(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                                const TapGroup* groups, int64_t ahead, int fraction) {
    switch ((plan.taps + 1) / 2) {
        case 1: return horizontal_eights<step, near, 1>(out, in, rows, plan, groups, ahead, fraction);
        case 2: return horizontal_eights<step, near, 2>(out, in, rows, plan, groups, ahead, fraction);
        case 3: return horizontal_eights<step, near, 3>(out, in, rows, plan, groups, ahead, fraction);
        default: return horizontal_eights<step, near, 4>(out, in, rows, plan, groups, ahead, fraction);
    }
}

template <int step>
inline void horizontal_pixels(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                              const TapGroup* groups, int64_t ahead, int fraction) {
    for (int r = 0; r < rows && groups == nullptr; r += 4)
        avx2::horizontal_pixels<step>(out + r, in + r, rows - r < 4 ? rows - r : 4, plan, ahead, fraction);
    if (groups == nullptr) return;
    if (groups->bytes && plan.taps <= 4) return horizontal_fours<step, 1>(out, in, rows, plan, groups, ahead);
    if (groups->bytes) return horizontal_fours<step, 2>(out, in, rows, plan, groups, ahead);
    if (groups->near) return horizontal_by_pairs<step, true>(out, in, rows, plan, groups, ahead, fraction);
    horizontal_by_pairs<step, false>(out, in, rows, plan, groups, ahead, fraction);
}

inline void horizontal4(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                        const TapGroup* groups, int64_t ahead, int fraction) {
    horizontal_pixels<4>(out, in, rows, plan, groups, ahead, fraction);
}

inline void horizontal3(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                        const TapGroup* groups, int64_t ahead, int fraction) {
    horizontal_pixels<3>(out, in, rows, plan, groups, ahead, fraction);
}

// As avx2::vertical_rounded; rows have a multiple of 64 values.
template <int taps>
inline void vertical_rounded(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count,
                             int fraction) {
    const __m512i half = _mm512_set1_epi16(static_cast<int16_t>(1 << (fraction - 2)));
    const __m128i bits = _mm_cvtsi32_si128(fraction - 1);
    const __m512i natural = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    __m512i weight[taps];
    for (int k = 0; k < taps; ++k) weight[k] = _mm512_set1_epi16(weights[k]);
    for (int64_t x = 0; x < count; x += 64) {
        __m512i low = half, high = half;
        for (int k = 0; k < taps; ++k) {
            low = _mm512_add_epi16(low, _mm512_mulhrs_epi16(_mm512_load_si512(rows[k] + x), weight[k]));
            high = _mm512_add_epi16(high, _mm512_mulhrs_epi16(_mm512_load_si512(rows[k] + x + 32), weight[k]));
        }
        const __m512i bytes = _mm512_packus_epi16(_mm512_sra_epi16(low, bits), _mm512_sra_epi16(high, bits));
        _mm512_storeu_si512(out + x, _mm512_permutexvar_epi64(natural, bytes));
    }
}

inline void vertical_few(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int taps, int64_t count,
                         int fraction) {
    switch (taps) {
        case 1: return vertical_rounded<1>(out, rows, weights, count, fraction);
        case 2: return vertical_rounded<2>(out, rows, weights, count, fraction);
        case 3: return vertical_rounded<3>(out, rows, weights, count, fraction);
        default: return vertical_rounded<4>(out, rows, weights, count, fraction);
    }
}

template <bool streams>
inline void store16(float* out, __m512 values) {
    streams ? _mm512_stream_ps(out, values) : _mm512_storeu_ps(out, values);
}

// As vertical_rounded, which never passes the range of bytes, then pixel_rows().to_planes: sixteen pixels at a time.
template <int taps, bool streams>
inline void planes_rounded(float* out, int64_t plane, const Scaling& scaling, const int16_t* const* rows,
                           const int16_t* weights, int64_t pixels, int fraction) {
    const __m512i half = _mm512_set1_epi16(static_cast<int16_t>(1 << (fraction - 2)));
    const __m128i bits = _mm_cvtsi32_si128(fraction - 1);
    // Words of a channel, four apart, become the lower halves of doublewords.
    const __m512i words = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60);
    const __mmask32 lower = 0x55555555u;
    __m512i weight[taps], places[3];
    __m512 subtract[3], multiply[3];
    for (int k = 0; k < taps; ++k) weight[k] = _mm512_set1_epi16(weights[k]);
    for (int c = 0; c < 3; ++c) {
        places[c] = _mm512_add_epi32(words, _mm512_set1_epi32(c));
        subtract[c] = _mm512_set1_ps(scaling.subtract[c]);
        multiply[c] = _mm512_set1_ps(scaling.multiply[c]);
    }
    for (int64_t x = 0; x < pixels; x += 16) {
        __m512i low = half, high = half;
        for (int k = 0; k < taps; ++k) {
            low = _mm512_add_epi16(low, _mm512_mulhrs_epi16(_mm512_load_si512(rows[k] + 4 * x), weight[k]));
            high = _mm512_add_epi16(high, _mm512_mulhrs_epi16(_mm512_load_si512(rows[k] + 4 * x + 32), weight[k]));
        }
        low = _mm512_srl_epi16(low, bits);
        high = _mm512_srl_epi16(high, bits);
        for (int c = 0; c < 3; ++c) {
            const __m512i one = _mm512_maskz_permutex2var_epi16(lower, low, places[c], high);
            const __m512 values = _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(one), subtract[c]), multiply[c]);
            float* to = out + c * plane + x;
            if (x + 16 <= pixels)
                store16<streams>(to, values);
            else
                _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << (pixels - x)) - 1), values);
        }
    }
}

template <int taps>
inline void planes_of_taps(const FloatPlanes& planes, int64_t y, const int16_t* const* rows, const int16_t* weights,
                           int64_t pixels, int fraction) {
    float* out = planes.data + y * planes.row;
    const bool aligned = reinterpret_cast<uintptr_t>(out) % 64 == 0 && planes.plane % 16 == 0;
    if (planes.streams && aligned)
        return planes_rounded<taps, true>(out, planes.plane, planes.scaling, rows, weights, pixels, fraction);
    planes_rounded<taps, false>(out, planes.plane, planes.scaling, rows, weights, pixels, fraction);
}

inline void planes_few(const FloatPlanes& planes, int64_t y, const int16_t* const* rows, const int16_t* weights,
                       int taps, int64_t pixels, int fraction) {
    switch (taps) {
        case 1: return planes_of_taps<1>(planes, y, rows, weights, pixels, fraction);
        case 2: return planes_of_taps<2>(planes, y, rows, weights, pixels, fraction);
        case 3: return planes_of_taps<3>(planes, y, rows, weights, pixels, fraction);
        default: return planes_of_taps<4>(planes, y, rows, weights, pixels, fraction);
    }
}

inline void vertical(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int taps, int64_t count,
                     int fraction) {
    const int shift = weight_bits + fraction, pairs = (taps + 1) / 2;
    const __m512i half = _mm512_set1_epi32(1 << (shift - 1));
    const __m128i bits = _mm_cvtsi32_si128(shift);
    const __m512i natural = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    for (int64_t x = 0; x < count; x += 64) {
        __m512i sum[4] = {half, half, half, half};
        for (int p = 0; p < pairs; ++p) {
            int32_t both;
            std::memcpy(&both, weights + 2 * p, 4);
            const __m512i weight = _mm512_set1_epi32(both);
            for (int h = 0; h < 2; ++h) {
                const __m512i a = _mm512_load_si512(rows[2 * p] + x + 32 * h);
                const __m512i b = _mm512_load_si512(rows[2 * p + 1] + x + 32 * h);
                sum[2 * h] = _mm512_dpwssd_epi32(sum[2 * h], _mm512_unpacklo_epi16(a, b), weight);
                sum[2 * h + 1] = _mm512_dpwssd_epi32(sum[2 * h + 1], _mm512_unpackhi_epi16(a, b), weight);
            }
        }
        for (auto& some : sum) some = _mm512_sra_epi32(some, bits);
        const __m512i bytes =
            _mm512_packus_epi16(_mm512_packs_epi32(sum[0], sum[1]), _mm512_packs_epi32(sum[2], sum[3]));
        _mm512_storeu_si512(out + x, _mm512_permutexvar_epi64(natural, bytes));
    }
}

constexpr ByteResampling byte_resampling{most_rows,    horizontal4, horizontal3, avx2::horizontal1, vertical,
                                         vertical_few, planes_few,  avx2::widen, group_taps};
