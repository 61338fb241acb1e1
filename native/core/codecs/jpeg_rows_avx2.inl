// Upsampling and color conversion of rows of samples, for jpeg_kernels_avx2.cpp.

// 16 samples as 16-bit numbers.
inline __m256i widened(const uint8_t* at) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

inline __m256i tripled(__m256i a) { return _mm256_add_epi16(_mm256_add_epi16(a, a), a); }

// Even and odd samples of 16-bit numbers below 256, interleaved as bytes.
inline void store_interleaved(uint8_t* out, __m256i even, __m256i odd) {
    store(out, _mm256_or_si256(even, _mm256_slli_epi16(odd, 8)));
}

// The triangle filter of libjpeg: 3/4 of the near sample and 1/4 of the far one. Rounding alternates between 1 and 2 (8
// and 7 in two dimensions) so that it has no bias. All sums are below 2^12 and fit 16 bits. A row has a readable sample
// before its first and after its last one, see jpeg_kernels.h.
void upsample_h2v1(uint8_t* out, const uint8_t* in, int64_t count) {
    for (int64_t i = 0; i < count; i += 16) {
        const __m256i middle = tripled(widened(in + i));
        const __m256i left = _mm256_add_epi16(middle, _mm256_add_epi16(widened(in + i - 1), _mm256_set1_epi16(1)));
        const __m256i right = _mm256_add_epi16(middle, _mm256_add_epi16(widened(in + i + 1), _mm256_set1_epi16(2)));
        store_interleaved(out + 2 * i, _mm256_srli_epi16(left, 2), _mm256_srli_epi16(right, 2));
    }
}

void upsample_h2v2(uint8_t* out, const uint8_t* near, const uint8_t* far, int64_t count) {
    const auto column = [&](int64_t i) { return _mm256_add_epi16(tripled(widened(near + i)), widened(far + i)); };
    for (int64_t i = 0; i < count; i += 16) {
        const __m256i middle = tripled(column(i));
        const __m256i left = _mm256_add_epi16(middle, _mm256_add_epi16(column(i - 1), _mm256_set1_epi16(8)));
        const __m256i right = _mm256_add_epi16(middle, _mm256_add_epi16(column(i + 1), _mm256_set1_epi16(7)));
        store_interleaved(out + 2 * i, _mm256_srli_epi16(left, 4), _mm256_srli_epi16(right, 4));
    }
}

void upsample_h1v2(uint8_t* out, const uint8_t* near, const uint8_t* far, int bias, int64_t count) {
    const __m256i add = _mm256_set1_epi16(static_cast<int16_t>(bias));
    for (int64_t i = 0; i < count; i += 16) {
        const __m256i sum = _mm256_add_epi16(_mm256_add_epi16(tripled(widened(near + i)), widened(far + i)), add);
        const __m256i bytes = _mm256_packus_epi16(_mm256_srli_epi16(sum, 2), _mm256_setzero_si256());
        const __m256i packed = _mm256_permute4x64_epi64(bytes, 0b11'01'10'00);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_castsi256_si128(packed));
    }
}

struct Colors {
    __m256i first, green, third;  // bytes of 32 pixels
};

// 91881 / 65536 is 1 + 26345 / 65536, 116130 is 2 - 14942 / 65536, -46802 is -1 + 18734 / 65536: what is left fits 16
// bits. Half a product of twice the number, rounded up, is the rounded product.
inline __m256i fraction(__m256i twice, int16_t by) {
    const __m256i product = _mm256_mulhi_epi16(twice, _mm256_set1_epi16(by));
    return _mm256_srai_epi16(_mm256_add_epi16(product, _mm256_set1_epi16(1)), 1);
}

struct HalfColors {
    __m256i red, green, blue;  // 16-bit numbers of 16 pixels
};

inline HalfColors colors_of(__m256i y, __m256i cb, __m256i cr) {
    const __m256i cb2 = _mm256_add_epi16(cb, cb), cr2 = _mm256_add_epi16(cr, cr);
    const __m256i red = _mm256_add_epi16(_mm256_add_epi16(y, cr), fraction(cr2, 26345));
    const __m256i blue = _mm256_add_epi16(_mm256_add_epi16(y, cb2), fraction(cb2, -14942));
    const Wide green = Pairs(cb, cr).times(-22554, 18734);
    const __m256i part = narrowed<16>(rounded<16>(green));
    return {red, _mm256_add_epi16(_mm256_sub_epi16(y, cr), part), blue};
}

inline Colors convert32(const uint8_t* y, const uint8_t* cb, const uint8_t* cr, bool bgr) {
    const __m256i zero = _mm256_setzero_si256(), center = _mm256_set1_epi16(128);
    const __m256i ys = load(y), cbs = load(cb), crs = load(cr);
    const HalfColors low =
        colors_of(_mm256_unpacklo_epi8(ys, zero), _mm256_sub_epi16(_mm256_unpacklo_epi8(cbs, zero), center),
                  _mm256_sub_epi16(_mm256_unpacklo_epi8(crs, zero), center));
    const HalfColors high =
        colors_of(_mm256_unpackhi_epi8(ys, zero), _mm256_sub_epi16(_mm256_unpackhi_epi8(cbs, zero), center),
                  _mm256_sub_epi16(_mm256_unpackhi_epi8(crs, zero), center));
    const __m256i red = _mm256_packus_epi16(low.red, high.red), green = _mm256_packus_epi16(low.green, high.green),
                  blue = _mm256_packus_epi16(low.blue, high.blue);
    return bgr ? Colors{blue, green, red} : Colors{red, green, blue};
}

// Pixels of four bytes: 0..3 and 16..19, 4..7 and 20..23, 8..11 and 24..27, 12..15 and 28..31.
inline void interleave(__m256i* four, const Colors& colors) {
    const __m256i opaque = _mm256_set1_epi8(-1);
    const __m256i low12 = _mm256_unpacklo_epi8(colors.first, colors.green);
    const __m256i high12 = _mm256_unpackhi_epi8(colors.first, colors.green);
    const __m256i low34 = _mm256_unpacklo_epi8(colors.third, opaque);
    const __m256i high34 = _mm256_unpackhi_epi8(colors.third, opaque);
    four[0] = _mm256_unpacklo_epi16(low12, low34);
    four[1] = _mm256_unpackhi_epi16(low12, low34);
    four[2] = _mm256_unpacklo_epi16(high12, high34);
    four[3] = _mm256_unpackhi_epi16(high12, high34);
}

inline void store32x4(uint8_t* out, const Colors& colors) {
    __m256i four[4];
    interleave(four, colors);
    store(out, _mm256_permute2x128_si256(four[0], four[1], 0x20));
    store(out + 32, _mm256_permute2x128_si256(four[2], four[3], 0x20));
    store(out + 64, _mm256_permute2x128_si256(four[0], four[1], 0x31));
    store(out + 96, _mm256_permute2x128_si256(four[2], four[3], 0x31));
}

// Writes four bytes more than the 96 of the pixels.
inline void store32x3(uint8_t* out, const Colors& colors) {
    __m256i four[4];
    interleave(four, colors);
    const __m256i order = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,  //
                                           0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    for (__m256i& part : four) part = _mm256_shuffle_epi8(part, order);
    for (int i = 0; i < 4; ++i)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 12 * i), _mm256_castsi256_si128(four[i]));
    for (int i = 0; i < 4; ++i)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 48 + 12 * i), _mm256_extracti128_si256(four[i], 1));
}

template <int pixel>
void ycc_row(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count, bool bgr) {
    constexpr int64_t spill = pixel == 3 ? 2 : 0;  // pixels that the last store of 32 writes beyond them
    int64_t i = 0;
    for (; i + 32 + spill <= count; i += 32) {
        const Colors colors = convert32(y + i, cb + i, cr + i, bgr);
        pixel == 4 ? store32x4(out + 4 * i, colors) : store32x3(out + 3 * i, colors);
    }
    for (; i < count; i += 32) {
        alignas(32) uint8_t rest[32 * 4];
        const Colors colors = convert32(y + i, cb + i, cr + i, bgr);
        pixel == 4 ? store32x4(rest, colors) : store32x3(rest, colors);
        const int64_t left = count - i < 32 ? count - i : 32;
        std::memcpy(out + pixel * i, rest, static_cast<size_t>(pixel * left));
    }
}

void ycc_to_pixels(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count,
                   PixelOrder order) {
    const bool bgr = order == PixelOrder::bgr || order == PixelOrder::bgrx;
    bytes_of(order) == 3 ? ycc_row<3>(out, y, cb, cr, count, bgr) : ycc_row<4>(out, y, cb, cr, count, bgr);
}
