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
    __m256 sum(int i, __m256 r, __m256 g, __m256 b) const {
        const __m256 two = _mm256_add_ps(_mm256_mul_ps(weight[i][0], r), _mm256_mul_ps(weight[i][1], g));
        return _mm256_add_ps(_mm256_add_ps(two, _mm256_mul_ps(weight[i][2], b)), offset[i]);
    }
    __m256i channel(int i, __m256 r, __m256 g, __m256 b) const { return eight_bytes(sum(i, r, g, b)); }
};

#endif

inline float mixed(const ColorMatrix& m, int i, float r, float g, float b) {
    return ((m.weight[i][0] * r + m.weight[i][1] * g) + m.weight[i][2] * b) + m.offset[i];
}

inline void bytes(uint8_t* out, const uint8_t* in, int64_t pixels, const ColorMatrix& matrix) {
    int64_t x = 0;
#if AVX2_CODE
    const EightColors colors(matrix);
    const __m256i byte = _mm256_set1_epi32(255);
    for (; x + 8 <= pixels; x += 8) {
        const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 4 * x));
        const __m256 r = _mm256_cvtepi32_ps(_mm256_and_si256(four, byte));
        const __m256 g = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(four, 8), byte));
        const __m256 b = _mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(four, 16), byte));
        const __m256i first = colors.channel(0, r, g, b), second = colors.channel(1, r, g, b);
        const __m256i third = colors.channel(2, r, g, b);
        store_three(out + 3 * x, _mm256_or_si256(_mm256_or_si256(first, _mm256_slli_epi32(second, 8)),
                                                 _mm256_slli_epi32(third, 16)));
    }
#endif
    for (; x < pixels; ++x) {
        const float r = in[4 * x], g = in[4 * x + 1], b = in[4 * x + 2];
        for (int i = 0; i < 3; ++i) out[3 * x + i] = byte_of(mixed(matrix, i, r, g, b));
    }
}

#if AVX2_CODE

// Like eight_bytes, but negative numbers are left to the packing, which makes them 0. NaN becomes the lowest integer.
inline __m256i eight_levels(__m256 x) {
    return _mm256_cvttps_epi32(_mm256_add_ps(_mm256_min_ps(_mm256_set1_ps(255.0f), x), _mm256_set1_ps(0.5f)));
}

// One channel of eight pixels of three bytes: four from the first byte of the lower half, four from the fifth of the
// upper half.
inline __m256 channel_of_eight(__m256i pixels, int channel) {
    const __m256i order = _mm256_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1,  //
                                           4, -1, -1, -1, 7, -1, -1, -1, 10, -1, -1, -1, 13, -1, -1, -1);
    const __m256i places = _mm256_add_epi32(order, _mm256_set1_epi32(channel));
    return _mm256_cvtepi32_ps(_mm256_shuffle_epi8(pixels, places));
}

inline void store_eight_colors(uint8_t* out, __m256i red, __m256i green, __m256i blue) {
    const __m256i order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i planes = _mm256_packus_epi16(_mm256_packs_epi32(red, green), _mm256_packs_epi32(blue, blue));
    const __m256i pixels = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(planes, order), join);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(pixels));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(pixels, 1));
}

// Eight levels, each three times.
inline void store_eight_grays(uint8_t* out, __m256i levels) {
    const __m256i order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 0, 0, 4, 4, 4, 8, 8, 8, 12, 12, 12, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i pixels = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(levels, order), join);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(pixels));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(pixels, 1));
}

#endif

// Pixels of three bytes on both sides.
inline void packed_bytes(uint8_t* out, const uint8_t* in, int64_t pixels, const ColorMatrix& matrix) {
    int64_t x = 0;
#if AVX2_CODE
    const EightColors colors(matrix);
    const bool gray = std::memcmp(matrix.weight[0], matrix.weight[1], sizeof matrix.weight[0]) == 0 &&
                      std::memcmp(matrix.weight[0], matrix.weight[2], sizeof matrix.weight[0]) == 0 &&
                      matrix.offset[0] == matrix.offset[1] && matrix.offset[0] == matrix.offset[2];
    for (; x + 8 <= pixels; x += 8) {
        const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * x));
        const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * x + 8));
        const __m256i eight = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        const __m256 r = channel_of_eight(eight, 0), g = channel_of_eight(eight, 1), b = channel_of_eight(eight, 2);
        if (gray) {
            store_eight_grays(out + 3 * x, colors.channel(0, r, g, b));
            continue;
        }
        store_eight_colors(out + 3 * x, eight_levels(colors.sum(0, r, g, b)), eight_levels(colors.sum(1, r, g, b)),
                           eight_levels(colors.sum(2, r, g, b)));
    }
#endif
    for (; x < pixels; ++x) {
        const float r = in[3 * x], g = in[3 * x + 1], b = in[3 * x + 2];
        for (int i = 0; i < 3; ++i) out[3 * x + i] = byte_of(mixed(matrix, i, r, g, b));
    }
}

#if AVX2_CODE

// Of three registers with eight pixels, the lanes of one channel: its places in the three differ, as 3 and 8 have no
// common divisor. Bits of `lanes` are those of the channel in the first, second and third.
template <int first, int second, int third>
inline __m256 one_of_three(const __m256 (&part)[3]) {
    static_assert((first | second | third) == 0xff);
    return _mm256_blend_ps(_mm256_blend_ps(part[0], part[1], second), part[2], third);
}

// A channel has the pixels in an order of its own, which is that of the channel before, moved by one lane.
inline __m256 lanes_moved(__m256 values, __m256i by) { return _mm256_permutevar8x32_ps(values, by); }

inline int64_t floats_by_eight(float* out, const float* in, int64_t pixels, const ColorMatrix& matrix) {
    constexpr int zeroth = 0x49, first = 0x92, second = 0x24;  // lanes whose number leaves this rest when divided by 3
    const EightColors colors(matrix);
    const __m256i one = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0), two = _mm256_setr_epi32(2, 3, 4, 5, 6, 7, 0, 1);
    const __m256i back_one = _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6),
                  back_two = _mm256_setr_epi32(6, 7, 0, 1, 2, 3, 4, 5);
    int64_t x = 0;
    for (; x + 8 <= pixels; x += 8) {
        const float* from = in + 3 * x;
        const __m256 part[3] = {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8), _mm256_loadu_ps(from + 16)};
        const __m256 r = one_of_three<zeroth, first, second>(part);
        const __m256 g = lanes_moved(one_of_three<first, second, zeroth>(part), one);
        const __m256 b = lanes_moved(one_of_three<second, zeroth, first>(part), two);
        const __m256 made[3] = {colors.sum(0, r, g, b), lanes_moved(colors.sum(1, r, g, b), back_one),
                                lanes_moved(colors.sum(2, r, g, b), back_two)};
        // In parentheses, since SIMDe has macros here.
        _mm256_storeu_ps(out + 3 * x, (one_of_three<zeroth, first, second>(made)));
        _mm256_storeu_ps(out + 3 * x + 8, (one_of_three<first, second, zeroth>(made)));
        _mm256_storeu_ps(out + 3 * x + 16, (one_of_three<second, zeroth, first>(made)));
    }
    return x;
}

#endif

inline void floats(float* out, const float* in, int64_t pixels, const ColorMatrix& matrix) {
    int64_t x = 0;
#if AVX2_CODE
    x = floats_by_eight(out, in, pixels, matrix);
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
    bytes,
    packed_bytes,
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
