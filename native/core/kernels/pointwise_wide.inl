// Passes of pointwise.inl with AVX-512: whole cache lines are written, so that fewer stores wait for the memory.

inline __m512 scaled16(__m512i values, __m512 subtract, __m512 multiply) {
    return _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(values), subtract), multiply);
}

template <bool streams>
inline void store16(float* out, __m512 values) {
    streams ? _mm512_stream_ps(out, values) : _mm512_storeu_ps(out, values);
}

template <bool streams, int channels>
inline void planes_of(float* out, int64_t plane, const uint8_t* in, int64_t pixels, Scaling scaling) {
    const __m512i byte = _mm512_set1_epi32(255);
    __m512 subtract[channels], multiply[channels];
    for (int c = 0; c < channels; ++c) {
        subtract[c] = _mm512_set1_ps(scaling.subtract[c]);
        multiply[c] = _mm512_set1_ps(scaling.multiply[c]);
    }
    int64_t x = 0;
    for (; x + 16 <= pixels; x += 16) {
        const __m512i four = _mm512_loadu_si512(in + 4 * x);
        store16<streams>(out + x, scaled16(_mm512_and_si512(four, byte), subtract[0], multiply[0]));
        for (int c = 1; c < channels; ++c) {
            const __m512i one = _mm512_and_si512(_mm512_srli_epi32(four, 8 * c), byte);
            store16<streams>(out + c * plane + x, scaled16(one, subtract[c], multiply[c]));
        }
    }
    if (x == pixels) return;
    const auto rest = static_cast<__mmask16>((1u << (pixels - x)) - 1);
    const __m512i four = _mm512_maskz_loadu_epi32(rest, in + 4 * x);
    for (int c = 0; c < channels; ++c) {
        const __m512i one = _mm512_and_si512(_mm512_srli_epi32(four, 8 * c), byte);
        _mm512_mask_storeu_ps(out + c * plane + x, rest, scaled16(one, subtract[c], multiply[c]));
    }
}

template <bool streams>
inline void planes_by(float* out, int64_t plane, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    if (channels == 3) return planes_of<streams, 3>(out, plane, in, pixels, scaling);
    if (channels == 4) return planes_of<streams, 4>(out, plane, in, pixels, scaling);
    avx2::planes_of<false>(out, plane, in, pixels, channels, scaling);
}

inline void to_planes(float* out, int64_t plane, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    planes_by<false>(out, plane, in, pixels, channels, scaling);
}

inline void stream_planes(float* out, int64_t plane, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    const bool aligned = reinterpret_cast<uintptr_t>(out) % 64 == 0 && plane % 16 == 0;
    if (!aligned) return avx2::stream_planes(out, plane, in, pixels, channels, scaling);
    planes_by<true>(out, plane, in, pixels, channels, scaling);
}

// As avx2::to_bytes.
inline __m128i bytes16(__m512 values) {
    const __m512 clamped = _mm512_min_ps(_mm512_max_ps(values, _mm512_setzero_ps()), _mm512_set1_ps(255));
    const __m512i doubled = _mm512_cvttps_epi32(_mm512_add_ps(clamped, clamped));
    return _mm512_cvtepi32_epi8(_mm512_srli_epi32(_mm512_add_epi32(doubled, _mm512_set1_epi32(1)), 1));
}

inline void to_bytes(uint8_t* out, const float* in, int64_t count) {
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        for (int part = 0; part < 64; part += 16) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i + part), bytes16(_mm512_loadu_ps(in + i + part)));
        }
    }
    avx2::to_bytes(out + i, in + i, count - i);
}

constexpr PixelRows pixel_rows{avx2::pack3,   avx2::spread3, avx2::reverse4,  to_planes,
                               stream_planes, avx2::fence,   avx2::to_pixels, to_bytes};
