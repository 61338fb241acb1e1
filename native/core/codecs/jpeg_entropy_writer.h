// Huffman coding of baseline JPEG streams with the tables of the standard.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../platform/compiler.h"
#include "jpeg_standard_tables.h"

namespace pixelmill {

// The code of a coefficient followed by its value: 27 bits at most, and how many they are in the five bits above.
struct JpegCode {
    static constexpr int room = 27;
    uint32_t all;

    static JpegCode of(uint32_t bits, uint32_t size) { return {bits | size << room}; }
    uint32_t bits() const { return all & ((1u << room) - 1); }
    uint32_t size() const { return all >> room; }
};

// The codes of a symbol with all values that may follow it, those of small values side by side: what is used shares
// some lines of the cache. Any index is safe; values out of range get codes that are wrong.
template <int most, int runs>
class JpegValueCodes {
   public:
    explicit JpegValueCodes(const std::array<JpegCode, 256>& symbols);

    JpegCode at(int zeros, int value) const { return codes_[place(zeros, value)]; }

   private:
    static size_t place(int zeros, int value) {
        return static_cast<size_t>((value & (2 * most + 1)) * runs + (zeros & (runs - 1)));
    }

    std::array<JpegCode, size_t{2 * most + 2} * runs> codes_{};
};

// The codes of luma or of chroma. Pixels of eight bits have no larger values.
struct JpegCodes {
    JpegCodes(const StandardHuffman& dc, const StandardHuffman& ac);

    JpegCode end_of_block, sixteen_zeros;
    JpegValueCodes<2047, 1> differences;
    JpegValueCodes<1023, 16> coefficients;
};

const JpegCodes& standard_luma_codes();
const JpegCodes& standard_chroma_codes();

// Blocks are kept in pairs: eight rows of sixteen values, the first eight of each row belong to the first block.
constexpr int jpeg_pair_row = 16;

// One block of the stream.
struct JpegBlock {
    const int16_t* values;    // rows are `jpeg_pair_row` apart
    const uint64_t* nonzero;  // bit k: the k-th coefficient of the stream is not zero; the first is always coded
    int component;
};

// The bits of a scan on their way to the file.
struct JpegBits {
    static constexpr int most_components = 3;
    static constexpr size_t most_blocks = 48, largest_block = 64 * sizeof(uint32_t), spare = 32;

    uint64_t bits = 0;  // the last `count` of them, fewer than 8, are not in `plain` yet
    int count = 0;
    size_t size = 0;  // of `plain`
    const JpegCodes* codes[most_components] = {};
    int last[most_components] = {};  // first coefficients, which are coded as differences

    std::array<uint8_t, most_blocks * largest_block + spare> plain;  // the stream without zeros after 0xFF
    std::array<uint8_t, 2 * (most_blocks * largest_block + spare)> stuffed;

    void start();
    void finish();  // fills the last byte up with ones
};

}  // namespace pixelmill
