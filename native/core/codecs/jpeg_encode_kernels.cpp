#include "jpeg_encode_kernels.h"

#include <bit>

namespace pixelmill {

JpegQuantizer::JpegQuantizer(const QuantizationTable& table) {
    for (size_t i = 0; i < table.size(); ++i) {
        const uint32_t divisor = 8u * table[i];  // the DCT's results are eight times too large
        const int bits = std::bit_width(divisor) - 1;
        // Division by multiplication: the reciprocal has as many significant bits as fit 16, so that two high halves of
        // 16-bit products return the exact quotient of every dividend that a transform can have.
        const int shift = std::has_single_bit(divisor) ? bits - 1 : bits;
        const uint32_t rounded_up = ((uint32_t{1} << (16 + shift)) + divisor - 1) / divisor;
        for (size_t both = 0; both < jpeg_pair_row; both += 8) {
            half[i / 8].values[both + i % 8] = static_cast<uint16_t>(divisor / 2);
            reciprocal[i / 8].values[both + i % 8] = static_cast<uint16_t>(rounded_up);
            scale[i / 8].values[both + i % 8] = static_cast<uint16_t>(1u << (16 - shift));
        }
    }
}

const JpegEncodeKernels& jpeg_encode_kernels() {
#if PIXELMILL_AVX2
    if (simd_level() == SimdLevel::avx2) return jpeg_encode_kernels_avx2;
#endif
    return jpeg_encode_kernels_base;
}

}  // namespace pixelmill
