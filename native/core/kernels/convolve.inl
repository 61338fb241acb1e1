// Included once per SIMD level; AVX2_CODE says which. Sums run over the taps in order in both, without fused
// multiply-adds, so the bits agree.

// The sums of `count` neighboring values of two output rows at x. Row r of the source is row r of the filter for the
// first, and row r - 1 for the second.
template <int count, bool two>
inline void sums_at(float (&first)[count], float (&second)[count], const Window2d& window, int64_t x) {
    for (int i = 0; i < count; ++i) first[i] = second[i] = 0;
    for (int64_t r = 0; r < window.height + (two ? 1 : 0); ++r) {
        const float* weights = window.weights + r * window.width;
        for (int64_t k = 0; k < window.width; ++k) {
            const float* values = window.rows[r] + x + k * window.step;
            if (r < window.height) {
                for (int i = 0; i < count; ++i) first[i] += values[i] * weights[k];
            }
            if (two && r > 0) {
                for (int i = 0; i < count; ++i) second[i] += values[i] * weights[k - window.width];
            }
        }
    }
}

#if AVX2_CODE

struct FourSums {
    __m256 value[4];

    void store(float* out, bool add) {
        for (int i = 0; i < 4; ++i) {
            if (add) value[i] = _mm256_add_ps(_mm256_loadu_ps(out + 8 * i), value[i]);
            _mm256_storeu_ps(out + 8 * i, value[i]);
        }
    }
};

inline void add_row(FourSums& sums, const float* values, const float* weights, const Window2d& window) {
    for (int64_t k = 0; k < window.width; ++k, values += window.step) {
        const __m256 weight = _mm256_set1_ps(weights[k]);
        for (int i = 0; i < 4; ++i) {
            sums.value[i] = _mm256_add_ps(sums.value[i], _mm256_mul_ps(_mm256_loadu_ps(values + 8 * i), weight));
        }
    }
}

inline void add_shared_row(FourSums& first, FourSums& second, const float* values, const float* weights,
                           const Window2d& window) {
    for (int64_t k = 0; k < window.width; ++k, values += window.step) {
        const __m256 weight = _mm256_set1_ps(weights[k]), above = _mm256_set1_ps(weights[k - window.width]);
        for (int i = 0; i < 4; ++i) {
            __m256 value = _mm256_loadu_ps(values + 8 * i);
#if PIXELMILL_BMI2
            __asm__("" : "+x"(value));  // else the compiler loads it twice, and loads are what there are too many of
#endif
            first.value[i] = _mm256_add_ps(first.value[i], _mm256_mul_ps(value, weight));
            second.value[i] = _mm256_add_ps(second.value[i], _mm256_mul_ps(value, above));
        }
    }
}

#endif

template <bool two>
inline void correlate_rows(float* const* out, const Window2d& window, int64_t length, bool add) {
    int64_t x = 0;
#if AVX2_CODE
    for (; x + 32 <= length; x += 32) {
        const __m256 zero = _mm256_setzero_ps();
        FourSums first{{zero, zero, zero, zero}}, second = first;
        add_row(first, window.rows[0] + x, window.weights, window);
        for (int64_t r = 1; r < window.height; ++r) {
            const float* weights = window.weights + r * window.width;
            if (two) {
                add_shared_row(first, second, window.rows[r] + x, weights, window);
            } else {
                add_row(first, window.rows[r] + x, weights, window);
            }
        }
        first.store(out[0] + x, add);
        if (!two) continue;
        add_row(second, window.rows[window.height] + x, window.weights + (window.height - 1) * window.width, window);
        second.store(out[1] + x, add);
    }
#endif
    for (; x + 8 <= length; x += 8) {
        float first[8], second[8];
        sums_at<8, two>(first, second, window, x);
        for (int i = 0; i < 8; ++i) out[0][x + i] = add ? out[0][x + i] + first[i] : first[i];
        for (int i = 0; i < 8 && two; ++i) out[1][x + i] = add ? out[1][x + i] + second[i] : second[i];
    }
    for (; x < length; ++x) {
        float first[1], second[1];
        sums_at<1, two>(first, second, window, x);
        out[0][x] = add ? out[0][x] + first[0] : first[0];
        if (two) out[1][x] = add ? out[1][x] + second[0] : second[0];
    }
}

inline void correlate(float* const* out, int count, const Window2d& window, int64_t length, bool add) {
    if (count == 2) return correlate_rows<true>(out, window, length, add);
    correlate_rows<false>(out, window, length, add);
}

#if AVX2_CODE

// Two sums of 32 bits for each of 16 values: `a` times the low half of `pair`, `b` times its high half. Symmetric
// weights are applied to sums of two values: two bytes, or two numbers with six fraction bits, of at most 2 * 16320,
// which still fit 16 signed bits.
struct SixteenSums {
    __m256i low, high;
    void add(__m256i a, __m256i b, __m256i pair) {
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), pair));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), pair));
    }
    template <int bits>
    __m256i shifted() const {
        return _mm256_packs_epi32(_mm256_srai_epi32(low, bits), _mm256_srai_epi32(high, bits));
    }
};

// Weights k and k + 1; after the last one there is a zero.
inline __m256i weight_pair(const int16_t* weights, int k) {
    int32_t both;
    std::memcpy(&both, weights + k, 4);
    return _mm256_set1_epi32(both);
}

inline __m256i sixteen_bytes(const uint8_t* from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

inline __m256i sixteen_words(const int16_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }

#endif

#if AVX2_CODE

// Both passes return where they stop. `fixed` is the number of pairs of taps, so that their weights stay in registers
// and the loop over them is unrolled; 0 stands for any. An even reach leaves one tap without a partner, whose weight is
// zero: any value will do.
template <int fixed>
inline int64_t blur_rows_by_16(int16_t* out, const uint8_t* const* middle, const int16_t* weights, int reach,
                               int64_t length) {
    const int pairs = fixed > 0 ? fixed : reach / 2 + 1;
    const __m256i half = _mm256_set1_epi32(1 << 7);
    int64_t x = 0;
    for (; x + 16 <= length; x += 16) {
        SixteenSums sums{half, half};
        for (int p = 0; p < pairs; ++p) {
            const int k = 2 * p, next = k < reach ? k + 1 : 0;
            __m256i even = sixteen_bytes(middle[k] + x);
            if (p > 0) even = _mm256_add_epi16(even, sixteen_bytes(middle[-k] + x));
            const __m256i odd = _mm256_add_epi16(sixteen_bytes(middle[next] + x), sixteen_bytes(middle[-next] + x));
            sums.add(even, odd, weight_pair(weights, k));
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x), sums.shifted<8>());
    }
    return x;
}

template <int fixed>
inline int64_t blur_line_by_16(uint8_t* out, const int16_t* middle, const int16_t* weights, int reach, int64_t step,
                               int64_t length) {
    const int pairs = fixed > 0 ? fixed : reach / 2 + 1;
    const __m256i half = _mm256_set1_epi32(1 << 19);
    int64_t x = 0;
    for (; x + 16 <= length; x += 16) {
        SixteenSums sums{half, half};
        const int16_t* here = middle + x;
        for (int p = 0; p < pairs; ++p) {
            const int64_t at = 2 * p * step, next = 2 * p < reach ? at + step : 0;
            __m256i even = sixteen_words(here + at);
            if (p > 0) even = _mm256_add_epi16(even, sixteen_words(here - at));
            const __m256i odd = _mm256_add_epi16(sixteen_words(here + next), sixteen_words(here - next));
            sums.add(even, odd, weight_pair(weights, 2 * p));
        }
        const __m256i words = sums.shifted<20>();
        const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(words, words), 0x08);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + x), _mm256_castsi256_si128(packed));
    }
    return x;
}

template <class Body>
inline int64_t with_pairs(int reach, Body&& body) {
    switch (reach / 2 + 1) {
        case 1: return body(std::integral_constant<int, 1>{});
        case 2: return body(std::integral_constant<int, 2>{});
        case 3: return body(std::integral_constant<int, 3>{});
        case 4: return body(std::integral_constant<int, 4>{});
        default: return body(std::integral_constant<int, 0>{});
    }
}

#endif

inline void blur_rows(int16_t* out, const uint8_t* const* rows, const int16_t* weights, int reach, int64_t length) {
    int64_t x = 0;
    const uint8_t* const* middle = rows + reach;
#if AVX2_CODE
    x = with_pairs(reach, [&](auto pairs) { return blur_rows_by_16<pairs()>(out, middle, weights, reach, length); });
#endif
    for (; x < length; ++x) {
        int32_t sum = middle[0][x] * weights[0] + (1 << 7);
        for (int k = 1; k <= reach; ++k) sum += (middle[k][x] + middle[-k][x]) * weights[k];
        out[x] = static_cast<int16_t>(sum >> 8);
    }
}

inline void blur_line(uint8_t* out, const int16_t* in, const int16_t* weights, int reach, int64_t step,
                      int64_t length) {
    int64_t x = 0;
    const int16_t* middle = in + reach * step;
#if AVX2_CODE
    x = with_pairs(reach,
                   [&](auto pairs) { return blur_line_by_16<pairs()>(out, middle, weights, reach, step, length); });
#endif
    for (; x < length; ++x) {
        int32_t sum = middle[x] * weights[0] + (1 << 19);
        for (int k = 1; k <= reach; ++k) sum += (middle[x + k * step] + middle[x - k * step]) * weights[k];
        out[x] = static_cast<uint8_t>(sum >> 20);
    }
}

inline void load_bytes(float* out, const uint8_t* in, int64_t count) {
    int64_t i = 0;
#if AVX2_CODE
    for (; i + 8 <= count; i += 8) {
        const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + i));
        _mm256_storeu_ps(out + i, _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight)));
    }
#endif
    for (; i < count; ++i) out[i] = static_cast<float>(in[i]);
}

#if AVX2_CODE

inline __m256i rounded_bytes(__m256 sum) {
    const __m256 x = _mm256_min_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), _mm256_set1_ps(255.0f));
    return _mm256_cvttps_epi32(_mm256_add_ps(x, _mm256_set1_ps(0.5f)));
}

inline __m256i joined_bytes(__m256 a, __m256 b, __m256 c, __m256 d) {
    const __m256i low = _mm256_packs_epi32(rounded_bytes(a), rounded_bytes(b));
    const __m256i high = _mm256_packs_epi32(rounded_bytes(c), rounded_bytes(d));
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

#endif

inline void store_bytes(uint8_t* out, const float* in, int64_t count) {
    int64_t i = 0;
#if AVX2_CODE
    for (; i + 32 <= count; i += 32) {
        const __m256i all = joined_bytes(_mm256_loadu_ps(in + i), _mm256_loadu_ps(in + i + 8),
                                         _mm256_loadu_ps(in + i + 16), _mm256_loadu_ps(in + i + 24));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), all);
    }
#endif
    for (; i < count; ++i) {
        float x = in[i] > 0.0f ? in[i] : 0.0f;
        x = x < 255.0f ? x : 255.0f;
        out[i] = static_cast<uint8_t>(static_cast<int32_t>(x + 0.5f));
    }
}

#if AVX2_CODE

struct EightSums {
    __m256 low[4], high[4];
};

// 64 sums at x: enough of them at a time to hide the latency of additions.
inline void correlate_bytes_by_64(uint8_t* out, const float* const* from, const float* weights, int64_t taps,
                                  int64_t x) {
    const __m256 zero = _mm256_setzero_ps();
    EightSums sums{{zero, zero, zero, zero}, {zero, zero, zero, zero}};
    for (int64_t k = 0; k < taps; ++k) {
        const __m256 weight = _mm256_broadcast_ss(weights + k);
        const float* values = from[k] + x;
        for (int i = 0; i < 4; ++i) {
            sums.low[i] = _mm256_add_ps(sums.low[i], _mm256_mul_ps(_mm256_loadu_ps(values + 8 * i), weight));
            sums.high[i] = _mm256_add_ps(sums.high[i], _mm256_mul_ps(_mm256_loadu_ps(values + 32 + 8 * i), weight));
        }
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x),
                        joined_bytes(sums.low[0], sums.low[1], sums.low[2], sums.low[3]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x + 32),
                        joined_bytes(sums.high[0], sums.high[1], sums.high[2], sums.high[3]));
}

#endif

inline void correlate_bytes(uint8_t* out, const float* const* from, const float* weights, int64_t taps,
                            int64_t length) {
    int64_t x = 0;
#if AVX2_CODE
    for (; x + 64 <= length; x += 64) correlate_bytes_by_64(out, from, weights, taps, x);
#endif
    for (; x < length; ++x) {
        float sum = 0;
        for (int64_t k = 0; k < taps; ++k) sum += from[k][x] * weights[k];
        store_bytes(out + x, &sum, 1);
    }
}

inline void correlate_taps(float* out, const float* const* from, const float* weights, int64_t taps, int64_t length) {
    int64_t x = 0;
#if AVX2_CODE
    for (; x + 32 <= length; x += 32) {
        const __m256 zero = _mm256_setzero_ps();
        FourSums sums{{zero, zero, zero, zero}};
        for (int64_t k = 0; k < taps; ++k) {
            const __m256 weight = _mm256_broadcast_ss(weights + k);
            for (int i = 0; i < 4; ++i) {
                const __m256 values = _mm256_loadu_ps(from[k] + x + 8 * i);
                sums.value[i] = _mm256_add_ps(sums.value[i], _mm256_mul_ps(values, weight));
            }
        }
        sums.store(out + x, false);
    }
#endif
    for (; x < length; ++x) {
        float sum = 0;
        for (int64_t k = 0; k < taps; ++k) sum += from[k][x] * weights[k];
        out[x] = sum;
    }
}

inline void widen_bytes(int16_t* out, const uint8_t* in, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int16_t>(in[i] << 7);
}

#if AVX2_CODE

// 64 sums at x. They are of 16 bits, and so are the products, which is half the work of those in float.
inline void correlate_words_by_64(uint8_t* out, const int16_t* const* from, const int16_t* weights, int64_t taps,
                                  int64_t x) {
    const __m256i half = _mm256_set1_epi16(1 << 6);
    __m256i sums[4] = {half, half, half, half};
    for (int64_t k = 0; k < taps; ++k) {
        const __m256i weight = _mm256_set1_epi16(weights[k]);
        for (int i = 0; i < 4; ++i)
            sums[i] = _mm256_add_epi16(sums[i], _mm256_mulhrs_epi16(sixteen_words(from[k] + x + 16 * i), weight));
    }
    for (int i = 0; i < 4; i += 2) {
        const __m256i bytes = _mm256_packus_epi16(_mm256_srai_epi16(sums[i], 7), _mm256_srai_epi16(sums[i + 1], 7));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x + 16 * i), _mm256_permute4x64_epi64(bytes, 0xD8));
    }
}

#endif

inline void correlate_words(uint8_t* out, const int16_t* const* from, const int16_t* weights, int64_t taps,
                            int64_t length) {
    int64_t x = 0;
#if AVX2_CODE
    for (; x + 64 <= length; x += 64) correlate_words_by_64(out, from, weights, taps, x);
#endif
    for (; x < length; ++x) {
        int32_t sum = 1 << 6;
        for (int64_t k = 0; k < taps; ++k) sum += (from[k][x] * weights[k] + (1 << 14)) >> 15;
        out[x] = static_cast<uint8_t>(sum >> 7);
    }
}

constexpr Convolution convolution{correlate,       blur_rows,      blur_line,   load_bytes,     store_bytes,
                                  correlate_bytes, correlate_taps, widen_bytes, correlate_words};
