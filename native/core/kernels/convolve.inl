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

inline __m256i weight_pair(const int16_t* weights, int k, int reach) {
    const int second = k < reach ? weights[k + 1] : 0;
    return _mm256_set1_epi32(second << 16 | weights[k]);
}

inline __m256i sixteen_bytes(const uint8_t* from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}

inline __m256i sixteen_words(const int16_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }

#endif

inline void blur_rows(int16_t* out, const uint8_t* const* rows, const int16_t* weights, int reach, int64_t length) {
    int64_t x = 0;
    const uint8_t* const* middle = rows + reach;
#if AVX2_CODE
    for (; x + 16 <= length; x += 16) {
        const __m256i half = _mm256_set1_epi32(1 << 7);
        SixteenSums sums{half, half};
        __m256i even = sixteen_bytes(middle[0] + x);
        for (int k = 0; k <= reach; k += 2) {
            __m256i odd = _mm256_setzero_si256();
            if (k > 0) even = _mm256_add_epi16(sixteen_bytes(middle[k] + x), sixteen_bytes(middle[-k] + x));
            if (k < reach) odd = _mm256_add_epi16(sixteen_bytes(middle[k + 1] + x), sixteen_bytes(middle[-k - 1] + x));
            sums.add(even, odd, weight_pair(weights, k, reach));
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x), sums.shifted<8>());
    }
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
    for (; x + 16 <= length; x += 16) {
        const __m256i half = _mm256_set1_epi32(1 << 19);
        SixteenSums sums{half, half};
        const int16_t* here = middle + x;
        __m256i even = sixteen_words(here);
        for (int k = 0; k <= reach; k += 2) {
            __m256i odd = _mm256_setzero_si256();
            if (k > 0) even = _mm256_add_epi16(sixteen_words(here + k * step), sixteen_words(here - k * step));
            if (k < reach) {
                odd = _mm256_add_epi16(sixteen_words(here + (k + 1) * step), sixteen_words(here - (k + 1) * step));
            }
            sums.add(even, odd, weight_pair(weights, k, reach));
        }
        const __m256i words = sums.shifted<20>();
        const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(words, words), 0x08);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + x), _mm256_castsi256_si128(packed));
    }
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

inline void correlate_bytes(uint8_t* out, const float* const* from, const float* weights, int64_t taps,
                            int64_t length) {
    int64_t x = 0;
#if AVX2_CODE
    for (; x + 32 <= length; x += 32) {
        __m256 a = _mm256_setzero_ps(), b = a, c = a, d = a;
        for (int64_t k = 0; k < taps; ++k) {
            const __m256 weight = _mm256_broadcast_ss(weights + k);
            const float* values = from[k] + x;
            a = _mm256_add_ps(a, _mm256_mul_ps(_mm256_loadu_ps(values), weight));
            b = _mm256_add_ps(b, _mm256_mul_ps(_mm256_loadu_ps(values + 8), weight));
            c = _mm256_add_ps(c, _mm256_mul_ps(_mm256_loadu_ps(values + 16), weight));
            d = _mm256_add_ps(d, _mm256_mul_ps(_mm256_loadu_ps(values + 24), weight));
        }
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + x), joined_bytes(a, b, c, d));
    }
#endif
    for (; x < length; ++x) {
        float sum = 0;
        for (int64_t k = 0; k < taps; ++k) sum += from[k][x] * weights[k];
        store_bytes(out + x, &sum, 1);
    }
}

constexpr Convolution convolution{correlate, blur_rows, blur_line, load_bytes, store_bytes, correlate_bytes};
