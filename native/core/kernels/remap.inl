// Included once per SIMD level; AVX2_CODE says which.

#if AVX2_CODE

// Two pixels of three values, and one more value after each, as floats.
inline __m256 two_pixels(const uint8_t* first, const uint8_t* second) {
    const __m128i both = _mm_unpacklo_epi32(_mm_loadu_si32(first), _mm_loadu_si32(second));
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(both));
}
inline __m256 two_pixels(const float* first, const float* second) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(first)), _mm_loadu_ps(second), 1);
}

// Which of eight pixels are side by side in one register: for bytes, those that packing leaves in order.
template <class T>
constexpr int first_of(int pair) {
    return sizeof(T) == 1 ? pair : 2 * pair;
}
template <class T>
constexpr int second_of(int pair) {
    return sizeof(T) == 1 ? pair + 4 : 2 * pair + 1;
}

// Half away from zero, as `convert<uint8_t>` rounds: twice the value is cut off, exactly, and half of that rounded up.
inline __m256i doubled(__m256 pixels) {
    const __m256 x = _mm256_min_ps(_mm256_max_ps(pixels, _mm256_setzero_ps()), _mm256_set1_ps(255.0f));
    return _mm256_cvttps_epi32(_mm256_add_ps(x, x));
}
inline void store_eight(uint8_t* out, const __m256 (&pairs)[4]) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_avg_epu16(_mm256_packs_epi32(doubled(pairs[0]), doubled(pairs[1])), zero);
    const __m256i high = _mm256_avg_epu16(_mm256_packs_epi32(doubled(pairs[2]), doubled(pairs[3])), zero);
    const __m256i drop =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
    const __m256i join = _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7);
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(_mm256_packus_epi16(low, high), drop), join);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(bytes));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(bytes, 1));
}
inline void store_eight(float* out, const __m256 (&pairs)[4]) {
    for (int p = 0; p < 4; ++p) {  // in order: each overwrites the value after the one before
        _mm_storeu_ps(out + 6 * p, _mm256_castps256_ps128(pairs[p]));
        _mm_storeu_ps(out + 6 * p + 3, _mm256_extractf128_ps(pairs[p], 1));
    }
}

inline __m256 two_numbers(float first, float second) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_set1_ps(first)), _mm_set1_ps(second), 1);
}

// From `a` to `b`.
inline __m256 between(__m256 a, __m256 b, __m256 part) {
    return _mm256_add_ps(_mm256_mul_ps(a, _mm256_sub_ps(_mm256_set1_ps(1.0f), part)), _mm256_mul_ps(b, part));
}

// Where eight pixels are: their whole coordinates, and the rest.
struct EightPlaces {
    alignas(32) int32_t column[8], row[8];
    alignas(32) float across[8], down[8];
    bool inside;

    // A pixel is read with the value after it, so the last two columns do not count as inside.
    EightPlaces(const float* x, const float* y, int64_t height, int64_t width) {
        const __m256 at_x = _mm256_loadu_ps(x), at_y = _mm256_loadu_ps(y), zero = _mm256_setzero_ps();
        const __m256 low = _mm256_and_ps(_mm256_cmp_ps(at_x, zero, _CMP_GE_OQ), _mm256_cmp_ps(at_y, zero, _CMP_GE_OQ));
        const __m256 right = _mm256_cmp_ps(at_x, _mm256_set1_ps(static_cast<float>(width - 2)), _CMP_LT_OQ);
        const __m256 below = _mm256_cmp_ps(at_y, _mm256_set1_ps(static_cast<float>(height - 1)), _CMP_LT_OQ);
        inside = _mm256_movemask_ps(_mm256_and_ps(low, _mm256_and_ps(right, below))) == 0xff;
        if (!inside) return;
        const __m256 left = _mm256_floor_ps(at_x), top = _mm256_floor_ps(at_y);
        _mm256_store_ps(across, _mm256_sub_ps(at_x, left));
        _mm256_store_ps(down, _mm256_sub_ps(at_y, top));
        _mm256_store_si256(reinterpret_cast<__m256i*>(column), _mm256_cvttps_epi32(left));
        _mm256_store_si256(reinterpret_cast<__m256i*>(row), _mm256_cvttps_epi32(top));
    }
};

#endif

// Pixels of three values between four of the source, eight by eight, until some of eight are near the border or outside
// of it; returns how many. The operations are those of PixelSource::linear in the same order. One value after those
// written is overwritten, so the last pixel is never among them.
template <class T>
int64_t linear_threes(T* out, const PixelRows3<T>& in, const float* x, const float* y, int64_t count) {
    int64_t i = 0;
#if AVX2_CODE
    for (; i + 8 < count; i += 8) {
        const EightPlaces at(x + i, y + i, in.height, in.width);
        if (!at.inside) break;
        const auto place = [&](int k) { return in.data + at.row[k] * in.row + int64_t{3} * at.column[k]; };
        __m256 made[4];
        UNROLL_16
        for (int p = 0; p < 4; ++p) {
            const int one = first_of<T>(p), other = second_of<T>(p);
            const T *first = place(one), *second = place(other);
            const __m256 across = two_numbers(at.across[one], at.across[other]);
            const __m256 above = between(two_pixels(first, second), two_pixels(first + 3, second + 3), across);
            first += in.row;
            second += in.row;
            const __m256 below = between(two_pixels(first, second), two_pixels(first + 3, second + 3), across);
            made[p] = between(above, below, two_numbers(at.down[one], at.down[other]));
        }
        store_eight(out + 3 * i, made);
    }
#else
    (void)out, (void)in, (void)x, (void)y, (void)count;
#endif
    return i;
}

constexpr LinearThrees linear_loops{linear_threes<uint8_t>, linear_threes<float>};
