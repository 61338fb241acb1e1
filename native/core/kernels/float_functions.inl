// The functions that images meet most, in single precision, twice as many at a time: off by 3 units in the last place
// at most (tests/operators/test_functions.py). Series are summed in two halves, of even and of odd powers, which do not
// wait for each other. The coefficients of the logarithm and the arc tangent are those of the Cephes library.

// Good for |x| up to largest_power: beyond, the result may have no exponent of its own. An eighth of a power of 2 comes
// from a table, which fits one register, so that the series of the rest is short.
constexpr float largest_power = 87.0f, eighths = 0x1.8p23f;  // adding this rounds to a whole number
constexpr float per_eighth = 11.5415603f, eighth_high = 0.086669921875f, eighth_low = -2.65243050e-5f;
constexpr float exp_second = 0.500039101f, exp_third = 0.166674487f;
alignas(32) constexpr float powers_of_2[8] = {0x1p0f,        0x1.172b84p0f, 0x1.306fep0f,  0x1.4bfdaep0f,
                                              0x1.6a09e6p0f, 0x1.8ace54p0f, 0x1.ae89fap0f, 0x1.d5818ep0f};

inline float exp_of_usual(float x) {
    const float shifted = x * per_eighth + eighths, whole = shifted - eighths;
    const float r = (x - whole * eighth_high) - whole * eighth_low;
    const uint32_t bits = std::bit_cast<uint32_t>(shifted);
    const float power = powers_of_2[bits & 7], tail = (exp_third * r + exp_second) * (r * r) + r;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(power * tail + power) + ((bits & ~7u) << 20));
}

#if AVX2_CODE
// The same for eight; returns their magnitudes.
inline __m256i eight_exps(float* out, const float* in) {
    const __m256 x = _mm256_loadu_ps(in), shift = _mm256_set1_ps(eighths);
    const __m256 shifted = _mm256_add_ps(_mm256_mul_ps(x, _mm256_set1_ps(per_eighth)), shift);
    const __m256 whole = _mm256_sub_ps(shifted, shift);
    const __m256 rough = _mm256_sub_ps(x, _mm256_mul_ps(whole, _mm256_set1_ps(eighth_high)));
    const __m256 r = _mm256_sub_ps(rough, _mm256_mul_ps(whole, _mm256_set1_ps(eighth_low)));
    const __m256i bits = _mm256_castps_si256(shifted);
    const __m256 power = _mm256_permutevar8x32_ps(_mm256_load_ps(powers_of_2), bits);
    const __m256 slope = _mm256_add_ps(_mm256_mul_ps(_mm256_set1_ps(exp_third), r), _mm256_set1_ps(exp_second));
    const __m256 tail = _mm256_add_ps(_mm256_mul_ps(slope, _mm256_mul_ps(r, r)), r);
    const __m256i mantissa = _mm256_castps_si256(_mm256_add_ps(_mm256_mul_ps(power, tail), power));
    const __m256i exponent = _mm256_slli_epi32(_mm256_andnot_si256(_mm256_set1_epi32(7), bits), 20);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_add_epi32(mantissa, exponent));
    return _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff));
}
#endif

inline void exp_row(void* out, const void* a, const void*, const void*, int64_t count, unsigned) {
    auto* __restrict to = static_cast<float*>(out);
    const auto* __restrict x = static_cast<const float*>(a);
    // Magnitudes of floats are in the order of their bits, and those that are no numbers come last.
    const auto limit = std::bit_cast<int32_t>(largest_power);
    int32_t largest = 0;
    int64_t i = 0;
#if AVX2_CODE
    __m256i sizes = _mm256_setzero_si256();
    for (; i + 8 <= count; i += 8) sizes = _mm256_max_epi32(sizes, eight_exps(to + i, x + i));
    if (_mm256_movemask_epi8(_mm256_cmpgt_epi32(sizes, _mm256_set1_epi32(limit))) != 0) largest = limit + 1;
#endif
    for (; i < count; ++i) {
        to[i] = exp_of_usual(x[i]);
        const int32_t size = std::bit_cast<int32_t>(x[i]) & 0x7fffffff;
        largest = size > largest ? size : largest;
    }
    if (largest <= limit) return;
    for (i = 0; i < count; ++i) {
        if (!(std::fabs(x[i]) <= largest_power)) to[i] = static_cast<float>(exp_of(x[i]));
    }
}

constexpr uint32_t root_of_half = 0x3f3504f3, one_bits = 0x3f800000;  // sqrt(1/2), 1
constexpr float log_even[] = {7.0376836292e-2f, 1.1676998740e-1f, 1.4249322787e-1f, 2.0000714765e-1f, 3.3333331174e-1f};
constexpr float log_odd[] = {-1.1514610310e-1f, -1.2420140846e-1f, -1.6668057665e-1f, -2.4999993993e-1f};
constexpr float log_2_high = 0.693359375f, log_2_low = -2.12194440e-4f;

// Of normal numbers above 0.
inline float log_of_usual(float x) {
    const uint32_t moved = std::bit_cast<uint32_t>(x) + (one_bits - root_of_half);
    const float r = std::bit_cast<float>((moved & 0x007fffff) + root_of_half) - 1.0f, z = r * r;
    const float exponent = static_cast<float>(static_cast<int32_t>(moved >> 23) - 127);
    const float even = series(z, log_even), odd = series(z, log_odd);
    const float small = ((even + odd * r) * (r * z) + exponent * log_2_low) - 0.5f * z;
    return (r + small) + exponent * log_2_high;
}

inline void log_row(void* out, const void* a, const void*, const void*, int64_t count, unsigned) {
    auto* __restrict to = static_cast<float*>(out);
    const auto* __restrict x = static_cast<const float*>(a);
    constexpr float inf = std::numeric_limits<float>::infinity(), least = std::numeric_limits<float>::min();
    int32_t lowest = std::bit_cast<int32_t>(least), highest = lowest;
    for (int64_t i = 0; i < count; ++i) {
        const float one_if_black = pick(x[i] == 0, 1.0f, x[i]);  // black is usual in images
        to[i] = pick(x[i] == 0, -inf, log_of_usual(one_if_black));
        const auto bits = std::bit_cast<int32_t>(one_if_black);
        lowest = bits < lowest ? bits : lowest;
        highest = bits > highest ? bits : highest;
    }
    if (lowest == std::bit_cast<int32_t>(least) && highest < std::bit_cast<int32_t>(inf)) return;
    for (int64_t i = 0; i < count; ++i) {
        if (!((x[i] >= least && x[i] < inf) || x[i] == 0)) to[i] = static_cast<float>(log_of(x[i]));
    }
}

// The angle of the point (x, y), of which no coordinate is above largest_coordinate: their sum is finite.
constexpr float largest_coordinate = 1e38f;
inline float angle_of(float y, float x) {
    const float up = std::fabs(y), across = std::fabs(x);
    const float shorter = pick(up < across, up, across), longer = pick(up > across, up, across);
    // Beyond a sixteenth of a turn it is the angle to the diagonal that is small: one division for both.
    const bool beyond = shorter > longer * 0.414213562f;
    const float above = pick(beyond, shorter - longer, shorter), below = pick(beyond, shorter + longer, longer);
    const float t = above / pick(below == 0, 1.0f, below), z = t * t;
    const float tail = series(z, {8.05374449538e-2f, -1.38776856032e-1f, 1.99777106478e-1f, -3.33329491539e-1f});
    const float angle = (tail * (z * t) + t) + pick(beyond, 0.785398163f, 0.0f);
    const float upright = pick(up > across, 1.57079633f - angle, angle);
    return std::copysign(pick(std::bit_cast<int32_t>(x) < 0, 3.14159265f - upright, upright), y);
}

inline void angle_of_two_row(void* out, const void* a, const void* b, const void*, int64_t count, unsigned) {
    auto* __restrict to = static_cast<float*>(out);
    const auto* __restrict y = static_cast<const float*>(a);
    const auto* __restrict x = static_cast<const float*>(b);
    int32_t largest = 0;
    for (int64_t i = 0; i < count; ++i) {
        to[i] = angle_of(y[i], x[i]);
        const int32_t up = std::bit_cast<int32_t>(y[i]) & 0x7fffffff,
                      across = std::bit_cast<int32_t>(x[i]) & 0x7fffffff;
        const int32_t size = up > across ? up : across;
        largest = size > largest ? size : largest;
    }
    if (largest < std::bit_cast<int32_t>(largest_coordinate)) return;
    for (int64_t i = 0; i < count; ++i) {
        if (!(std::fabs(x[i]) < largest_coordinate && std::fabs(y[i]) < largest_coordinate))
            to[i] = std::atan2(y[i], x[i]);
    }
}
