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

// As `convert<uint8_t>` rounds.
inline void store_two(uint8_t* out, __m256 pixels) {
    const __m256 x = _mm256_min_ps(_mm256_max_ps(pixels, _mm256_setzero_ps()), _mm256_set1_ps(255.0f));
    const __m256i whole = _mm256_cvttps_epi32(x);
    const __m256 rest = _mm256_sub_ps(x, _mm256_cvtepi32_ps(whole));
    const __m256 up = _mm256_cmp_ps(rest, _mm256_set1_ps(0.5f), _CMP_GE_OQ);
    const __m256i rounded = _mm256_sub_epi32(whole, _mm256_castps_si256(up));
    const __m256i words = _mm256_packs_epi32(rounded, rounded), bytes = _mm256_packus_epi16(words, words);
    const int32_t first = _mm256_extract_epi32(bytes, 0), second = _mm256_extract_epi32(bytes, 4);
    std::memcpy(out, &first, 4);
    std::memcpy(out + 3, &second, 4);
}
inline void store_two(float* out, __m256 pixels) {
    _mm_storeu_ps(out, _mm256_castps256_ps128(pixels));
    _mm_storeu_ps(out + 3, _mm256_extractf128_ps(pixels, 1));
}

inline __m256 two_numbers(const float* numbers) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_set1_ps(numbers[0])), _mm_set1_ps(numbers[1]), 1);
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
        for (int k = 0; k < 8; k += 2) {
            const T* first = in.data + at.row[k] * in.row + int64_t{3} * at.column[k];
            const T* second = in.data + at.row[k + 1] * in.row + int64_t{3} * at.column[k + 1];
            const __m256 across = two_numbers(at.across + k), down = two_numbers(at.down + k);
            const __m256 above = between(two_pixels(first, second), two_pixels(first + 3, second + 3), across);
            first += in.row;
            second += in.row;
            const __m256 below = between(two_pixels(first, second), two_pixels(first + 3, second + 3), across);
            store_two(out + 3 * (i + k), between(above, below, down));
        }
    }
#else
    (void)out, (void)in, (void)x, (void)y, (void)count;
#endif
    return i;
}

constexpr LinearThrees linear_loops{linear_threes<uint8_t>, linear_threes<float>};
