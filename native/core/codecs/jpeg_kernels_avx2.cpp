#include "jpeg_kernels.h"

#if PIXELMILL_AVX2

#include <cstring>

#include "jpeg_transform.h"

BEGIN_AVX2_CODE

namespace pixelmill {
namespace {

using transform::const_bits, transform::fix, transform::pass1_bits;

inline __m256i load(const void* at) { return _mm256_loadu_si256(static_cast<const __m256i*>(at)); }
inline void store(void* at, __m256i value) { _mm256_storeu_si256(static_cast<__m256i*>(at), value); }

// Two weights for pairs of neighbors, as `madd` takes them.
inline __m256i weights(int32_t first, int32_t second) {
    return _mm256_set1_epi32(static_cast<int32_t>(static_cast<uint32_t>(first) & 0xFFFF) |
                             static_cast<int32_t>(static_cast<uint32_t>(second) << 16));
}

// Registers of 16-bit numbers for a row or column of two blocks, one block in each half. Products and sums have 32
// bits, `low` those of the first four and `high` those of the last four numbers of each half.
struct Wide {
    __m256i low, high;
};

inline Wide operator+(Wide a, Wide b) { return {_mm256_add_epi32(a.low, b.low), _mm256_add_epi32(a.high, b.high)}; }
inline Wide operator-(Wide a, Wide b) { return {_mm256_sub_epi32(a.low, b.low), _mm256_sub_epi32(a.high, b.high)}; }

struct Pairs {
    __m256i low, high;
    Pairs(__m256i a, __m256i b) : low(_mm256_unpacklo_epi16(a, b)), high(_mm256_unpackhi_epi16(a, b)) {}
    Wide times(int32_t first, int32_t second) const {
        const __m256i by = weights(first, second);
        return {_mm256_madd_epi16(low, by), _mm256_madd_epi16(high, by)};
    }
};

template <int bits>
inline Wide shifted(__m256i a) {
    const __m256i zero = _mm256_setzero_si256();
    return {_mm256_srai_epi32(_mm256_unpacklo_epi16(zero, a), 16 - bits),
            _mm256_srai_epi32(_mm256_unpackhi_epi16(zero, a), 16 - bits)};
}

template <int bits>
inline Wide rounded(Wide a) {
    const __m256i half = _mm256_set1_epi32(1 << (bits - 1));
    return {_mm256_add_epi32(a.low, half), _mm256_add_epi32(a.high, half)};
}

template <int bits>
inline __m256i narrowed(Wide a) {
    return _mm256_packs_epi32(_mm256_srai_epi32(a.low, bits), _mm256_srai_epi32(a.high, bits));
}

#include "jpeg_idct_avx2.inl"
#include "jpeg_rows_avx2.inl"

}  // namespace

const JpegKernels jpeg_kernels_avx2{idct8,         idct4,         idct2,         idct1,
                                    upsample_h2v1, upsample_h2v2, upsample_h1v2, ycc_to_pixels};

}  // namespace pixelmill

END_AVX2_CODE

#endif
