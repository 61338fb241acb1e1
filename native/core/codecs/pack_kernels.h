// Unpacking of packed images: fields of some bits to coefficients. One table of functions a SIMD level; every level
// returns the same numbers.
//
// Levels: pack_kernels_base.cpp is plain C++ and complete; pack_kernels_avx2.cpp replaces what it does faster, and
// pack_kernels_neon.cpp on ARM. A level for other registers is one more such file.
#pragma once

#include <cstdint>

#include "../kernels/simd.h"
#include "pack_codebook.h"

namespace pixelmill {

// Bits of the differences in a group of eight, by the number that is stored. Fields of these lie in two bytes each,
// though the eight of a group follow each other without gaps.
constexpr std::array<uint8_t, 13> pack_dc_widths{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16};

struct PackKernels {
    // Unpacks `count` blocks one after the other, with the first coefficients from `dc`, and writes which coefficient
    // of the stream may be the last of each. Reads up to pack_slack bytes past the payloads. Returns where they end.
    const uint8_t* (*unpack_blocks)(int16_t* blocks, uint8_t* last, const uint8_t* ids, const uint8_t* payload,
                                    const int16_t* dc, int64_t count, const PackBook& book);

    // Adds up differences from the left neighbor, in groups of eight with a nibble of width each. Writes whole groups.
    void (*unpack_dc)(int16_t* out, const uint8_t* widths, const uint8_t* differences, int64_t groups, int16_t first);

    // A bit for each coefficient of a block that is not zero, row by row.
    uint64_t (*nonzero)(const int16_t* block);

    // Bytes that the payloads of some blocks take.
    uint64_t (*payload_bytes)(const uint8_t* ids, int64_t count, const PackBook& book);
};

const PackKernels& pack_kernels();  // of the current SIMD level

extern const PackKernels pack_kernels_base;
#if PIXELMILL_AVX2
extern const PackKernels pack_kernels_avx2;
#endif
#if PIXELMILL_NEON
extern const PackKernels pack_kernels_neon;
#endif

}  // namespace pixelmill
