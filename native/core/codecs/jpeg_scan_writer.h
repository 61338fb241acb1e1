// Huffman coding of a sequential scan with the tables of a file: the other direction of JpegScanDecoder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jpeg_frame.h"

namespace pixelmill {

// A symbol's code and the value that follows it in 31 bits, and how many they are in the upper half.
struct JpegScanCode {
    static constexpr uint32_t missing = 1u << 31;  // flag: the table has no code for it
    uint64_t all;

    static JpegScanCode of(uint32_t bits, uint32_t size) { return {uint64_t{size} << 32 | bits}; }
    uint32_t bits() const { return static_cast<uint32_t>(all); }
    uint32_t size() const { return static_cast<uint32_t>(all >> 32); }
};

struct JpegScanTable {
    bool build(const HuffmanSpec& spec);
    std::array<JpegScanCode, 256> codes{};  // of symbols, moved up by the bits of the values that follow them
};

struct JpegScanBlock {
    const JpegScanTable *dc = nullptr, *ac = nullptr;
    size_t component = 0;
};

// The end of a stream: the lowest `count` of `bits`, fewer than 8, are not in memory yet.
struct JpegScanBits {
    uint8_t* at = nullptr;
    uint64_t bits = 0;
    uint32_t count = 0;

    void put(uint64_t value, uint32_t size);
};

class JpegScanWriter {
   public:
    static constexpr size_t most_blocks = 10;  // of an MCU

    // Starts a scan. False when a table is missing or impossible. `out` gets the bytes, up to `most` in all.
    bool begin(std::vector<std::byte>& out, uint64_t most, const JpegFrame& frame, const JpegTables& tables,
               const JpegScan& scan, bool zero_padding);

    // Writes an MCU: its blocks in the order of the stream, 64 coefficients each, row by row. False when the tables
    // have no code for a value, or when the bytes become too many.
    bool write_mcu(const int16_t* const* blocks);

    // Pads the last byte and appends what is left. False when the bytes become too many.
    bool finish();

   private:
    void pad();
    bool restart();
    bool flush();

    std::vector<std::byte>* out_ = nullptr;
    uint64_t most_ = 0;
    bool (*write_blocks_)(JpegScanBits&, const int16_t* const*, const JpegScanBlock*, size_t, int*) = nullptr;
    std::array<JpegScanTable, JpegTables::slots> dc_{}, ac_{};
    std::array<JpegScanBlock, most_blocks> kinds_{};
    size_t blocks_ = 0;
    std::array<int, JpegFrame::most_components> last_{};
    bool zero_padding_ = false;
    uint32_t restart_interval_ = 0, until_restart_ = 0, next_restart_ = 0;

    // The stream without zeros after 0xFF. No MCU takes more than `largest_mcu`: a code of 16 bits and a value of 15
    // for each coefficient.
    static constexpr size_t largest_mcu = most_blocks * 64 * 4, chunk = 8192, store = sizeof(uint64_t);
    std::array<uint8_t, chunk + largest_mcu + store> plain_;
    JpegScanBits bits_;
};

}  // namespace pixelmill
