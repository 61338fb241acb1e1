// Which build of the hot kernels runs: `base` is plain C++, `avx2` the same arithmetic with wider registers. On ARM the
// second level is called `neon`: the hottest tables have files of their own (*_neon.cpp), the rest has the same
// intrinsics, which SIMDe turns into those of NEON.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__)
#define PIXELMILL_AVX2 1
#include <immintrin.h>
// Functions between these two may use the instructions that `detected()` in simd.cpp asks the processor for. Nothing is
// included from other libraries between them: the linker keeps one copy of an inline function, and it may be the one
// that needs AVX2.
#if defined(__clang__)
#define BEGIN_AVX2_CODE \
    _Pragma("clang attribute push(__attribute__((target(\"avx2,bmi,bmi2,lzcnt,popcnt\"))), apply_to = function)")
#define END_AVX2_CODE _Pragma("clang attribute pop")
#else
#define BEGIN_AVX2_CODE _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,bmi,bmi2,lzcnt,popcnt\")")
#define END_AVX2_CODE _Pragma("GCC pop_options")
#endif
#elif defined(__aarch64__) && __has_include(<simde/x86/avx2.h>)
#define PIXELMILL_AVX2 1
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>

#include "neon.h"
// NEON belongs to every such processor.
#define BEGIN_AVX2_CODE
#define END_AVX2_CODE
#else
#define PIXELMILL_AVX2 0
#endif

// Whether there are tables written for NEON, in namespace `neon`.
#if defined(__aarch64__)
#define PIXELMILL_NEON PIXELMILL_AVX2
#else
#define PIXELMILL_NEON 0
#endif

// Bits of a word gathered or scattered by a mask; ARM has no such instruction.
#if defined(__x86_64__)
#define PIXELMILL_BMI2 PIXELMILL_AVX2
#else
#define PIXELMILL_BMI2 0
#endif

// Tables of 256 bytes in registers need AVX-512 VBMI, which `uses_wide_tables` asks the processor for.
#if defined(__x86_64__) && defined(__GNUC__)
#define PIXELMILL_WIDE_TABLES 1
#define WIDE_TABLES_CODE __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#else
#define PIXELMILL_WIDE_TABLES 0
#endif

// Blocks of 64 coefficients in two registers need AVX-512 with VBMI2 and BITALG, which `uses_wide_blocks` asks the
// processor for.
#if PIXELMILL_BMI2
#define PIXELMILL_WIDE_BLOCKS 1
// clang-format off: a pragma is one string
#if defined(__clang__)
#define BEGIN_WIDE_BLOCKS_CODE \
    _Pragma("clang attribute push(__attribute__((target(\"bmi,bmi2,lzcnt,popcnt,avx512vbmi,avx512vbmi2,avx512bitalg\"))), apply_to = function)")
#define END_WIDE_BLOCKS_CODE _Pragma("clang attribute pop")
#else
#define BEGIN_WIDE_BLOCKS_CODE \
    _Pragma("GCC push_options") _Pragma("GCC target(\"bmi,bmi2,lzcnt,popcnt,avx512vbmi,avx512vbmi2,avx512bitalg\")")
#define END_WIDE_BLOCKS_CODE _Pragma("GCC pop_options")
#endif
// clang-format on
#else
#define PIXELMILL_WIDE_BLOCKS 0
#endif

// Sums of products of 16 bits in registers of 512 need AVX-512 with VBMI and VNNI, which `uses_wide_sums` asks the
// processor for.
#if PIXELMILL_BMI2
#define PIXELMILL_WIDE_SUMS 1
// clang-format off: a pragma is one string
#if defined(__clang__)
#define BEGIN_WIDE_SUMS_CODE \
    _Pragma("clang attribute push(__attribute__((target(\"avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vbmi,avx512vnni\"))), apply_to = function)")
#define END_WIDE_SUMS_CODE _Pragma("clang attribute pop")
#else
#define BEGIN_WIDE_SUMS_CODE \
    _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vbmi,avx512vnni\")")
#define END_WIDE_SUMS_CODE _Pragma("GCC pop_options")
#endif
// clang-format on
#else
#define PIXELMILL_WIDE_SUMS 0
#endif

// What both_levels.inl built under this name for the level that runs.
#if PIXELMILL_AVX2
#define AT_THIS_LEVEL(name) (simd_level() == SimdLevel::avx2 ? avx2::name : base::name)
#else
#define AT_THIS_LEVEL(name) (base::name)
#endif

// The same of tables that are also written for NEON.
#if PIXELMILL_NEON
#define AT_THIS_LEVEL_OR_NEON(name) (simd_level() == SimdLevel::avx2 ? neon::name : base::name)
#else
#define AT_THIS_LEVEL_OR_NEON(name) AT_THIS_LEVEL(name)
#endif

namespace pixelmill {

enum class SimdLevel : uint8_t { base, avx2 };

// The best level of this machine, or what PIXELMILL_SIMD=base asks for.
SimdLevel simd_level();

// For tests, which compare the levels within one process. Asking for more than the machine has is ignored.
void force_simd_level(SimdLevel level);

// Whether this machine has AVX-512 VBMI. PIXELMILL_SIMD=avx2 turns it off, as does forcing a level.
bool uses_wide_tables();

// The same for AVX-512 with VBMI2 and BITALG.
bool uses_wide_blocks();

// The same for AVX-512 with VBMI and VNNI.
bool uses_wide_sums();

// Uses all that the machine has again, after `force_simd_level`.
void force_best_instructions();

const char* name_of(SimdLevel level);

}  // namespace pixelmill
