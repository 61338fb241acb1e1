// Included once per SIMD level; AVX2_CODE says which. The plain loops are the definition, vectors only shorten them.

// To a byte: cut to the range, then half a level up.
inline uint8_t byte_of(float x) {
    x = x > 0.0f ? x : 0.0f;
    x = x < 255.0f ? x : 255.0f;
    return static_cast<uint8_t>(static_cast<int32_t>(x + 0.5f));
}

#if AVX2_CODE

inline __m256i eight_bytes(__m256 x) {
    x = _mm256_min_ps(_mm256_max_ps(x, _mm256_setzero_ps()), _mm256_set1_ps(255.0f));
    return _mm256_cvttps_epi32(_mm256_add_ps(x, _mm256_set1_ps(0.5f)));
}

// Eight pixels of 4 bytes, of which the fourth is dropped.
inline void store_three(uint8_t* out, __m256i pixels) {
    const __m256i drop =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i three = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(pixels, drop), join);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(three));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(three, 1));
}

struct EightColors {
    __m256 weight[3][3], offset[3];

    explicit EightColors(const ColorMatrix& matrix) {
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) weight[i][j] = _mm256_set1_ps(matrix.weight[i][j]);
            offset[i] = _mm256_set1_ps(matrix.offset[i]);
        }
    }
    // Rounded and cut at 255, but not at 0: packing does that. Nothing that is no number is 0 as well.
    __m256i channel(int i, __m256 r, __m256 g, __m256 b) const {
        const __m256 two = _mm256_add_ps(_mm256_mul_ps(weight[i][0], r), _mm256_mul_ps(weight[i][1], g));
        const __m256 sum = _mm256_add_ps(_mm256_add_ps(two, _mm256_mul_ps(weight[i][2], b)), offset[i]);
        const __m256 cut = _mm256_min_ps(_mm256_set1_ps(255.0f), sum);  // in this order it keeps what is no number
        return _mm256_cvttps_epi32(_mm256_add_ps(cut, _mm256_set1_ps(0.5f)));
    }
};

// One channel of eight pixels: `order` takes its bytes from the first 16 of 24 and from the last 16.
inline __m256 eight_of(__m256i pixels, __m256i order) { return _mm256_cvtepi32_ps(_mm256_shuffle_epi8(pixels, order)); }

inline __m256 in_both_halves(float a, float b, float c) { return _mm256_setr_ps(a, b, c, 0, a, b, c, 0); }

#endif

inline float mixed(const ColorMatrix& m, int i, float r, float g, float b) {
    return ((m.weight[i][0] * r + m.weight[i][1] * g) + m.weight[i][2] * b) + m.offset[i];
}

template <int step>
inline void bytes(uint8_t* out, const uint8_t* in, int64_t pixels, const ColorMatrix& matrix) {
    int64_t x = 0;
#if AVX2_CODE
    const EightColors colors(matrix);
    constexpr int far = step == 3 ? 4 : 0;  // where the fifth pixel begins in the second half
    __m256i order[3];
    for (int c = 0; c < 3; ++c) {
        alignas(32) int8_t from[32];
        for (int i = 0; i < 32; ++i)
            from[i] = static_cast<int8_t>(i % 4 != 0 ? -1 : (i < 16 ? 0 : far) + i % 16 / 4 * step + c);
        order[c] = _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
    }
    // Four of each channel in each half, to pixels of three bytes.
    const __m256i mix =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    for (; x + 8 <= pixels; x += 8) {
        const uint8_t* const from = in + step * x;
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + (step == 3 ? 8 : 16)));
        const __m256i eight = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        const __m256 r = eight_of(eight, order[0]), g = eight_of(eight, order[1]), b = eight_of(eight, order[2]);
        const __m256i first = colors.channel(0, r, g, b), second = colors.channel(1, r, g, b);
        const __m256i third = colors.channel(2, r, g, b);
        const __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(first, second), _mm256_packs_epi32(third, third));
        const __m256i three = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(packed, mix), join);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x), _mm256_castsi256_si128(three));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 3 * x + 16), _mm256_extracti128_si256(three, 1));
    }
#endif
    for (; x < pixels; ++x) {
        const float r = in[step * x], g = in[step * x + 1], b = in[step * x + 2];
        for (int i = 0; i < 3; ++i) out[3 * x + i] = byte_of(mixed(matrix, i, r, g, b));
    }
}

inline void floats(float* out, const float* in, int64_t pixels, const ColorMatrix& matrix) {
    int64_t x = 0;
#if AVX2_CODE
    // Two pixels, one in each half; the fourth place is written, then overwritten by the next pixel.
    __m256 column[3];
    for (int j = 0; j < 3; ++j)
        column[j] = in_both_halves(matrix.weight[0][j], matrix.weight[1][j], matrix.weight[2][j]);
    const __m256 offset = in_both_halves(matrix.offset[0], matrix.offset[1], matrix.offset[2]);
    for (; x + 3 <= pixels; x += 2) {
        const __m256 two =
            _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(in + 3 * x)), _mm_loadu_ps(in + 3 * x + 3), 1);
        __m256 sum = _mm256_mul_ps(column[0], _mm256_permute_ps(two, 0x00));
        sum = _mm256_add_ps(sum, _mm256_mul_ps(column[1], _mm256_permute_ps(two, 0x55)));
        sum = _mm256_add_ps(_mm256_add_ps(sum, _mm256_mul_ps(column[2], _mm256_permute_ps(two, 0xAA))), offset);
        _mm_storeu_ps(out + 3 * x, _mm256_castps256_ps128(sum));
        _mm_storeu_ps(out + 3 * x + 3, _mm256_extractf128_ps(sum, 1));
    }
#endif
    for (; x < pixels; ++x) {
        const float r = in[3 * x], g = in[3 * x + 1], b = in[3 * x + 2];
        for (int i = 0; i < 3; ++i) out[3 * x + i] = mixed(matrix, i, r, g, b);
    }
}

// 0.299, 0.587 and 0.114 in parts of 2^15.
inline void gray(uint8_t* out, const uint8_t* in, int64_t pixels, bool reversed) {
    const int32_t red = reversed ? 3735 : 9798, green = 19235, blue = reversed ? 9798 : 3735;
    int64_t x = 0;
#if AVX2_CODE
    const __m256i even = _mm256_set1_epi32(0x00ff00ff), outer = _mm256_set1_epi32(blue << 16 | red),
                  middle = _mm256_set1_epi32(green);
    const __m256i half = _mm256_set1_epi32(1 << 14), join = _mm256_setr_epi32(0, 4, 0, 0, 0, 0, 0, 0);
    for (; x + 8 <= pixels; x += 8) {
        const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 4 * x));
        __m256i sum = _mm256_madd_epi16(_mm256_and_si256(four, even), outer);
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_and_si256(_mm256_srli_epi32(four, 8), even), middle));
        sum = _mm256_srli_epi32(_mm256_add_epi32(sum, half), 15);
        const __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(sum, sum), sum);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + x),
                         _mm256_castsi256_si128(_mm256_permutevar8x32_epi32(packed, join)));
    }
#endif
    for (; x < pixels; ++x) {
        out[x] =
            static_cast<uint8_t>((in[4 * x] * red + in[4 * x + 1] * green + in[4 * x + 2] * blue + (1 << 14)) >> 15);
    }
}

inline void reversed(uint8_t* out, const uint8_t* in, int64_t pixels, int64_t step) {
    int64_t x = 0;
#if AVX2_CODE
    // Five pixels of three bytes; the sixteenth byte is written, then overwritten by the next pixel.
    const __m128i five = _mm_setr_epi8(2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 15);
    for (; step == 3 && x + 11 <= pixels; x += 10) {
        const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * x));
        const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * x + 15));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x), _mm_shuffle_epi8(first, five));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x + 15), _mm_shuffle_epi8(second, five));
    }
    const __m256i turn =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(2, 1, 0, 3, 6, 5, 4, 7, 10, 9, 8, 11, 14, 13, 12, 15));
    for (; step == 4 && x + 8 <= pixels; x += 8) {
        const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 4 * x));
        store_three(out + 3 * x, _mm256_shuffle_epi8(eight, turn));
    }
#endif
    for (; x < pixels; ++x) {
        for (int i = 0; i < 3; ++i) out[3 * x + i] = in[step * x + 2 - i];
    }
}

inline void spread(uint8_t* out, const uint8_t* in, int64_t pixels, int neutral) {
    int64_t x = 0;
#if AVX2_CODE
    __m128i order[3], rest[3];
    for (int part = 0; part < 3; ++part) {
        alignas(16) int8_t from[16], filling[16];
        for (int i = 0; i < 16; ++i) {
            const int at = 16 * part + i;
            const bool copied = neutral < 0 || at % 3 == 0;
            from[i] = static_cast<int8_t>(copied ? at / 3 : -1);
            filling[i] = static_cast<int8_t>(copied ? 0 : neutral);
        }
        order[part] = _mm_load_si128(reinterpret_cast<const __m128i*>(from));
        rest[part] = _mm_load_si128(reinterpret_cast<const __m128i*>(filling));
    }
    for (; x + 16 <= pixels; x += 16) {
        const __m128i sixteen = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + x));
        for (int part = 0; part < 3; ++part) {
            const __m128i spread = _mm_or_si128(_mm_shuffle_epi8(sixteen, order[part]), rest[part]);
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x + 16 * part), spread);
        }
    }
#endif
    for (; x < pixels; ++x) {
        const auto other = static_cast<uint8_t>(neutral < 0 ? in[x] : neutral);
        out[3 * x] = in[x];
        out[3 * x + 1] = out[3 * x + 2] = other;
    }
}

template <class Out, class In>
inline void multiply_add(void* out, const void* in, int64_t count, float factor, float addend) {
    auto* to = static_cast<Out*>(out);
    const auto* from = static_cast<const In*>(in);
    for (int64_t i = 0; i < count; ++i) to[i] = convert<Out>(static_cast<float>(from[i]) * factor + addend);
}

inline void multiply_add_bytes(void* out, const void* in, int64_t count, float factor, float addend) {
    auto* to = static_cast<uint8_t*>(out);
    const auto* from = static_cast<const uint8_t*>(in);
    int64_t i = 0;
#if AVX2_CODE
    const __m256 multiply = _mm256_set1_ps(factor), add = _mm256_set1_ps(addend);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    for (; i + 32 <= count; i += 32) {
        __m256i part[4];
        for (int k = 0; k < 4; ++k) {
            const __m128i eight = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from + i + 8 * k));
            const __m256 x = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight));
            part[k] = eight_bytes(_mm256_add_ps(_mm256_mul_ps(x, multiply), add));
        }
        const __m256i low = _mm256_packs_epi32(part[0], part[1]), high = _mm256_packs_epi32(part[2], part[3]);
        const __m256i all = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), all);
    }
#endif
    for (; i < count; ++i) to[i] = byte_of(static_cast<float>(from[i]) * factor + addend);
}

constexpr ColorRows color_rows{
    bytes<3>,
    bytes<4>,
    floats,
    gray,
    reversed,
    spread,
    {{multiply_add_bytes, multiply_add<uint8_t, int16_t>, multiply_add<uint8_t, int32_t>, multiply_add<uint8_t, float>},
     {multiply_add<int16_t, uint8_t>, multiply_add<int16_t, int16_t>, multiply_add<int16_t, int32_t>,
      multiply_add<int16_t, float>},
     {multiply_add<int32_t, uint8_t>, multiply_add<int32_t, int16_t>, multiply_add<int32_t, int32_t>,
      multiply_add<int32_t, float>},
     {multiply_add<float, uint8_t>, multiply_add<float, int16_t>, multiply_add<float, int32_t>,
      multiply_add<float, float>}}};
