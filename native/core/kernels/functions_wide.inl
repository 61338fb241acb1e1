// The exponential function and the logarithm of float_functions.inl with AVX-512, the same bits for sixteen at a time.

// Magnitudes of floats are in the order of their bits, and those that are no numbers come last.
inline __m512i magnitudes(__m512 x) { return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff)); }

inline __m512 sixteen_exps(__m512 x, __m512 powers) {
    const __m512 shift = _mm512_set1_ps(avx2::eighths);
    const __m512 shifted = _mm512_add_ps(_mm512_mul_ps(x, _mm512_set1_ps(avx2::per_eighth)), shift);
    const __m512 whole = _mm512_sub_ps(shifted, shift);
    const __m512 rough = _mm512_sub_ps(x, _mm512_mul_ps(whole, _mm512_set1_ps(avx2::eighth_high)));
    const __m512 r = _mm512_sub_ps(rough, _mm512_mul_ps(whole, _mm512_set1_ps(avx2::eighth_low)));
    const __m512i bits = _mm512_castps_si512(shifted);
    const __m512 power = _mm512_permutexvar_ps(bits, powers);
    const __m512 slope =
        _mm512_add_ps(_mm512_mul_ps(_mm512_set1_ps(avx2::exp_third), r), _mm512_set1_ps(avx2::exp_second));
    const __m512 tail = _mm512_add_ps(_mm512_mul_ps(slope, _mm512_mul_ps(r, r)), r);
    const __m512i mantissa = _mm512_castps_si512(_mm512_add_ps(_mm512_mul_ps(power, tail), power));
    const __m512i exponent = _mm512_slli_epi32(_mm512_andnot_si512(_mm512_set1_epi32(7), bits), 20);
    return _mm512_castsi512_ps(_mm512_add_epi32(mantissa, exponent));
}

// Rows go to the other level where it is needed: for the last numbers, and for all if one of them is unusual.
inline void exp_row(void* out, const void* a, const void* b, const void* c, int64_t count, unsigned single) {
    auto* to = static_cast<float*>(out);
    const auto* x = static_cast<const float*>(a);
    const __m256d eight = _mm256_castps_pd(_mm256_load_ps(avx2::powers_of_2));  // twice, for indices of four bits
    const __m512 powers = _mm512_castpd_ps(_mm512_insertf64x4(_mm512_castpd256_pd512(eight), eight, 1));
    __m512i largest = _mm512_setzero_si512();
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m512 sixteen = _mm512_loadu_ps(x + i);
        _mm512_storeu_ps(to + i, sixteen_exps(sixteen, powers));
        largest = _mm512_max_epi32(largest, magnitudes(sixteen));
    }
    const __m512i limit = _mm512_set1_epi32(std::bit_cast<int32_t>(avx2::largest_power));
    if (_mm512_cmpgt_epi32_mask(largest, limit) != 0) i = 0;
    avx2::exp_row(to + i, x + i, b, c, count - i, single);
}

template <size_t n>
inline __m512 sixteen_series(__m512 x, const float (&coefficients)[n]) {
    __m512 sum = _mm512_set1_ps(coefficients[0]);
    for (size_t i = 1; i < n; ++i) sum = _mm512_add_ps(_mm512_mul_ps(sum, x), _mm512_set1_ps(coefficients[i]));
    return sum;
}

inline __m512 sixteen_logs(__m512 x) {
    const __m512i low = _mm512_set1_epi32(avx2::root_of_half);
    const __m512i moved =
        _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(avx2::one_bits - avx2::root_of_half));
    const __m512i mantissa = _mm512_add_epi32(_mm512_and_si512(moved, _mm512_set1_epi32(0x007fffff)), low);
    const __m512 r = _mm512_sub_ps(_mm512_castsi512_ps(mantissa), _mm512_set1_ps(1.0f)), z = _mm512_mul_ps(r, r);
    const __m512 exponent = _mm512_cvtepi32_ps(_mm512_sub_epi32(_mm512_srli_epi32(moved, 23), _mm512_set1_epi32(127)));
    const __m512 even = sixteen_series(z, avx2::log_even), odd = sixteen_series(z, avx2::log_odd);
    const __m512 tail = _mm512_mul_ps(_mm512_add_ps(even, _mm512_mul_ps(odd, r)), _mm512_mul_ps(r, z));
    const __m512 small = _mm512_sub_ps(_mm512_add_ps(tail, _mm512_mul_ps(exponent, _mm512_set1_ps(avx2::log_2_low))),
                                       _mm512_mul_ps(_mm512_set1_ps(0.5f), z));
    return _mm512_add_ps(_mm512_add_ps(r, small), _mm512_mul_ps(exponent, _mm512_set1_ps(avx2::log_2_high)));
}

inline void log_row(void* out, const void* a, const void* b, const void* c, int64_t count, unsigned single) {
    auto* to = static_cast<float*>(out);
    const auto* x = static_cast<const float*>(a);
    constexpr float inf = std::numeric_limits<float>::infinity(), least = std::numeric_limits<float>::min();
    const __m512 one = _mm512_set1_ps(1.0f), infinite = _mm512_set1_ps(-inf);
    const __m512i first = _mm512_castps_si512(_mm512_set1_ps(least));
    __m512i lowest = first, highest = first;
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        const __m512 sixteen = _mm512_loadu_ps(x + i);
        const __mmask16 black = _mm512_cmp_ps_mask(sixteen, _mm512_setzero_ps(), _CMP_EQ_OQ);
        const __m512 usual = _mm512_mask_blend_ps(black, sixteen, one);
        _mm512_storeu_ps(to + i, _mm512_mask_blend_ps(black, sixteen_logs(usual), infinite));
        lowest = _mm512_min_epi32(lowest, _mm512_castps_si512(usual));
        highest = _mm512_max_epi32(highest, _mm512_castps_si512(usual));
    }
    const __m512i limit = _mm512_set1_epi32(std::bit_cast<int32_t>(inf));
    if ((_mm512_cmplt_epi32_mask(lowest, first) | _mm512_cmpge_epi32_mask(highest, limit)) != 0) i = 0;
    avx2::log_row(to + i, x + i, b, c, count - i, single);
}
