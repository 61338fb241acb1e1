#include "pack_kernels.h"

namespace pixelmill {
namespace {

void unpack_row(int16_t* out, const uint8_t* from, const PackRowPair& pair, size_t first) {
    for (size_t lane = first; lane < first + 8; ++lane) {
        const auto both = static_cast<uint32_t>(from[pair.source[2 * lane]] | from[pair.source[2 * lane + 1]] << 8);
        const auto top = static_cast<int16_t>(static_cast<uint16_t>(both * pair.up[lane]));
        *out++ = static_cast<int16_t>(top * pair.down[lane] >> 16);
    }
}

const uint8_t* unpack_blocks(int16_t* blocks, uint8_t* last, const uint8_t* ids, const uint8_t* payload,
                             const int16_t* dc, int64_t count, const PackBook& book) {
    for (int64_t i = 0; i < count; ++i, blocks += 64) {
        const size_t id = ids[i];
        for (size_t row = 0; row < 8; ++row)
            unpack_row(blocks + 8 * row, payload + book.rows[id][row], book.profiles[id].pairs[row / 2], row % 2 * 8);
        blocks[0] = dc[i];
        last[i] = book.last[id];
        payload += book.length[id];
    }
    return payload;
}

void unpack_dc(int16_t* out, const uint8_t* widths, const uint8_t* differences, int64_t groups, int16_t first) {
    auto sum = static_cast<uint16_t>(first);
    for (int64_t group = 0; group < groups; ++group) {
        const uint32_t width = pack_dc_widths[widths[group / 2] >> group % 2 * 4 & 15];
        for (uint32_t k = 0, bit = 0; k < 8; ++k, bit += width) {
            uint32_t field = 0;
            if (width > 0) {
                const uint8_t* from = differences + bit / 8;
                const auto both = static_cast<uint32_t>(from[0] | (bit % 8 + width > 8 ? from[1] << 8 : 0));
                const auto top = static_cast<int16_t>(static_cast<uint16_t>(both << (16 - width - bit % 8)));
                field = static_cast<uint32_t>(top >> (16 - width));
            }
            sum = static_cast<uint16_t>(sum + field);
            *out++ = static_cast<int16_t>(sum);
        }
        differences += width;
    }
}

uint64_t nonzero(const int16_t* block) {
    uint64_t found = 0;
    for (int row = 0; row < 8; ++row) {
        uint32_t pattern = 0;
        for (int column = 0; column < 8; ++column)
            pattern |= static_cast<uint32_t>(block[8 * row + column] != 0) << column;
        found |= uint64_t{pattern} << 8 * row;
    }
    return found;
}

uint64_t payload_bytes(const uint8_t* ids, int64_t count, const PackBook& book) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += book.length[ids[i]];
    return sum;
}

}  // namespace

const PackKernels pack_kernels_base{unpack_blocks, unpack_dc, nonzero, payload_bytes};

const PackKernels& pack_kernels() {
#if PIXELMILL_NEON
    if (simd_level() == SimdLevel::avx2) return pack_kernels_neon;
#elif PIXELMILL_AVX2
    if (simd_level() == SimdLevel::avx2) return pack_kernels_avx2;
#endif
    return pack_kernels_base;
}

}  // namespace pixelmill
