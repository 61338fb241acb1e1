// Intrinsics of AVX2 for which SIMDe 0.7 has a loop of single values. Included by simd.h, after SIMDe and on ARM only.
#pragma once

#include <arm_neon.h>

namespace pixelmill::neon {

template <class Operation>
inline simde__m256i on_halves(simde__m256i a, simde__m256i b, Operation operation) {
    const auto x = simde__m256i_to_private(a), y = simde__m256i_to_private(b);
    simde__m256i_private both;
    for (int h = 0; h < 2; ++h) {
        both.m128i_private[h].neon_i16 = operation(x.m128i_private[h].neon_i16, y.m128i_private[h].neon_i16);
    }
    return simde__m256i_from_private(both);
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
