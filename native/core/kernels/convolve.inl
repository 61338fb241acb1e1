// Included once per SIMD level; AVX2_CODE says which. Sums run over the taps in order in both, without fused
// multiply-adds, so the bits agree.

inline void weigh(float* out, const float* const* rows, const float* weights, int count, int64_t length, bool add) {
    int64_t x = 0;
#if AVX2_CODE
    for (; x + 32 <= length; x += 32) {
        __m256 sum[4];
        const __m256 first = _mm256_set1_ps(weights[0]);
        for (int i = 0; i < 4; ++i) sum[i] = _mm256_mul_ps(_mm256_loadu_ps(rows[0] + x + 8 * i), first);
        for (int k = 1; k < count; ++k) {
            const __m256 weight = _mm256_set1_ps(weights[k]);
            const float* row = rows[k] + x;
            for (int i = 0; i < 4; ++i) sum[i] = _mm256_add_ps(sum[i], _mm256_mul_ps(_mm256_loadu_ps(row + 8 * i), weight));
        }
        for (int i = 0; i < 4; ++i) {
            if (add) sum[i] = _mm256_add_ps(_mm256_loadu_ps(out + x + 8 * i), sum[i]);
            _mm256_storeu_ps(out + x + 8 * i, sum[i]);
        }
    }
#endif
    for (; x + 8 <= length; x += 8) {
        float sum[8];
        for (int i = 0; i < 8; ++i) sum[i] = rows[0][x + i] * weights[0];
        for (int k = 1; k < count; ++k) {
            const float* row = rows[k] + x;
            const float weight = weights[k];
            for (int i = 0; i < 8; ++i) sum[i] += row[i] * weight;
        }
        for (int i = 0; i < 8; ++i) out[x + i] = add ? out[x + i] + sum[i] : sum[i];
    }
    for (; x < length; ++x) {
        float sum = rows[0][x] * weights[0];
        for (int k = 1; k < count; ++k) sum += rows[k][x] * weights[k];
        out[x] = add ? out[x] + sum : sum;
    }
}

#if AVX2_CODE

// Two sums of 32 bits for each of 16 values: `a` times the low half of `pair`, `b` times its high half.
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

inline void blur_line(uint8_t* out, const int16_t* in, const int16_t* weights, int reach, int64_t step, int64_t length) {
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
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(in[i]);
}

inline void store_bytes(uint8_t* out, const float* in, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        float x = in[i] > 0.0f ? in[i] : 0.0f;
        x = x < 255.0f ? x : 255.0f;
        out[i] = static_cast<uint8_t>(static_cast<int32_t>(x + 0.5f));
    }
}

constexpr Convolution convolution{weigh, blur_rows, blur_line, load_bytes, store_bytes};
