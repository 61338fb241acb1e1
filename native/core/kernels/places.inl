// Included once per SIMD level: the compiler makes vectors of the loops.

inline void project_row(float* x, float* y, const double* m, int64_t at, int64_t width) {
    const auto down = static_cast<double>(at);
    for (int32_t i = 0; i < static_cast<int32_t>(width); ++i) {
        const auto across = static_cast<double>(i);
        const double divisor = m[6] * across + m[7] * down + m[8];
        const double share = 1 / divisor, scale = divisor == 0 ? 0 : share;
        x[i] = static_cast<float>((m[0] * across + m[1] * down + m[2]) * scale);
        y[i] = static_cast<float>((m[3] * across + m[4] * down + m[5]) * scale);
    }
}

inline void project(float* x, float* y, const double* m, int64_t width) {
    for (int64_t i = 0; i < width; ++i) {
        const auto across = static_cast<double>(x[i]), down = static_cast<double>(y[i]);
        const double divisor = m[6] * across + m[7] * down + m[8];
        const double share = 1 / divisor, scale = divisor == 0 ? 0 : share;
        const auto to_x = static_cast<float>((m[0] * across + m[1] * down + m[2]) * scale),
                   to_y = static_cast<float>((m[3] * across + m[4] * down + m[5]) * scale);
        const bool lost = x[i] == nowhere;
        x[i] = lost ? x[i] : to_x;
        y[i] = lost ? y[i] : to_y;
    }
}

inline void move(float* x, float* y, const double* m, int64_t width) {
    for (int64_t i = 0; i < width; ++i) {
        const auto across = static_cast<double>(x[i]), down = static_cast<double>(y[i]);
        x[i] = static_cast<float>(m[0] * across + m[1] * down + m[2]);
        y[i] = static_cast<float>(m[3] * across + m[4] * down + m[5]);
    }
}

inline void displace(float* x, const float* weights, int64_t width, const float* nodes, float first, float step,
                     int64_t count) {
    const float *a = weights, *b = a + width, *c = b + width, *d = c + width;
    for (int32_t i = 0; i < static_cast<int32_t>(count); ++i) {
        const float at = first + static_cast<float>(i) * step;
        x[i] = at + (a[i] * nodes[0] + b[i] * nodes[1] + c[i] * nodes[2] + d[i] * nodes[3]);
    }
}

struct PlaceRange {
    float low, high;
    float finite;  // 0, or NaN after a number that is not finite
};

inline PlaceRange range_of(const float* numbers, int64_t count) {
#if AVX2_CODE
    if (count >= 8) {
        __m256 low = _mm256_loadu_ps(numbers), high = low, finite = _mm256_setzero_ps();
        for (int64_t next = 0; next < count; next += 8) {
            const __m256 eight = _mm256_loadu_ps(numbers + std::min(next, count - 8));
            low = _mm256_min_ps(low, eight);
            high = _mm256_max_ps(high, eight);
            finite = _mm256_add_ps(finite, _mm256_mul_ps(eight, _mm256_setzero_ps()));
        }
        const auto halves = [](__m256 eight) {
            return std::pair(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
        };
        const auto [low_a, low_b] = halves(low);
        const auto [high_a, high_b] = halves(high);
        const auto [sum_a, sum_b] = halves(finite);
        __m128 lows = _mm_min_ps(low_a, low_b), highs = _mm_max_ps(high_a, high_b), sums = _mm_add_ps(sum_a, sum_b);
        lows = _mm_min_ps(lows, _mm_movehl_ps(lows, lows));
        highs = _mm_max_ps(highs, _mm_movehl_ps(highs, highs));
        sums = _mm_add_ps(sums, _mm_movehl_ps(sums, sums));
        return {std::min(_mm_cvtss_f32(lows), _mm_cvtss_f32(_mm_movehdup_ps(lows))),
                std::max(_mm_cvtss_f32(highs), _mm_cvtss_f32(_mm_movehdup_ps(highs))),
                _mm_cvtss_f32(sums) + _mm_cvtss_f32(_mm_movehdup_ps(sums))};
    }
#endif
    PlaceRange made{numbers[0], numbers[0], 0};
    for (int64_t i = 0; i < count; ++i) {
        made.low = std::min(made.low, numbers[i]);
        made.high = std::max(made.high, numbers[i]);
        made.finite += numbers[i] * 0;
    }
    return made;
}

inline PlaceBox box(const float* x, const float* y, int64_t count) {
    const PlaceRange across = range_of(x, count), down = range_of(y, count);
    const float finite = across.finite + down.finite;
    return {across.low + finite, across.high + finite, down.low + finite, down.high + finite};
}

constexpr PlacePasses place_passes{project_row, project, move, displace, box};
