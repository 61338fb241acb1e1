// Eight blocks of words and eight pairs of normals at a time, for draws.inl.

struct Product {
    __m256i high, low;
};

inline Product wide_product(__m256i a, uint32_t factor) {
    const __m256i b = _mm256_set1_epi64x(factor);
    const __m256i even = _mm256_mul_epu32(a, b), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), b);
    return {_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA),
            _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA)};
}

inline void eight_blocks(uint32_t* out, __m256i counter, const StreamId& stream) {
    __m256i c0 = counter, c1 = _mm256_set1_epi32(static_cast<int>(stream.sample));
    __m256i c2 = _mm256_set1_epi32(static_cast<int>(stream.epoch)),
            c3 = _mm256_set1_epi32(static_cast<int>(stream.rest));
    auto low = static_cast<uint32_t>(stream.key), high = static_cast<uint32_t>(stream.key >> 32);
    for (int round = 0; round < 10; ++round) {
        const Product a = wide_product(c0, 0xD2511F53u), b = wide_product(c2, 0xCD9E8D57u);
        c0 = _mm256_xor_si256(_mm256_xor_si256(b.high, c1), _mm256_set1_epi32(static_cast<int>(low)));
        c2 = _mm256_xor_si256(_mm256_xor_si256(a.high, c3), _mm256_set1_epi32(static_cast<int>(high)));
        c1 = b.low;
        c3 = a.low;
        low += 0x9E3779B9u;
        high += 0xBB67AE85u;
    }
    const __m256i low01 = _mm256_unpacklo_epi32(c0, c1), high01 = _mm256_unpackhi_epi32(c0, c1);
    const __m256i low23 = _mm256_unpacklo_epi32(c2, c3), high23 = _mm256_unpackhi_epi32(c2, c3);
    const __m256i b04 = _mm256_unpacklo_epi64(low01, low23), b15 = _mm256_unpackhi_epi64(low01, low23);
    const __m256i b26 = _mm256_unpacklo_epi64(high01, high23), b37 = _mm256_unpackhi_epi64(high01, high23);
    auto* to = reinterpret_cast<__m256i*>(out);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(b04, b15, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(b26, b37, 0x20));
    _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(b04, b15, 0x31));
    _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(b26, b37, 0x31));
}

inline __m256 plus_product(__m256 sum, __m256 a, float b) {
    return _mm256_add_ps(sum, _mm256_mul_ps(a, _mm256_set1_ps(b)));
}
inline __m256 horner(__m256 y, __m256 x, float term) {
    return _mm256_add_ps(_mm256_mul_ps(y, x), _mm256_set1_ps(term));
}

inline __m256 eight_logarithms(__m256 x) {
    const __m256i bits = _mm256_castps_si256(x);
    __m256 exponent = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_srli_epi32(bits, 23), _mm256_set1_epi32(126)));
    __m256 m = _mm256_castsi256_ps(
        _mm256_or_si256(_mm256_and_si256(bits, _mm256_set1_epi32(0x007fffff)), _mm256_set1_epi32(0x3f000000)));
    const __m256 low = _mm256_cmp_ps(m, _mm256_set1_ps(0.707106781186547524f), _CMP_LT_OQ), one = _mm256_set1_ps(1.0f);
    exponent = _mm256_sub_ps(exponent, _mm256_and_ps(low, one));
    m = _mm256_sub_ps(_mm256_add_ps(m, _mm256_and_ps(low, m)), one);
    const __m256 square = _mm256_mul_ps(m, m);
    __m256 y = _mm256_set1_ps(log_terms[0]);
    for (int i = 1; i < 9; ++i) y = horner(y, m, log_terms[i]);
    y = _mm256_mul_ps(_mm256_mul_ps(y, m), square);
    y = plus_product(y, exponent, -2.12194440e-4f);
    y = _mm256_sub_ps(y, _mm256_mul_ps(_mm256_set1_ps(0.5f), square));
    return plus_product(_mm256_add_ps(m, y), exponent, 0.693359375f);
}

inline __m256 eight_radii(__m256i word) {
    const __m256 high = _mm256_cvtepi32_ps(_mm256_srli_epi32(word, 16));
    const __m256 low = _mm256_cvtepi32_ps(_mm256_and_si256(word, _mm256_set1_epi32(0xffff)));
    const __m256 whole = _mm256_add_ps(_mm256_mul_ps(high, _mm256_set1_ps(65536.0f)), low);
    const __m256 share = _mm256_mul_ps(_mm256_add_ps(whole, _mm256_set1_ps(0.5f)), _mm256_set1_ps(0x1p-32f));
    return _mm256_sqrt_ps(_mm256_mul_ps(_mm256_set1_ps(-2.0f), eight_logarithms(share)));
}

struct EightPairs {
    __m256 x, y;
};

// Points of the unit circle, by words for their angles.
inline EightPairs eight_directions(__m256i word) {
    const __m256i quarter = _mm256_srli_epi32(_mm256_add_epi32(word, _mm256_set1_epi32(0x20000000)), 30);
    const __m256i rest = _mm256_sub_epi32(word, _mm256_slli_epi32(quarter, 30));
    const __m256 angle = _mm256_mul_ps(_mm256_cvtepi32_ps(rest), _mm256_set1_ps(word_angle));
    const __m256 square = _mm256_mul_ps(angle, angle);
    __m256 sine = horner(_mm256_set1_ps(sine_terms[0]), square, sine_terms[1]);
    sine = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(horner(sine, square, sine_terms[2]), square), angle), angle);
    __m256 cosine = horner(_mm256_set1_ps(cosine_terms[0]), square, cosine_terms[1]);
    cosine = _mm256_mul_ps(_mm256_mul_ps(horner(cosine, square, cosine_terms[2]), square), square);
    cosine = _mm256_sub_ps(cosine, _mm256_mul_ps(_mm256_set1_ps(0.5f), square));
    cosine = _mm256_add_ps(cosine, _mm256_set1_ps(1.0f));
    const __m256 swap = _mm256_castsi256_ps(_mm256_slli_epi32(quarter, 31));
    __m256 x = _mm256_blendv_ps(cosine, sine, swap), y = _mm256_blendv_ps(sine, cosine, swap);
    // Bit 1 of quarter + 1 and of quarter, moved to the sign.
    const __m256i sign = _mm256_set1_epi32(INT32_MIN), next = _mm256_add_epi32(quarter, _mm256_set1_epi32(1));
    x = _mm256_xor_ps(x, _mm256_castsi256_ps(_mm256_and_si256(_mm256_slli_epi32(next, 30), sign)));
    y = _mm256_xor_ps(y, _mm256_castsi256_ps(_mm256_and_si256(_mm256_slli_epi32(quarter, 30), sign)));
    return {x, y};
}

inline void eight_pairs(float* out, const uint32_t* from, float mean, float deviation) {
    const __m256 a = _mm256_loadu_ps(reinterpret_cast<const float*>(from));
    const __m256 b = _mm256_loadu_ps(reinterpret_cast<const float*>(from + 8));
    const __m256 radius = eight_radii(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)));
    auto [x, y] = eight_directions(_mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD)));
    const __m256 scale = _mm256_set1_ps(deviation), center = _mm256_set1_ps(mean);
    x = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(radius, x), scale), center);
    y = _mm256_add_ps(_mm256_mul_ps(_mm256_mul_ps(radius, y), scale), center);
    _mm256_storeu_ps(out, _mm256_unpacklo_ps(x, y));
    _mm256_storeu_ps(out + 8, _mm256_unpackhi_ps(x, y));
}

// To the nearest byte, as convert<uint8_t> does it.
inline __m256i eight_nearest(__m256 x) {
    x = _mm256_min_ps(_mm256_max_ps(x, _mm256_setzero_ps()), _mm256_set1_ps(255.0f));
    const __m256i whole = _mm256_cvttps_epi32(x);
    const __m256 rest = _mm256_sub_ps(x, _mm256_cvtepi32_ps(whole));
    const __m256 up = _mm256_cmp_ps(rest, _mm256_set1_ps(0.5f), _CMP_GE_OQ);
    return _mm256_sub_epi32(whole, _mm256_castps_si256(up));
}

// Eight pixels of three channels, each multiplied by one number.
inline void speckle_eight(uint8_t* out, const uint8_t* in, const float* noise, float luma) {
    const __m256 eight = _mm256_loadu_ps(noise), part = _mm256_set1_ps(luma);
    const __m256i pixel[3] = {_mm256_setr_epi32(0, 0, 0, 1, 1, 1, 2, 2), _mm256_setr_epi32(2, 3, 3, 3, 4, 4, 4, 5),
                              _mm256_setr_epi32(5, 5, 6, 6, 6, 7, 7, 7)};
    for (int k = 0; k < 3; ++k) {
        const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in + 8 * k));
        const __m256 level = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
        const __m256 own = _mm256_permutevar8x32_ps(eight, pixel[k]);
        const __m256i made = eight_nearest(_mm256_add_ps(level, _mm256_mul_ps(_mm256_mul_ps(level, part), own)));
        const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(made), _mm256_extracti128_si256(made, 1));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 8 * k), _mm_packus_epi16(words, words));
    }
}

// Two pixels of four bytes, and the four normals of each.
inline __m256i grain_two(__m128i bytes, const float* noise, __m256 luma, __m256 color) {
    const __m256 level = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes)), own = _mm256_loadu_ps(noise);
    const __m256 bright = _mm256_mul_ps(_mm256_mul_ps(level, luma), _mm256_permute_ps(own, 0x00));
    const __m256 tint = _mm256_mul_ps(color, _mm256_permute_ps(own, 0xF9));
    return eight_nearest(_mm256_add_ps(_mm256_add_ps(level, bright), tint));
}

// Eight pixels of three channels, with four normals each.
inline void grain_eight(uint8_t* out, const uint8_t* in, const float* noise, float luma, float color) {
    const __m128i spread = _mm_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1);
    const __m128i spread_last = _mm_setr_epi8(4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1);
    const __m128i a = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)), spread);
    const __m128i b = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 8)), spread_last);
    const __m256 part = _mm256_set1_ps(luma), tint = _mm256_set1_ps(color);
    const __m256i first = grain_two(a, noise, part, tint),
                  second = grain_two(_mm_srli_si128(a, 8), noise + 8, part, tint);
    const __m256i third = grain_two(b, noise + 16, part, tint),
                  fourth = grain_two(_mm_srli_si128(b, 8), noise + 24, part, tint);
    __m256i all = _mm256_packus_epi16(_mm256_packs_epi32(first, second), _mm256_packs_epi32(third, fourth));
    all = _mm256_permutevar8x32_epi32(all, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    const __m256i drop =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i three = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(all, drop), join);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(three));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(three, 1));
}
