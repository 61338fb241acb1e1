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

// Four rows at a time share the weights. Pixels of 3 floats are written as 4, left to right, the last one by itself.
template <int channels, int taps>
inline void horizontal_four(float* const* out, const float* const* in, const AxisPlan& plan) {
    const float *in0 = in[0], *in1 = in[1], *in2 = in[2], *in3 = in[3];
    float *out0 = out[0], *out1 = out[1], *out2 = out[2], *out3 = out[3];
    const int count = taps > 0 ? taps : plan.taps;
    const float* weights = plan.real;
    for (int32_t x = 0; x + 1 < plan.count; ++x, weights += plan.stride) {
        const int64_t at = int64_t{plan.first[x]} * channels, to = int64_t{x} * channels;
        __m128 weight = _mm_set1_ps(weights[0]);
        __m128 sum0 = _mm_mul_ps(_mm_loadu_ps(in0 + at), weight), sum1 = _mm_mul_ps(_mm_loadu_ps(in1 + at), weight);
        __m128 sum2 = _mm_mul_ps(_mm_loadu_ps(in2 + at), weight), sum3 = _mm_mul_ps(_mm_loadu_ps(in3 + at), weight);
        for (int k = 1; k < count; ++k) {
            const int64_t from = at + k * channels;
            weight = _mm_set1_ps(weights[k]);
            sum0 = _mm_add_ps(sum0, _mm_mul_ps(_mm_loadu_ps(in0 + from), weight));
            sum1 = _mm_add_ps(sum1, _mm_mul_ps(_mm_loadu_ps(in1 + from), weight));
            sum2 = _mm_add_ps(sum2, _mm_mul_ps(_mm_loadu_ps(in2 + from), weight));
            sum3 = _mm_add_ps(sum3, _mm_mul_ps(_mm_loadu_ps(in3 + from), weight));
        }
        _mm_storeu_ps(out0 + to, sum0);
        _mm_storeu_ps(out1 + to, sum1);
        _mm_storeu_ps(out2 + to, sum2);
        _mm_storeu_ps(out3 + to, sum3);
    }
}

template <int channels>
inline void horizontal_pixels(float* const* out, const float* const* in, int rows, const AxisPlan& plan) {
    float* to[4];
    const float* from[4];
    for (int r = 0; r < 4; ++r) {
        to[r] = out[r < rows ? r : rows - 1];
        from[r] = in[r < rows ? r : rows - 1];
    }
    switch (plan.taps) {
        case 2: return horizontal_four<channels, 2>(to, from, plan);
        case 3: return horizontal_four<channels, 3>(to, from, plan);
        case 4: return horizontal_four<channels, 4>(to, from, plan);
        default: horizontal_four<channels, 0>(to, from, plan);
    }
}

inline int32_t horizontal_gray(float* out, const float* in, const AxisPlan& plan) {
    const __m256i offsets = _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(plan.stride));
    int32_t x = 0;
    for (; x + 8 <= plan.count; x += 8) {
        const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(plan.first + x));
        const float* weight = plan.real + int64_t{x} * plan.stride;
        __m256 sum = _mm256_mul_ps(_mm256_i32gather_ps(in, first, 4), _mm256_i32gather_ps(weight, offsets, 4));
        for (int k = 1; k < plan.taps; ++k) {
            sum = _mm256_add_ps(
                sum, _mm256_mul_ps(_mm256_i32gather_ps(in + k, first, 4), _mm256_i32gather_ps(weight + k, offsets, 4)));
        }
        _mm256_storeu_ps(out + x, sum);
    }
    return x;
}

#endif

inline void horizontal(float* const* out, const float* const* in, int rows, int64_t channels, const AxisPlan& plan) {
    int32_t done = 0;
#if AVX2_CODE
    if (channels == 3 || channels == 4) done = plan.count - 1;
    if (channels == 3) horizontal_pixels<3>(out, in, rows, plan);
    if (channels == 4) horizontal_pixels<4>(out, in, rows, plan);
    for (int r = 0; r < rows && channels == 1; ++r) done = horizontal_gray(out[r], in[r], plan);
#endif
    for (int r = 0; r < rows; ++r) {
        for (int32_t x = done; x < plan.count; ++x) {
            horizontal_pixel(out[r] + x * channels, in[r] + plan.first[x] * channels, channels,
                             plan.real + int64_t{x} * plan.stride, plan.taps);
        }
    }
}

constexpr RealResampling real_resampling{weigh_rows, horizontal};
