// Included once per SIMD level; AVX2_CODE says which. Sums run over the taps in order in both, without fused
// multiply-adds, so the bits agree.

// `taps` of 0 stands for any number.
template <int taps>
inline void weigh_rows_of(float* out, const float* const* rows, const float* weights, int count, int64_t length) {
    if (taps > 0) count = taps;
    int64_t x = 0;
#if AVX2_CODE
    __m256 weight[taps > 0 ? taps : 1];
    for (int k = 0; k < taps; ++k) weight[k] = _mm256_set1_ps(weights[k]);
    const auto weight_of = [&](int k) { return taps > 0 ? weight[taps > 0 ? k : 0] : _mm256_set1_ps(weights[k]); };
    for (; x + 16 <= length; x += 16) {
        __m256 low = _mm256_mul_ps(_mm256_loadu_ps(rows[0] + x), weight_of(0));
        __m256 high = _mm256_mul_ps(_mm256_loadu_ps(rows[0] + x + 8), weight_of(0));
        for (int k = 1; k < count; ++k) {
            low = _mm256_add_ps(low, _mm256_mul_ps(_mm256_loadu_ps(rows[k] + x), weight_of(k)));
            high = _mm256_add_ps(high, _mm256_mul_ps(_mm256_loadu_ps(rows[k] + x + 8), weight_of(k)));
        }
        _mm256_storeu_ps(out + x, low);
        _mm256_storeu_ps(out + x + 8, high);
    }
#else
    for (; x + 16 <= length; x += 16) {
        float sum[16];
        for (int i = 0; i < 16; ++i) sum[i] = rows[0][x + i] * weights[0];
        for (int k = 1; k < count; ++k) {
            const float* row = rows[k] + x;
            for (int i = 0; i < 16; ++i) sum[i] += row[i] * weights[k];
        }
        for (int i = 0; i < 16; ++i) out[x + i] = sum[i];
    }
#endif
    for (; x < length; ++x) {
        float sum = rows[0][x] * weights[0];
        for (int k = 1; k < count; ++k) sum += rows[k][x] * weights[k];
        out[x] = sum;
    }
}

inline void weigh_rows(float* out, const float* const* rows, const float* weights, int count, int64_t length) {
    switch (count) {
        case 2: return weigh_rows_of<2>(out, rows, weights, count, length);
        case 3: return weigh_rows_of<3>(out, rows, weights, count, length);
        case 4: return weigh_rows_of<4>(out, rows, weights, count, length);
        default: weigh_rows_of<0>(out, rows, weights, count, length);
    }
}

inline void horizontal_pixel(float* out, const float* in, int64_t channels, const float* weight, int taps) {
    for (int64_t c = 0; c < channels; ++c) {
        float sum = in[c] * weight[0];
        for (int k = 1; k < taps; ++k) sum += in[k * channels + c] * weight[k];
        out[c] = sum;
    }
}

#if AVX2_CODE

// Eight rows of eight floats become eight columns: then a vector holds one column of eight rows, and all of them can be
// weighed at once without a horizontal sum, in the order of the plain loop.
inline void transpose(__m256 (&tile)[8]) {
    __m256 pairs[8], quads[8];
    for (int i = 0; i < 4; ++i) {
        pairs[2 * i] = _mm256_unpacklo_ps(tile[2 * i], tile[2 * i + 1]);
        pairs[2 * i + 1] = _mm256_unpackhi_ps(tile[2 * i], tile[2 * i + 1]);
    }
    for (int half = 0; half < 2; ++half) {
        const __m256* from = pairs + 4 * half;
        quads[4 * half] = _mm256_shuffle_ps(from[0], from[2], 0x44);
        quads[4 * half + 1] = _mm256_shuffle_ps(from[0], from[2], 0xEE);
        quads[4 * half + 2] = _mm256_shuffle_ps(from[1], from[3], 0x44);
        quads[4 * half + 3] = _mm256_shuffle_ps(from[1], from[3], 0xEE);
    }
    for (int i = 0; i < 4; ++i) {
        tile[i] = _mm256_permute2f128_ps(quads[i], quads[4 + i], 0x20);
        tile[4 + i] = _mm256_permute2f128_ps(quads[i], quads[4 + i], 0x31);
    }
}

// Eight rows side by side: `out` gets eight floats for each of `length` columns.
inline void gather_rows(float* out, const float* const* in, int64_t length) {
    int64_t x = 0;
    for (; x + 8 <= length; x += 8) {
        __m256 tile[8];
        for (int r = 0; r < 8; ++r) tile[r] = _mm256_loadu_ps(in[r] + x);
        transpose(tile);
        for (int c = 0; c < 8; ++c) _mm256_store_ps(out + 8 * (x + c), tile[c]);
    }
    for (; x < length; ++x) {
        for (int r = 0; r < 8; ++r) out[8 * x + r] = in[r][x];
    }
}

inline void scatter_rows(float* const* out, const float* in, int rows, int64_t at, int64_t length) {
    int64_t x = 0;
    for (; x + 8 <= length; x += 8) {
        __m256 tile[8];
        for (int c = 0; c < 8; ++c) tile[c] = _mm256_load_ps(in + 8 * (x + c));
        transpose(tile);
        for (int r = 0; r < rows; ++r) _mm256_storeu_ps(out[r] + at + x, tile[r]);
    }
    for (; x < length; ++x) {
        for (int r = 0; r < rows; ++r) out[r][at + x] = in[8 * x + r];
    }
}

template <int channels, int taps>
inline void eight_rows(float* const* out, const float* columns, int rows, const AxisPlan& plan) {
    constexpr int pixels = 8;
    alignas(32) float done[pixels * channels * 8];
    const int count = taps > 0 ? taps : plan.taps;
    for (int32_t x = 0; x < plan.count; x += pixels) {
        for (int p = 0; p < pixels; ++p) {
            const float* from = columns + int64_t{plan.first[x + p] - plan.low} * channels * 8;
            const float* weights = plan.real + int64_t{x + p} * plan.stride;
            __m256 sum[channels];
            __m256 weight = _mm256_set1_ps(weights[0]);
            for (int c = 0; c < channels; ++c) sum[c] = _mm256_mul_ps(_mm256_load_ps(from + 8 * c), weight);
            for (int k = 1; k < count; ++k) {
                weight = _mm256_set1_ps(weights[k]);
                for (int c = 0; c < channels; ++c) {
                    sum[c] =
                        _mm256_add_ps(sum[c], _mm256_mul_ps(_mm256_load_ps(from + 8 * (k * channels + c)), weight));
                }
            }
            for (int c = 0; c < channels; ++c) _mm256_store_ps(done + 8 * (p * channels + c), sum[c]);
        }
        const int32_t wanted = plan.count - x < pixels ? plan.count - x : pixels;
        scatter_rows(out, done, rows, int64_t{x} * channels, int64_t{wanted} * channels);
    }
}

template <int channels>
inline void eight_rows_of(float* const* out, const float* columns, int rows, const AxisPlan& plan) {
    switch (plan.taps) {
        case 2: return eight_rows<channels, 2>(out, columns, rows, plan);
        case 3: return eight_rows<channels, 3>(out, columns, rows, plan);
        case 4: return eight_rows<channels, 4>(out, columns, rows, plan);
        default: eight_rows<channels, 0>(out, columns, rows, plan);
    }
}

#endif

inline void horizontal(float* const* out, const float* const* in, int rows, int64_t channels, const AxisPlan& plan,
                       [[maybe_unused]] float* columns) {
#if AVX2_CODE
    if (channels <= 4) {
        const float* from[8];
        for (int r = 0; r < 8; ++r) from[r] = in[r < rows ? r : rows - 1];
        gather_rows(columns, from, (plan.high - plan.low) * channels);
        switch (channels) {
            case 1: return eight_rows_of<1>(out, columns, rows, plan);
            case 2: return eight_rows_of<2>(out, columns, rows, plan);
            case 3: return eight_rows_of<3>(out, columns, rows, plan);
            default: return eight_rows_of<4>(out, columns, rows, plan);
        }
    }
#endif
    for (int r = 0; r < rows; ++r) {
        for (int32_t x = 0; x < plan.count; ++x) {
            horizontal_pixel(out[r] + x * channels, in[r] + (plan.first[x] - plan.low) * channels, channels,
                             plan.real + int64_t{x} * plan.stride, plan.taps);
        }
    }
}

constexpr RealResampling real_resampling{weigh_rows, horizontal};
