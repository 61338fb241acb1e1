#include "png_rows.h"

#include <algorithm>
#include <cstring>

#include "../kernels/simd.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace pixelmill {

namespace {

#define KERNELS "../codecs/png_rows.inl"
#include "../kernels/both_levels.inl"

}  // namespace

Unfilter& png_unfilter() { return AT_THIS_LEVEL(unfilter); }

}  // namespace pixelmill
