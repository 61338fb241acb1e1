// All coefficients of a progressive JPEG file: its scans, one after the other, each adding to them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "jpeg_frame.h"
#include "jpeg_kernels.h"
#include "jpeg_scan.h"

namespace pixelmill {

class JpegCoefficients {
   public:
    // Reads all scans, from the one at which the parser stands. False when the file is not sound or not complete:
    // libjpeg-turbo smooths what lacks coefficients.
    bool read(Bytes file, JpegParser& parser, JpegScanDecoder& decoder);

    // The blocks of a component from MCU `column` on, in row `block_row` of row `mcu_row` of MCUs.
    BlockRow row(int component, int64_t mcu_row, int block_row, int64_t column, int64_t mcus);

    // Frees the memory of large images; that of smaller ones is kept for the next file.
    void release();

   private:
    struct alignas(64) Block {
        int16_t coefficients[64];
    };

    struct Component {
        int h = 1, v = 1;
        int64_t blocks_a_row = 0;                 // in memory: whole MCUs, and one more because transforms take pairs
        int64_t used_columns = 0, used_rows = 0;  // blocks that hold pixels, which are those of a scan of its own
        int64_t first = 0;                        // where its blocks begin in blocks_
        std::array<int8_t, 64> low{};             // lowest bit of each coefficient that has come; -1: none has
    };

    void allocate(const JpegFrame& frame);
    bool check_progress(const JpegScan& scan);
    bool read_scan(Bytes file, const JpegParser& parser, JpegScanDecoder& decoder);
    bool read_interleaved(const JpegScan& scan, JpegScanDecoder& decoder);
    bool complete(const JpegFrame& frame) const;
    JpegScanDecoder::Target target(const Component& component, int64_t row, int64_t column);

    std::array<Component, JpegFrame::most_components> components_{};
    int64_t mcus_a_row_ = 0, mcu_rows_ = 0;
    std::vector<Block> blocks_;
    std::vector<uint64_t> nonzero_;  // of each block, as JpegScanDecoder::Target has it
    std::vector<uint8_t> last_;      // of the blocks of a row that row() returns
};

}  // namespace pixelmill
