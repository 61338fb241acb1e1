// Included once per SIMD level; AVX2_CODE says which. The plain loops are the definition, vectors only shorten them.

#if AVX2_CODE

// One channel of eight pixels of three bytes, of which the upper half begins with the fifth byte.
inline __m256i channel_of_eight(__m256i pixels, int channel) {
    const __m256i order = _mm256_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1,  //
                                           4, -1, -1, -1, 7, -1, -1, -1, 10, -1, -1, -1, 13, -1, -1, -1);
    return _mm256_shuffle_epi8(pixels, _mm256_add_epi32(order, _mm256_set1_epi32(channel)));
}

inline __m256i lightened(__m256i levels, __m256i factors) {
    const __m256i sum = _mm256_add_epi32(_mm256_mullo_epi32(levels, factors), _mm256_set1_epi32(128));
    return _mm256_srai_epi32(sum, 8);
}

inline void snow_eight(uint8_t* pixels, const int32_t* factors) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + 8));
    const __m256i eight = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
    const __m256i r = channel_of_eight(eight, 0), g = channel_of_eight(eight, 1), b = channel_of_eight(eight, 2);
    const __m256i darkest = _mm256_min_epi32(_mm256_min_epi32(r, g), b);
    const __m256i brightest = _mm256_max_epi32(_mm256_max_epi32(r, g), b);
    const __m256i own = _mm256_i32gather_epi32(factors, _mm256_add_epi32(darkest, brightest), 4);
    const __m256i planes = _mm256_packus_epi16(_mm256_packs_epi32(lightened(r, own), lightened(g, own)),
                                               _mm256_packs_epi32(lightened(b, own), lightened(b, own)));
    const __m256i order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i made = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(planes, order), join);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(pixels), _mm256_castsi256_si128(made));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(pixels + 16), _mm256_extracti128_si256(made, 1));
}

#endif

inline void snow(uint8_t* pixels, int64_t count, const int32_t* factors) {
    int64_t x = 0;
#if AVX2_CODE
    for (; x + 8 <= count; x += 8) snow_eight(pixels + 3 * x, factors);
#endif
    for (; x < count; ++x) {
        uint8_t* pixel = pixels + 3 * x;
        int32_t low = pixel[0], high = pixel[0];
        for (int c = 1; c < 3; ++c) {
            low = pixel[c] < low ? pixel[c] : low;
            high = pixel[c] > high ? pixel[c] : high;
        }
        const int32_t factor = factors[low + high];
        for (int c = 0; c < 3; ++c) {
            const int32_t lighter = (pixel[c] * factor + 128) >> 8;
            pixel[c] = static_cast<uint8_t>(lighter < 255 ? lighter : 255);
        }
    }
}

inline void mean_of_rows(uint8_t* out, const uint8_t* const* rows, const int32_t* columns, int64_t samples,
                         int64_t width, Divisor by) {
    int64_t x = 0;
#if AVX2_CODE
    // Eight bytes are loaded for each pixel, of which three count: the last three pixels would read beyond the row.
    const __m128i half = _mm_set1_epi16(static_cast<int16_t>(by.half)),
                  factor = _mm_set1_epi16(static_cast<int16_t>(by.factor)), shift = _mm_cvtsi32_si128(by.shift);
    const __m128i drop = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    for (; x + 7 <= width && width >= 16; x += 4) {
        __m128i sums[4] = {half, half, half, half};
        for (int64_t k = 0; k < samples; ++k) {
            const int32_t* from = columns + k * width + x;
            for (int i = 0; i < 4; ++i) {
                const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(rows[k] + from[i]));
                sums[i] = _mm_add_epi16(sums[i], _mm_cvtepu8_epi16(bytes));
            }
        }
        const __m128i first = _mm_mulhi_epu16(_mm_unpacklo_epi64(sums[0], sums[1]), factor);
        const __m128i second = _mm_mulhi_epu16(_mm_unpacklo_epi64(sums[2], sums[3]), factor);
        const __m128i four = _mm_packus_epi16(_mm_srl_epi16(first, shift), _mm_srl_epi16(second, shift));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x), _mm_shuffle_epi8(four, drop));
    }
#endif
    for (; x < width; ++x) {
        uint32_t sums[3] = {};
        for (int64_t k = 0; k < samples; ++k) {
            for (int c = 0; c < 3; ++c) sums[c] += rows[k][columns[k * width + x] + c];
        }
        for (int c = 0; c < 3; ++c) out[3 * x + c] = by.mean(sums[c]);
    }
}

constexpr EffectRows effect_rows{snow, mean_of_rows};
