// Huffman coding of a sequential scan with the tables of a file: the other direction of JpegScanDecoder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "jpeg_frame.h"

namespace pixelmill {

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
    struct Code {
        uint32_t bits = 0, size = 0;  // a size of 0: there is none
    };
    struct Table {
        bool build(const HuffmanSpec& spec);
        std::array<Code, 256> codes{};
    };
    struct Block {
        const Table *dc = nullptr, *ac = nullptr;
        size_t component = 0;
    };

    // The end of the stream: the lowest `count` of `bits`, fewer than 8, are not in memory yet.
    struct Bits {
        uint8_t* at = nullptr;
        uint64_t bits = 0;
        uint32_t count = 0;

        void put(uint32_t value, uint32_t size);
    };

    bool write_block(Bits& to, const int16_t* block, const Block& kind);
    void pad();
    bool restart();
    bool flush();

    std::vector<std::byte>* out_ = nullptr;
    uint64_t most_ = 0;
    uint64_t (*nonzero_)(const int16_t*) = nullptr;
    std::array<Table, JpegTables::slots> dc_{}, ac_{};
    std::array<Block, most_blocks> kinds_{};
    size_t blocks_ = 0;
    std::array<int, JpegFrame::most_components> last_{};
    bool zero_padding_ = false;
    uint32_t restart_interval_ = 0, until_restart_ = 0, next_restart_ = 0;

    // The stream without zeros after 0xFF. No MCU takes more than `largest_mcu`: a code of 16 bits and a value of 15
    // for each coefficient.
    static constexpr size_t largest_mcu = most_blocks * 64 * 4, chunk = 8192, store = sizeof(uint64_t);
    std::array<uint8_t, chunk + largest_mcu + store> plain_;
    Bits bits_;
};

}  // namespace pixelmill
