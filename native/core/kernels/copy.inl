// Loops that gain by wider registers; included once for each instruction set, see copy.cpp.

// Channels side by side become planes.
template <class T, int channels>
void split_pixels(T* out, int64_t plane, const T* in, int64_t pixels) {
    for (int64_t x = 0; x < pixels; ++x) {
        for (int c = 0; c < channels; ++c) out[c * plane + x] = in[x * channels + c];
    }
}

// Planes become channels side by side.
template <class T, int channels>
void join_planes(T* out, const T* in, int64_t plane, int64_t pixels) {
    for (int64_t x = 0; x < pixels; ++x) {
        for (int c = 0; c < channels; ++c) out[x * channels + c] = in[c * plane + x];
    }
}

// Every second, third… element.
template <class T, int step>
void thin(T* out, const T* in, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i * step];
}

// Parts of one element side by side, as `stack` has them along the last axis.
template <class T, int parts>
void weave(T* __restrict out, const T* const* in, int64_t count) {
    const T* __restrict from[parts];
    for (int k = 0; k < parts; ++k) from[k] = in[k];
    for (int64_t i = 0; i < count; ++i) {
        for (int k = 0; k < parts; ++k) out[i * parts + k] = from[k][i];
    }
}

#if AVX2_CODE
// Eight pixels of 3 or 4 bytes as 4 bytes each, and back. Nothing beyond them is read or written.
template <int step>
inline __m256i load8(const uint8_t* in) {
    if constexpr (step == 4) return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
    const __m256i spread = _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1,  //
                                            4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1);
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 8));
    return _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), spread);
}

template <int step>
inline void store8(uint8_t* out, __m256i pixels) {
    if constexpr (step == 4) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), pixels);
    const __m256i drop =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i three = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(pixels, drop), join);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(three));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(three, 1));
}

// Eight rows of eight pixels become columns.
template <int step>
inline void turn8(uint8_t* out, int64_t out_row, const uint8_t* in, int64_t in_row) {
    __m256i a[8], b[8];
    for (int i = 0; i < 4; ++i) {
        const __m256i even = load8<step>(in + 2 * i * in_row), odd = load8<step>(in + (2 * i + 1) * in_row);
        a[2 * i] = _mm256_unpacklo_epi32(even, odd);
        a[2 * i + 1] = _mm256_unpackhi_epi32(even, odd);
    }
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 2; ++k) {
            b[4 * i + 2 * k] = _mm256_unpacklo_epi64(a[4 * i + k], a[4 * i + k + 2]);
            b[4 * i + 2 * k + 1] = _mm256_unpackhi_epi64(a[4 * i + k], a[4 * i + k + 2]);
        }
    }
    for (int k = 0; k < 4; ++k) {
        store8<step>(out + k * out_row, _mm256_permute2x128_si256(b[k], b[k + 4], 0x20));
        store8<step>(out + (k + 4) * out_row, _mm256_permute2x128_si256(b[k], b[k + 4], 0x31));
    }
}
#endif

// Rows of pixels become columns: pixel c of row r of the result is pixel r of row c.
template <int step>
void turn(uint8_t* out, int64_t out_row, const uint8_t* in, int64_t in_row, int64_t rows, int64_t columns) {
    int64_t turned = 0;  // columns
#if AVX2_CODE
    for (; turned + 8 <= columns && rows >= 8; turned += 8) {
        for (int64_t r = 0; r < rows; r += 8) {
            const int64_t at = r + 8 <= rows ? r : rows - 8;  // the last ones overlap those before
            turn8<step>(out + at * out_row + turned * step, out_row, in + turned * in_row + at * step, in_row);
        }
    }
#endif
    for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = turned; c < columns; ++c)
            std::memcpy(out + r * out_row + c * step, in + c * in_row + r * step, step);
    }
}

// Pixels of three from right to left; `in` is the rightmost one. Returns how many were copied, which leaves the last
// ones: vectors read one element to the left of a pixel and write one to the right of it.
inline int64_t reverse_some(uint8_t* out, const uint8_t* in, int64_t pixels) {
    int64_t x = 0;
#if AVX2_CODE
    const __m128i five = _mm_setr_epi8(13, 14, 15, 10, 11, 12, 7, 8, 9, 4, 5, 6, 1, 2, 3, 0);
    for (; x + 11 <= pixels; x += 10) {
        const uint8_t* const from = in - 3 * x;
        const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from - 13));
        const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from - 28));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x), _mm_shuffle_epi8(first, five));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 3 * x + 15), _mm_shuffle_epi8(second, five));
    }
#else
    (void)out, (void)in, (void)pixels;
#endif
    return x;
}
inline int64_t reverse_some(uint32_t* out, const uint32_t* in, int64_t pixels) {
    int64_t x = 0;
#if AVX2_CODE
    const __m256i ends = _mm256_setr_epi32(5, 6, 7, 2, 3, 4, 7, 0), middle = _mm256_setr_epi32(1, 4, 5, 6, 1, 2, 3, 6),
                  begin = _mm256_setr_epi32(7, 0, 3, 4, 5, 0, 1, 2);
    for (; x + 8 <= pixels; x += 8) {
        const auto* from = reinterpret_cast<const uint8_t*>(in - 3 * x - 21);  // the leftmost of eight pixels
        auto* to = reinterpret_cast<uint8_t*>(out + 3 * x);
        const __m256i a = load8<4>(from), b = load8<4>(from + 32), c = load8<4>(from + 64);
        const __m256i b_end = _mm256_permutevar8x32_epi32(b, ends), c_end = _mm256_permutevar8x32_epi32(c, ends);
        store8<4>(to, _mm256_blend_epi32(c_end, b_end, 0x40));
        const __m256i outer =
            _mm256_blend_epi32(_mm256_permutevar8x32_epi32(c, middle), _mm256_permutevar8x32_epi32(a, middle), 0x80);
        store8<4>(to + 32, _mm256_blend_epi32(_mm256_permutevar8x32_epi32(b, middle), outer, 0x81));
        const __m256i a_begin = _mm256_permutevar8x32_epi32(a, begin), b_begin = _mm256_permutevar8x32_epi32(b, begin);
        store8<4>(to + 64, _mm256_blend_epi32(a_begin, b_begin, 0x02));
    }
#else
    (void)out, (void)in, (void)pixels;
#endif
    return x;
}
template <class T>
int64_t reversed_pixels(T* out, const T* in, int64_t pixels) {
    if constexpr (sizeof(T) == 1 || sizeof(T) == 4) return reverse_some(out, in, pixels);
    return 0;
}

constexpr TurnLoops turn_loops{turn<3>, turn<4>};

template <class T>
constexpr CopyLoops<T> copy_loops{split_pixels<T, 3>, split_pixels<T, 4>, join_planes<T, 3>, thin<T, 2>, thin<T, 3>,
                                  reversed_pixels<T>, weave<T, 2>,        weave<T, 3>,       weave<T, 4>};
