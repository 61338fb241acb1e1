// Unpacking of packed images with NEON; the first coefficients and the sums are those of AVX2, translated.
#include "pack_kernels.h"

#if PIXELMILL_NEON

namespace pixelmill {
namespace {

inline int16x8_t unpack_row(const uint8_t* from, const PackRowPair& pair, size_t first) {
    const uint8x16_t fields = vqtbl1q_u8(vld1q_u8(from), vld1q_u8(pair.source.data() + 2 * first));
    const uint16x8_t top = vmulq_u16(vreinterpretq_u16_u8(fields), vld1q_u16(pair.up.data() + first));
    const int16x8_t field = vreinterpretq_s16_u16(top),
                    down = vreinterpretq_s16_u16(vld1q_u16(pair.down.data() + first));
    const int32x4_t low = vmull_s16(vget_low_s16(field), vget_low_s16(down)), high = vmull_high_s16(field, down);
    return vuzp2q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
}

const uint8_t* unpack_blocks(int16_t* blocks, uint8_t* last, const uint8_t* ids, const uint8_t* payload,
                             const int16_t* dc, int64_t count, const PackBook& book) {
    for (int64_t i = 0; i < count; ++i, blocks += 64) {
        const size_t id = ids[i];
        const auto& rows = book.rows[id];
        const auto& pairs = book.profiles[id].pairs;
        for (size_t row = 0; row < 8; ++row)
            vst1q_s16(blocks + 8 * row, unpack_row(payload + rows[row], pairs[row / 2], row % 2 * 8));
        blocks[0] = dc[i];
        last[i] = book.last[id];
        payload += book.length[id];
    }
    return payload;
}

void unpack_dc(int16_t* out, const uint8_t* widths, const uint8_t* differences, int64_t groups, int16_t first) {
    pack_kernels_avx2.unpack_dc(out, widths, differences, groups, first);
}

// Two rows: the bit of its column in each byte that belongs to a number other than zero.
inline uint8x16_t bits_of_two(const int16_t* rows) {
    const int16x8_t upper = vld1q_s16(rows), lower = vld1q_s16(rows + 8);
    const uint8x16_t used =
        vuzp1q_u8(vreinterpretq_u8_u16(vtstq_s16(upper, upper)), vreinterpretq_u8_u16(vtstq_s16(lower, lower)));
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    return vandq_u8(used, bits);
}

uint64_t nonzero(const int16_t* block) {
    const uint8x16_t upper = vpaddq_u8(bits_of_two(block), bits_of_two(block + 16));
    const uint8x16_t lower = vpaddq_u8(bits_of_two(block + 32), bits_of_two(block + 48));
    const uint8x16_t fours = vpaddq_u8(upper, lower);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)), 0);
}

uint64_t payload_bytes(const uint8_t* ids, int64_t count, const PackBook& book) {
    return pack_kernels_avx2.payload_bytes(ids, count, book);
}

}  // namespace

const PackKernels pack_kernels_neon{unpack_blocks, unpack_dc, nonzero, payload_bytes};

}  // namespace pixelmill

#endif
