// Which build of the hot kernels runs: `base` is plain C++, `avx2` the same arithmetic with wider registers.
#pragma once

#include <cstdint>

// Clang knows no `#pragma GCC target`; with it there is only the base level.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define PIXELMILL_AVX2 1
#include <immintrin.h>
// What both_levels.inl built under this name for the level that runs.
#define AT_THIS_LEVEL(name) (simd_level() == SimdLevel::avx2 ? avx2::name : base::name)
#else
#define PIXELMILL_AVX2 0
#define AT_THIS_LEVEL(name) (base::name)
#endif

namespace pixelmill {

enum class SimdLevel : uint8_t { base, avx2 };

// The best level of this machine, or what PIXELMILL_SIMD=base asks for.
SimdLevel simd_level();

// For tests, which compare the levels within one process. Asking for more than the machine has is ignored.
void force_simd_level(SimdLevel level);

const char* name_of(SimdLevel level);

}  // namespace pixelmill
