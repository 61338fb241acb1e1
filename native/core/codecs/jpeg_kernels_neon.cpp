// From coefficients to pixels with NEON; the smallest sizes of blocks are those of AVX2, translated.
#include "jpeg_kernels.h"

#if PIXELMILL_NEON

#include <cstring>

#include "jpeg_transform.h"

namespace pixelmill {
namespace {

#include "jpeg_idct_neon.inl"
#include "jpeg_idct_small_neon.inl"
#include "jpeg_rows_neon.inl"

void idct2(uint8_t* out, ptrdiff_t stride, const BlockRow& row) { jpeg_kernels_avx2.idct2(out, stride, row); }
void idct1(uint8_t* out, ptrdiff_t stride, const BlockRow& row) { jpeg_kernels_avx2.idct1(out, stride, row); }

}  // namespace

const JpegKernels jpeg_kernels_neon{idct8,         idct4,         idct2,         idct1,
                                    upsample_h2v1, upsample_h2v2, upsample_h1v2, ycc_to_pixels};

}  // namespace pixelmill

#endif
