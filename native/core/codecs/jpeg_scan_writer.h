// Huffman coding of a sequential scan with the tables of a file: the other direction of JpegScanDecoder.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "jpeg_frame.h"

namespace pixelmill {

class JpegScanWriter {
   public:
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

    bool write_block(const int16_t* block, const Block& kind);
    void put(uint32_t bits, uint32_t size);
    void put_word(uint64_t word, int bytes);
    void pad();
    void restart();
    bool flush();

    std::vector<std::byte>* out_ = nullptr;
    uint64_t (*nonzero_)(const int16_t*) = nullptr;
    uint64_t most_ = 0;
    std::array<Table, JpegTables::slots> dc_{}, ac_{};
    std::array<Block, 10> kinds_{};
    int blocks_ = 0;
    std::array<int, JpegFrame::most_components> last_{};
    uint64_t bits_ = 0;  // the lowest `count_` have not been written
    int count_ = 0;
    bool zero_padding_ = false;
    uint32_t restart_interval_ = 0, until_restart_ = 0, next_restart_ = 0;
    // An MCU takes less than 64 kB even when a zero follows each of its bytes.
    static constexpr size_t flush_at = size_t{1} << 16, room = size_t{1} << 17;
    std::vector<uint8_t> buffer_;
    size_t used_ = 0;
};

}  // namespace pixelmill
