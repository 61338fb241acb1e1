#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "elementwise.h"
#include "simd.h"

namespace pixelmill {

namespace base {
#include "functions.inl"
}  // namespace base

#if PIXELMILL_AVX2
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#include "functions.inl"
}  // namespace avx2
#pragma GCC pop_options
#endif

RowLoop float_function(Operation operation) {
#if PIXELMILL_AVX2
    if (simd_level() == SimdLevel::avx2) return avx2::loop_of(operation);
#endif
    return base::loop_of(operation);
}

}  // namespace pixelmill
