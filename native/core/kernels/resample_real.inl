// Included once per SIMD level; AVX2_CODE says which. Sums run over the taps in order in both, without fused
// multiply-adds, so the bits agree.

inline void weigh_rows(float* out, const float* const* rows, const float* weights, int count, int64_t length) {
    int64_t x = 0;
#if AVX2_CODE
    for (; x + 16 <= length; x += 16) {
        __m256 weight = _mm256_set1_ps(weights[0]);
        __m256 low = _mm256_mul_ps(_mm256_loadu_ps(rows[0] + x), weight);
        __m256 high = _mm256_mul_ps(_mm256_loadu_ps(rows[0] + x + 8), weight);
        for (int k = 1; k < count; ++k) {
            weight = _mm256_set1_ps(weights[k]);
            low = _mm256_add_ps(low, _mm256_mul_ps(_mm256_loadu_ps(rows[k] + x), weight));
            high = _mm256_add_ps(high, _mm256_mul_ps(_mm256_loadu_ps(rows[k] + x + 8), weight));
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
            const float weight = weights[k];
            for (int i = 0; i < 16; ++i) sum[i] += row[i] * weight;
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

inline void horizontal_pixel(float* out, const float* in, int64_t channels, const float* weight, int taps) {
    for (int64_t c = 0; c < channels; ++c) {
        float sum = in[c] * weight[0];
        for (int k = 1; k < taps; ++k) sum += in[k * channels + c] * weight[k];
        out[c] = sum;
    }
}

#if AVX2_CODE

// Two rows in the halves of a register; pixels of 3 floats are written as 4, left to right, the last one by itself.
template <int channels>
inline int32_t horizontal_two(float* const* out, const float* const* in, const AxisPlan& plan) {
    const auto load = [&](int64_t at) {
        return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(in[0] + at)), _mm_loadu_ps(in[1] + at), 1);
    };
    int32_t x = 0;
    for (; x + 1 < plan.count; ++x) {
        const int64_t at = int64_t{plan.first[x]} * channels;
        const float* weight = plan.real + int64_t{x} * plan.stride;
        __m256 sum = _mm256_mul_ps(load(at), _mm256_set1_ps(weight[0]));
        for (int k = 1; k < plan.taps; ++k) {
            sum = _mm256_add_ps(sum, _mm256_mul_ps(load(at + k * channels), _mm256_set1_ps(weight[k])));
        }
        _mm_storeu_ps(out[0] + x * channels, _mm256_castps256_ps128(sum));
        _mm_storeu_ps(out[1] + x * channels, _mm256_extractf128_ps(sum, 1));
    }
    return x;
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
    int32_t done[2] = {0, 0};
#if AVX2_CODE
    float* to[2] = {out[0], out[rows - 1]};
    const float* from[2] = {in[0], in[rows - 1]};
    if (channels == 3) done[0] = done[1] = horizontal_two<3>(to, from, plan);
    if (channels == 4) done[0] = done[1] = horizontal_two<4>(to, from, plan);
    for (int r = 0; r < rows && channels == 1; ++r) done[r] = horizontal_gray(out[r], in[r], plan);
#endif
    for (int r = 0; r < rows; ++r) {
        for (int32_t x = done[r]; x < plan.count; ++x) {
            horizontal_pixel(out[r] + x * channels, in[r] + plan.first[x] * channels, channels,
                             plan.real + int64_t{x} * plan.stride, plan.taps);
        }
    }
}

constexpr RealResampling real_resampling{weigh_rows, horizontal};
