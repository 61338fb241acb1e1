// From coefficients to pixels: inverse transforms, upsampling, color. One table of functions a SIMD level; every level
// returns the same bytes, which are those of libjpeg-turbo's accurate transform with its smooth upsampling.
//
// Levels: jpeg_kernels_base.cpp is plain C++ and complete; jpeg_kernels_avx2.cpp replaces what it does faster, and
// jpeg_kernels_neon.cpp on ARM. A level for other registers is one more such file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../kernels/simd.h"

namespace pixelmill {

// Where the channels of a pixel go. `rgbx` and `bgrx` have four bytes a pixel, the fourth is 255.
enum class PixelOrder : uint8_t { rgb, bgr, rgbx, bgrx };

inline int64_t bytes_of(PixelOrder order) { return order == PixelOrder::rgb || order == PixelOrder::bgr ? 3 : 4; }

// A row of blocks of one component on its way to samples.
struct BlockRow {
    int16_t* blocks = nullptr;  // 64 coefficients each, row by row; 32-byte aligned
    // Of each block, the place in the stream of its last coefficient; 9 is enough when all of them lie in the first
    // four rows and columns.
    const uint8_t* last = nullptr;
    int64_t count = 0;               // an odd number is rounded up: one more block of zeros must follow
    const int16_t* quant = nullptr;  // 64, row by row; 32-byte aligned
    bool clears = true;              // blocks are zero afterwards
};

// The samples of a block become `size` x `size` bytes; blocks lie side by side in rows that are `stride` bytes apart.
using InverseTransform = void(uint8_t* out, ptrdiff_t stride, const BlockRow& row);

// Rows may be read up to 64 bytes past `count` and written up to 64 bytes past what they say, except for pixels, which
// end where they end.
struct JpegKernels {
    InverseTransform *idct8, *idct4, *idct2, *idct1;

    // Twice the samples: out has 2 * count. in[-1] and in[count] must be there: the neighbors, or the edge once more.
    void (*upsample_h2v1)(uint8_t* out, const uint8_t* in, int64_t count);
    // The same between two rows, the nearer one weighing three times as much.
    void (*upsample_h2v2)(uint8_t* out, const uint8_t* near, const uint8_t* far, int64_t count);
    // Rows only. `bias` is 1 for the upper and 2 for the lower row of output.
    void (*upsample_h1v2)(uint8_t* out, const uint8_t* near, const uint8_t* far, int bias, int64_t count);

    void (*ycc_to_pixels)(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count,
                          PixelOrder order);
};

const JpegKernels& jpeg_kernels();  // of the current SIMD level

extern const JpegKernels jpeg_kernels_base;
#if PIXELMILL_AVX2
extern const JpegKernels jpeg_kernels_avx2;
#endif
#if PIXELMILL_NEON
extern const JpegKernels jpeg_kernels_neon;
#endif

}  // namespace pixelmill
