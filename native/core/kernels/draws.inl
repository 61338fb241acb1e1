// Included once per SIMD level; AVX2_CODE says which. Only additions, multiplications and square roots in a fixed
// order, all of which IEEE 754 rounds the same way everywhere.

#if AVX2_CODE
#include "draws_avx2.inl"
#endif

inline void words(uint32_t* out, const StreamId& stream, uint32_t first, int64_t blocks) {
    int64_t block = 0;
#if AVX2_CODE
    const __m256i step = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (; block + 8 <= blocks; block += 8) {
        const __m256i counter = _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(first + block)), step);
        eight_blocks(out + 4 * block, counter, stream);
    }
#endif
    for (; block < blocks; ++block) {
        const std::array<uint32_t, 4> four =
            philox({first + static_cast<uint32_t>(block), stream.sample, stream.epoch, stream.rest}, stream.key);
        std::memcpy(out + 4 * block, four.data(), sizeof four);
    }
}

// The natural logarithm of a number from 2^-33 to 1; the polynomial is that of Cephes' logf.
inline float logarithm(float x) {
    const auto bits = std::bit_cast<int32_t>(x);
    float exponent = static_cast<float>((bits >> 23) - 126);
    float m = std::bit_cast<float>((bits & 0x007fffff) | 0x3f000000);  // from 0.5 to 1
    const bool low = m < 0.707106781186547524f;
    exponent = low ? exponent - 1.0f : exponent;
    m = low ? m + m : m;
    m = m - 1.0f;
    const float square = m * m;
    float y = log_terms[0];
    for (int i = 1; i < 9; ++i) y = y * m + log_terms[i];
    y = y * m * square;
    y = y + exponent * -2.12194440e-4f;
    y = y - 0.5f * square;
    return (m + y) + exponent * 0.693359375f;
}

// Two normals from two words: a radius and an angle. The angle is brought to within an eighth of a turn while it is
// whole, so nothing is lost there.
inline void normal_pair(float* out, uint32_t radius_word, uint32_t angle_word, float mean, float deviation) {
    const float word = static_cast<float>(radius_word >> 16) * 65536.0f + static_cast<float>(radius_word & 0xffffu);
    const float radius = std::sqrt(-2.0f * logarithm((word + 0.5f) * 0x1p-32f));
    const uint32_t quarter = (angle_word + 0x20000000u) >> 30;
    const float angle = static_cast<float>(static_cast<int32_t>(angle_word - (quarter << 30))) * word_angle;
    const float square = angle * angle;
    const float sine = ((sine_terms[0] * square + sine_terms[1]) * square + sine_terms[2]) * square * angle + angle;
    const float cosine = ((cosine_terms[0] * square + cosine_terms[1]) * square + cosine_terms[2]) * square * square -
                         0.5f * square + 1.0f;
    const float x = quarter & 1 ? sine : cosine, y = quarter & 1 ? cosine : sine;
    const float signed_x = (quarter + 1) & 2 ? -x : x, signed_y = quarter & 2 ? -y : y;
    out[0] = radius * signed_x * deviation + mean;
    out[1] = radius * signed_y * deviation + mean;
}

inline void normals(float* out, const uint32_t* from, int64_t count, float mean, float deviation) {
    int64_t i = 0;
#if AVX2_CODE
    for (; i + 16 <= count; i += 16) eight_pairs(out + i, from + i, mean, deviation);
#endif
    for (; i < count; i += 2) normal_pair(out + i, from[i], from[i + 1], mean, deviation);
}

inline void uniforms(float* out, const uint32_t* from, int64_t count, double low, double extent, float last) {
    int64_t i = 0;
#if AVX2_CODE
    const __m128 most = _mm_set1_ps(last);
    for (; i + 4 <= count; i += 4) {
        // Signed numbers are converted, so the range is moved there and back.
        const __m128i word =
            _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)), _mm_set1_epi32(INT32_MIN));
        const __m256d whole = _mm256_add_pd(_mm256_cvtepi32_pd(word), _mm256_set1_pd(0x1p31));
        const __m256d share = _mm256_mul_pd(_mm256_mul_pd(whole, _mm256_set1_pd(0x1p-32)), _mm256_set1_pd(extent));
        _mm_storeu_ps(out + i, _mm_min_ps(_mm256_cvtpd_ps(_mm256_add_pd(_mm256_set1_pd(low), share)), most));
    }
#endif
    for (; i < count; ++i) {
        const auto drawn = static_cast<float>(low + static_cast<double>(from[i]) * 0x1p-32 * extent);
        out[i] = drawn < last ? drawn : last;
    }
}

inline void speckle(uint8_t* out, const uint8_t* in, const float* noise, int64_t pixels, int64_t channels, float luma) {
    int64_t i = 0;
#if AVX2_CODE
    for (; channels == 3 && i + 8 <= pixels; i += 8) speckle_eight(out + 3 * i, in + 3 * i, noise + i, luma);
#endif
    for (; i < pixels; ++i) {
        for (int64_t c = i * channels; c < (i + 1) * channels; ++c) {
            const auto level = static_cast<float>(in[c]);
            out[c] = convert<uint8_t>(level + level * luma * noise[i]);
        }
    }
}

inline void grain(uint8_t* out, const uint8_t* in, const float* noise, int64_t pixels, int64_t channels, float luma,
                  float color) {
    int64_t i = 0;
#if AVX2_CODE
    for (; channels == 3 && i + 8 <= pixels; i += 8) grain_eight(out + 3 * i, in + 3 * i, noise + 4 * i, luma, color);
#endif
    for (; i < pixels; ++i) {
        for (int64_t c = 0; c < channels; ++c) {
            const auto level = static_cast<float>(in[i * channels + c]);
            out[i * channels + c] =
                convert<uint8_t>(level + level * luma * noise[4 * i] + color * noise[4 * i + 1 + c]);
        }
    }
}

constexpr Draws draws{words, normals, uniforms, speckle, grain};
