#include <algorithm>

#include "jpeg_kernels.h"
#include "jpeg_transform.h"

namespace pixelmill {
namespace {

template <int size>
void transform_row(uint8_t* out, ptrdiff_t stride, const BlockRow& row) {
    for (int64_t i = 0; i < row.count; ++i, out += size) {
        int16_t* block = row.blocks + 64 * i;
        if constexpr (size == 8) transform::block8(out, stride, block, row.quant);
        if constexpr (size == 4) transform::block4(out, stride, block, row.quant);
        if constexpr (size == 2) transform::block2(out, stride, block, row.quant);
        if constexpr (size == 1) *out = transform::block1(block, row.quant);
        if (row.clears) std::fill_n(block, 64, int16_t{0});
    }
}

void upsample_h2v1(uint8_t* out, const uint8_t* in, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
        out[2 * i] = static_cast<uint8_t>((3 * in[i] + in[i - 1] + 1) >> 2);
        out[2 * i + 1] = static_cast<uint8_t>((3 * in[i] + in[i + 1] + 2) >> 2);
    }
}

void upsample_h2v2(uint8_t* out, const uint8_t* near, const uint8_t* far, int64_t count) {
    const auto column = [&](int64_t i) { return 3 * near[i] + far[i]; };
    for (int64_t i = 0; i < count; ++i) {
        out[2 * i] = static_cast<uint8_t>((3 * column(i) + column(i - 1) + 8) >> 4);
        out[2 * i + 1] = static_cast<uint8_t>((3 * column(i) + column(i + 1) + 7) >> 4);
    }
}

void upsample_h1v2(uint8_t* out, const uint8_t* near, const uint8_t* far, int bias, int64_t count) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<uint8_t>((3 * near[i] + far[i] + bias) >> 2);
}

uint8_t clamped(int32_t value) { return static_cast<uint8_t>(std::clamp<int32_t>(value, 0, 255)); }

// Weights of BT.601 with 16 fractional bits.
template <int pixel>
void ycc_row(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count, int red) {
    for (int64_t i = 0; i < count; ++i, out += pixel) {
        const int32_t blue = cb[i] - 128, other = cr[i] - 128;
        out[red] = clamped(y[i] + ((91881 * other + 32768) >> 16));
        out[1] = clamped(y[i] + ((-22554 * blue - 46802 * other + 32768) >> 16));
        out[2 - red] = clamped(y[i] + ((116130 * blue + 32768) >> 16));
        if constexpr (pixel == 4) out[3] = 255;
    }
}

void ycc_to_pixels(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count,
                   PixelOrder order) {
    const int red = order == PixelOrder::bgr || order == PixelOrder::bgrx ? 2 : 0;
    return bytes_of(order) == 3 ? ycc_row<3>(out, y, cb, cr, count, red) : ycc_row<4>(out, y, cb, cr, count, red);
}

}  // namespace

const JpegKernels jpeg_kernels_base{transform_row<8>, transform_row<4>, transform_row<2>, transform_row<1>,
                                    upsample_h2v1,    upsample_h2v2,    upsample_h1v2,    ycc_to_pixels};

const JpegKernels& jpeg_kernels() {
#if PIXELMILL_NEON
    if (simd_level() == SimdLevel::avx2) return jpeg_kernels_neon;
#elif PIXELMILL_AVX2
    if (simd_level() == SimdLevel::avx2) return jpeg_kernels_avx2;
#endif
    return jpeg_kernels_base;
}

}  // namespace pixelmill
