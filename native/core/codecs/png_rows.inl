// The filters of png_rows.cpp, for one SIMD level. Each pixel needs the one to its left, so what counts is how many
// instructions lie between the two.

inline void add_above(uint8_t* out, const uint8_t* row, const uint8_t* above, int64_t bytes) {
    for (int64_t x = 0; x < bytes; ++x) out[x] = static_cast<uint8_t>(row[x] + above[x]);
}

#if defined(__SSE2__)

inline __m128i load_pixel(const uint8_t* at) {
    int32_t bytes;
    std::memcpy(&bytes, at, 4);
    return _mm_cvtsi32_si128(bytes);
}

template <int bytes>
void store_pixel(uint8_t* at, __m128i pixel) {
    const int32_t word = _mm_cvtsi128_si32(pixel);
    std::memcpy(at, &word, bytes);
}

// mask ? a : b
inline __m128i select(__m128i mask, __m128i a, __m128i b) {
#if AVX2_CODE
    return _mm_blendv_epi8(b, a, mask);
#else
    return _mm_or_si128(_mm_and_si128(mask, a), _mm_andnot_si128(mask, b));
#endif
}

struct AddLeft {
    __m128i left = _mm_setzero_si128();
    __m128i operator()(__m128i x, __m128i) { return left = _mm_add_epi8(left, x); }
};

struct AddAverage {
    __m128i left = _mm_setzero_si128();
    __m128i operator()(__m128i x, __m128i above) {
        // The instruction rounds up.
        const __m128i odd = _mm_and_si128(_mm_xor_si128(left, above), _mm_set1_epi8(1));
        return left = _mm_add_epi8(x, _mm_sub_epi8(_mm_avg_epu8(left, above), odd));
    }
};

// Adds the one of left, above and corner that is nearest to left + above - corner: the smaller of the first two where
// the corner is at least as far above both as they are apart, the larger one where it is as far below, else the corner.
// In 16 bits a channel.
struct AddPaeth {
    __m128i left = _mm_setzero_si128(), corner = _mm_setzero_si128();
    __m128i operator()(__m128i x, __m128i up) {
        const __m128i zero = _mm_setzero_si128(), above = _mm_unpacklo_epi8(up, zero);
        const __m128i triple = _mm_add_epi16(corner, _mm_add_epi16(corner, corner));
        const __m128i bound = _mm_sub_epi16(_mm_sub_epi16(triple, above), left);
        const __m128i low = _mm_min_epi16(left, above), high = _mm_max_epi16(left, above);
        const __m128i upper = select(_mm_cmpgt_epi16(high, bound), corner, low);
        const __m128i nearest = select(_mm_cmpgt_epi16(bound, low), upper, high);
        left = _mm_add_epi8(_mm_unpacklo_epi8(x, zero), nearest);
        corner = above;
        return _mm_packus_epi16(left, left);
    }
};

// Four bytes are read for each pixel, and the channels that are not its own do not matter.
template <int pixel, class Add>
void pixelwise(uint8_t* out, const uint8_t* row, const uint8_t* above, int64_t bytes) {
    constexpr int written = pixel == 3 ? 4 : pixel;
    Add add;
    int64_t x = 0;
    for (; x + pixel < bytes; x += pixel)
        store_pixel<written>(out + x, add(load_pixel(row + x), load_pixel(above + x)));
    if (x < bytes) store_pixel<pixel>(out + x, add(load_pixel(row + x), load_pixel(above + x)));
}

#else

inline uint8_t average(uint8_t left, uint8_t above, uint8_t) { return static_cast<uint8_t>((left + above) >> 1); }

inline uint8_t paeth(uint8_t left, uint8_t above, uint8_t corner) {
    const int low = std::min(left, above), high = std::max(left, above), bound = 3 * corner - (left + above);
    const int upper = high <= bound ? low : corner;
    return static_cast<uint8_t>(bound <= low ? high : upper);
}

template <int pixel, class Predict>
void bytewise(uint8_t* out, const uint8_t* row, const uint8_t* above, int64_t bytes, Predict predict) {
    uint8_t left[pixel] = {}, corner[pixel] = {};
    for (int64_t x = 0; x + pixel <= bytes; x += pixel) {
        for (int c = 0; c < pixel; ++c) {
            const uint8_t up = above[x + c];
            left[c] = static_cast<uint8_t>(row[x + c] + predict(left[c], up, corner[c]));
            corner[c] = up;
            out[x + c] = left[c];
        }
    }
}

template <int pixel, class Add>
void pixelwise(uint8_t* out, const uint8_t* row, const uint8_t* above, int64_t bytes) {
    bytewise<pixel>(out, row, above, bytes, Add::predict);
}
struct AddLeft {
    static uint8_t predict(uint8_t left, uint8_t, uint8_t) { return left; }
};
struct AddAverage {
    static constexpr auto predict = average;
};
struct AddPaeth {
    static constexpr auto predict = paeth;
};

#endif

template <int pixel>
void unfilter_pixels(uint8_t* out, const uint8_t* row, const uint8_t* above, int64_t bytes, int kind) {
    if (kind == 1) return pixelwise<pixel, AddLeft>(out, row, above, bytes);
    if (kind == 3) return pixelwise<pixel, AddAverage>(out, row, above, bytes);
    pixelwise<pixel, AddPaeth>(out, row, above, bytes);
}

inline void unfilter(uint8_t* out, const uint8_t* row, const uint8_t* above, int64_t bytes, int pixel, int kind) {
    if (kind == 0) {
        std::memcpy(out, row, static_cast<size_t>(bytes));
        return;
    }
    if (kind == 2) return add_above(out, row, above, bytes);
    switch (pixel) {
        case 1: return unfilter_pixels<1>(out, row, above, bytes, kind);
        case 2: return unfilter_pixels<2>(out, row, above, bytes, kind);
        case 3: return unfilter_pixels<3>(out, row, above, bytes, kind);
        default: return unfilter_pixels<4>(out, row, above, bytes, kind);
    }
}
