// IEEE half precision in portable code: stored as its 16 bits, computed with as float.
#pragma once

#include <bit>
#include <cstdint>

namespace pixelmill {

struct Half {
    uint16_t bits;
};

inline float to_float(Half half) {
    const uint32_t sign = static_cast<uint32_t>(half.bits & 0x8000u) << 16;
    const uint32_t magnitude = half.bits & 0x7fffu;
    if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
    // Scaling by 2^112 moves the exponent and normalizes subnormals in one multiplication.
    const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}

// Rounds half to even; what is too large becomes infinity.
inline Half to_half(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000u);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return {static_cast<uint16_t>(sign | 0x7e00u)};
    if (magnitude >= 0x477ff000u) return {static_cast<uint16_t>(sign | 0x7c00u)};
    if (magnitude < 0x38800000u) {  // a subnormal: adding 0.5 lets the addition round at the right bit
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return {static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u))};
    }
    const uint32_t odd = magnitude >> 13 & 1u;
    return {static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13))};
}

// The same for whole numbers, which are rounded half away from zero.
inline Half whole_to_half(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffffu;
    if (magnitude < 0x38800000u || magnitude >= 0x477ff000u) return to_half(value);
    return {static_cast<uint16_t>((bits >> 16 & 0x8000u) | ((magnitude - 0x38000000u + 0x1000u) >> 13))};
}

}  // namespace pixelmill
