// Intrinsics of AVX2 for which SIMDe 0.7 has a loop of single values. Included by simd.h, after SIMDe and on ARM only.
#pragma once

#include <arm_neon.h>

#include <bit>

namespace pixelmill::neon {

inline int16x8_t numbers_of(simde__m128i half) { return std::bit_cast<int16x8_t>(half); }

template <class Operation>
inline simde__m256i on_halves(simde__m256i a, simde__m256i b, Operation operation) {
    const int16x8_t low =
        operation(numbers_of(simde_mm256_castsi256_si128(a)), numbers_of(simde_mm256_castsi256_si128(b)));
    const int16x8_t high =
        operation(numbers_of(simde_mm256_extracti128_si256(a, 1)), numbers_of(simde_mm256_extracti128_si256(b, 1)));
    return simde_mm256_set_m128i(std::bit_cast<simde__m128i>(high), std::bit_cast<simde__m128i>(low));
}

// Not vqrdmulhq: it saturates -32768 * -32768, where AVX2 wraps.
inline simde__m256i mulhrs_epi16(simde__m256i a, simde__m256i b) {
    return on_halves(a, b, [](int16x8_t x, int16x8_t y) {
        const int16x4_t low = vrshrn_n_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), 15);
        return vrshrn_high_n_s32(low, vmull_high_s16(x, y), 15);
    });
}

inline simde__m256i mulhi_epi16(simde__m256i a, simde__m256i b) {
    return on_halves(a, b, [](int16x8_t x, int16x8_t y) {
        const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y)), high = vmull_high_s16(x, y);
        return vuzp2q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
    });
}

inline simde__m256i mulhi_epu16(simde__m256i a, simde__m256i b) {
    return on_halves(a, b, [](int16x8_t x, int16x8_t y) {
        const uint16x8_t u = vreinterpretq_u16_s16(x), v = vreinterpretq_u16_s16(y);
        const uint32x4_t low = vmull_u16(vget_low_u16(u), vget_low_u16(v)), high = vmull_high_u16(u, v);
        return vuzp2q_s16(vreinterpretq_s16_u32(low), vreinterpretq_s16_u32(high));
    });
}

}  // namespace pixelmill::neon

#undef _mm256_mulhrs_epi16
#undef _mm256_mulhi_epi16
#undef _mm256_mulhi_epu16
#define _mm256_mulhrs_epi16(a, b) pixelmill::neon::mulhrs_epi16(a, b)
#define _mm256_mulhi_epi16(a, b) pixelmill::neon::mulhi_epi16(a, b)
#define _mm256_mulhi_epu16(a, b) pixelmill::neon::mulhi_epu16(a, b)
