#include "pack_kernels.h"

#if PIXELMILL_AVX2

BEGIN_AVX2_CODE

namespace pixelmill {
namespace {

inline __m256i unpack_pair(const uint8_t* upper, const uint8_t* lower, const PackRowPair& pair) {
    const auto vector = [](const auto& array) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(array.data()));
    };
    const __m256i bytes =
        _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(upper))),
                                _mm_loadu_si128(reinterpret_cast<const __m128i*>(lower)), 1);
    const __m256i fields = _mm256_shuffle_epi8(bytes, vector(pair.source));
    return _mm256_mulhi_epi16(_mm256_mullo_epi16(fields, vector(pair.up)), vector(pair.down));
}

const uint8_t* unpack_blocks(int16_t* blocks, uint8_t* last, const uint8_t* ids, const uint8_t* payload,
                             const int16_t* dc, int64_t count, const PackBook& book) {
    for (int64_t i = 0; i < count; ++i, blocks += 64) {
        const size_t id = ids[i];
        const auto& rows = book.rows[id];
        const auto& pairs = book.profiles[id].pairs;
        for (size_t pair = 0; pair < 4; ++pair) {
            const __m256i made = unpack_pair(payload + rows[2 * pair], payload + rows[2 * pair + 1], pairs[pair]);
            _mm256_store_si256(reinterpret_cast<__m256i*>(blocks + 16 * pair), made);
        }
        blocks[0] = dc[i];
        last[i] = book.last[id];
        payload += book.length[id];
    }
    return payload;
}

// For groups of each width: the bytes of the fields, and what moves them to the top.
struct alignas(16) DcFields {
    uint8_t source[16];
    uint16_t up[8];
};

constexpr std::array<DcFields, pack_dc_widths.size()> dc_fields = [] {
    std::array<DcFields, pack_dc_widths.size()> all{};
    for (size_t number = 1; number < all.size(); ++number) {
        const uint32_t width = pack_dc_widths[number];
        for (uint32_t k = 0, bit = 0; k < 8; ++k, bit += width) {
            all[number].source[2 * k] = static_cast<uint8_t>(bit / 8);
            // The last field may end with its first byte; what the second one holds is shifted out.
            all[number].source[2 * k + 1] = static_cast<uint8_t>(bit / 8 + 1 < 16 ? bit / 8 + 1 : 15);
            all[number].up[k] = static_cast<uint16_t>(1u << (16 - width - bit % 8));
        }
    }
    return all;
}();

void unpack_dc(int16_t* out, const uint8_t* widths, const uint8_t* differences, int64_t groups, int16_t first) {
    __m128i before = _mm_set1_epi16(first);
    const __m128i last_lane = _mm_set1_epi16(0x0F0E);
    for (int64_t group = 0; group < groups; ++group, out += 8) {
        const size_t number = widths[group / 2] >> group % 2 * 4 & 15;
        const int width = pack_dc_widths[number];
        const DcFields& fields = dc_fields[number];
        const __m128i bytes = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(differences)),
                                               _mm_load_si128(reinterpret_cast<const __m128i*>(fields.source)));
        __m128i sum = _mm_mullo_epi16(bytes, _mm_load_si128(reinterpret_cast<const __m128i*>(fields.up)));
        sum = _mm_sra_epi16(sum, _mm_cvtsi32_si128(16 - width));
        sum = _mm_add_epi16(sum, _mm_slli_si128(sum, 2));
        sum = _mm_add_epi16(sum, _mm_slli_si128(sum, 4));
        sum = _mm_add_epi16(sum, _mm_slli_si128(sum, 8));
        sum = _mm_add_epi16(sum, before);
        before = _mm_shuffle_epi8(sum, last_lane);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), sum);
        differences += width;
    }
}

uint64_t nonzero(const int16_t* block) {
    const auto load = [&](int at) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(block + at)); };
    uint64_t zero = 0;
    for (int half = 0; half < 2; ++half) {
        // Saturation keeps what is not zero; packing works within halves, so the quarters are put in order after it.
        const __m256i bytes =
            _mm256_permute4x64_epi64(_mm256_packs_epi16(load(32 * half), load(32 * half + 16)), 0b11'01'10'00);
        const __m256i is_zero = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
        zero |= uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(is_zero))} << 32 * half;
    }
    return ~zero;
}

uint64_t payload_bytes(const uint8_t* ids, int64_t count, const PackBook& book) {
    uint64_t sums[4] = {};
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int k = 0; k < 4; ++k) sums[k] += book.length[ids[i + k]];
    }
    for (; i < count; ++i) sums[0] += book.length[ids[i]];
    return sums[0] + sums[1] + sums[2] + sums[3];
}

}  // namespace

const PackKernels pack_kernels_avx2{unpack_blocks, unpack_dc, nonzero, payload_bytes};

}  // namespace pixelmill

END_AVX2_CODE

#endif
