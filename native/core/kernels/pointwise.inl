// Included once per SIMD level; AVX2_CODE says which. The plain loops are the definition, vectors only shorten them.

inline void pack3(uint8_t* out, const uint8_t* in, int64_t pixels) {
    int64_t x = 0;
#if AVX2_CODE
    const __m256i drop =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    for (; x + 8 <= pixels; x += 8) {
        const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 4 * x));
        const __m256i three = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(four, drop), join);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x), _mm256_castsi256_si128(three));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 3 * x + 16), _mm256_extracti128_si256(three, 1));
    }
#endif
    for (; x < pixels; ++x) {
        out[3 * x] = in[4 * x];
        out[3 * x + 1] = in[4 * x + 1];
        out[3 * x + 2] = in[4 * x + 2];
    }
}

// The second load begins 8 bytes after the first and not 12, so that it ends with the eighth pixel: nothing past the
// row is read, and its shuffle begins at byte 4.
inline void spread3(uint8_t* out, const uint8_t* in, int64_t pixels) {
    int64_t x = 0;
#if AVX2_CODE
    const __m256i spread = _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,  //
                                            4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1);
    for (; x + 8 <= pixels; x += 8) {
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * x));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * x + 8));
        const __m256i three = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 4 * x), _mm256_shuffle_epi8(three, spread));
    }
#endif
    for (; x < pixels; ++x) {
        out[4 * x] = in[3 * x];
        out[4 * x + 1] = in[3 * x + 1];
        out[4 * x + 2] = in[3 * x + 2];
        out[4 * x + 3] = 0;
    }
}

inline void reverse4(uint8_t* out, const uint8_t* in, int64_t pixels) {
    int64_t x = 0;
#if AVX2_CODE
    const __m256i turn = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
    for (; x + 8 <= pixels; x += 8) {
        const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 4 * (pixels - 8 - x)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 4 * x), _mm256_permutevar8x32_epi32(eight, turn));
    }
#endif
    for (; x < pixels; ++x) std::memcpy(out + 4 * x, in + 4 * (pixels - 1 - x), 4);
}

#if AVX2_CODE
inline __m256 scaled8(__m128i bytes, __m256 subtract, __m256 multiply) {
    const __m256 values = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    return _mm256_mul_ps(_mm256_sub_ps(values, subtract), multiply);
}
#endif

#if AVX2_CODE
template <bool streams>
inline void store8(float* out, __m256 values) {
    streams ? _mm256_stream_ps(out, values) : _mm256_storeu_ps(out, values);
}
#endif

template <bool streams>
inline void planes_of(float* out, int64_t plane, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    int64_t x = 0;
#if AVX2_CODE
    if (channels >= 3) {
        const __m256i byte = _mm256_set1_epi32(255);
        __m256 subtract[4], multiply[4];
        for (int c = 0; c < channels; ++c) {
            subtract[c] = _mm256_set1_ps(scaling.subtract[c]);
            multiply[c] = _mm256_set1_ps(scaling.multiply[c]);
        }
        for (; x + 8 <= pixels; x += 8) {
            const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 4 * x));
            for (int c = 0; c < channels; ++c) {
                const __m256i one = _mm256_and_si256(_mm256_srli_epi32(eight, 8 * c), byte);
                const __m256 values = _mm256_sub_ps(_mm256_cvtepi32_ps(one), subtract[c]);
                store8<streams>(out + c * plane + x, _mm256_mul_ps(values, multiply[c]));
            }
        }
    }
#endif
    for (int c = 0; c < channels; ++c) {
        const float subtract = scaling.subtract[c], multiply = scaling.multiply[c];
        for (int64_t i = x; i < pixels; ++i) {
            out[c * plane + i] = (static_cast<float>(in[4 * i + c]) - subtract) * multiply;
        }
    }
}

inline void to_planes(float* out, int64_t plane, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    planes_of<false>(out, plane, in, pixels, channels, scaling);
}

inline void stream_planes(float* out, int64_t plane, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    const bool aligned = reinterpret_cast<uintptr_t>(out) % 32 == 0 && plane % 8 == 0;
    aligned ? planes_of<true>(out, plane, in, pixels, channels, scaling)
            : planes_of<false>(out, plane, in, pixels, channels, scaling);
}

inline void fence() {
#if AVX2_CODE
    _mm_sfence();
#endif
}

template <int channels>
inline void to_pixels_of(float* out, const uint8_t* in, int64_t pixels, Scaling scaling) {
    int64_t x = 0;
#if AVX2_CODE
    __m256 subtract[channels], multiply[channels];
    for (int group = 0; group < channels; ++group) {
        alignas(32) float s[8], m[8];
        for (int i = 0; i < 8; ++i) {
            s[i] = scaling.subtract[(group * 8 + i) % channels];
            m[i] = scaling.multiply[(group * 8 + i) % channels];
        }
        subtract[group] = _mm256_load_ps(s);
        multiply[group] = _mm256_load_ps(m);
    }
    const __m256i drop =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    for (; x + 8 <= pixels; x += 8) {
        __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 4 * x));
        if (channels == 3) eight = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(eight, drop), join);
        const __m128i low = _mm256_castsi256_si128(eight), high = _mm256_extracti128_si256(eight, 1);
        float* to = out + channels * x;
        _mm256_storeu_ps(to, scaled8(low, subtract[0], multiply[0]));
        _mm256_storeu_ps(to + 8, scaled8(_mm_srli_si128(low, 8), subtract[1], multiply[1]));
        _mm256_storeu_ps(to + 16, scaled8(high, subtract[2], multiply[2]));
        if constexpr (channels == 4) {
            _mm256_storeu_ps(to + 24, scaled8(_mm_srli_si128(high, 8), subtract[3], multiply[3]));
        }
    }
#endif
    for (; x < pixels; ++x) {
        for (int c = 0; c < channels; ++c) {
            out[channels * x + c] = (static_cast<float>(in[4 * x + c]) - scaling.subtract[c]) * scaling.multiply[c];
        }
    }
}

inline void to_pixels(float* out, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    if (channels == 3) return to_pixels_of<3>(out, in, pixels, scaling);
    to_pixels_of<4>(out, in, pixels, scaling);
}

#if AVX2_CODE
// Half away from zero as convert() rounds: adding 0.5 would round 0.49999997 up. So it is twice the value that is cut
// off, exactly, and `to_bytes` rounds half of that up. max comes first with the value as its first operand, which turns
// NaN into 0.
inline __m256i doubled8(const float* in) {
    const __m256 clamped = _mm256_min_ps(_mm256_max_ps(_mm256_loadu_ps(in), _mm256_setzero_ps()), _mm256_set1_ps(255));
    return _mm256_cvttps_epi32(_mm256_add_ps(clamped, clamped));
}
#endif

inline void to_bytes(uint8_t* out, const float* in, int64_t count) {
    int64_t i = 0;
#if AVX2_CODE
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7), zero = _mm256_setzero_si256();
    for (; i + 32 <= count; i += 32) {
        const __m256i low = _mm256_packs_epi32(doubled8(in + i), doubled8(in + i + 8));
        const __m256i high = _mm256_packs_epi32(doubled8(in + i + 16), doubled8(in + i + 24));
        const __m256i bytes = _mm256_packus_epi16(_mm256_avg_epu16(low, zero), _mm256_avg_epu16(high, zero));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_permutevar8x32_epi32(bytes, order));
    }
#endif
    for (; i < count; ++i) out[i] = convert<uint8_t>(in[i]);
}

constexpr PixelRows pixel_rows{pack3, spread3, reverse4, to_planes, stream_planes, fence, to_pixels, to_bytes};
