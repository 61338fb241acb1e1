// The coefficients of a JPEG file that may be packed, one band of rows after the other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "jpeg_scan.h"
#include "pack_layout.h"

namespace pixelmill {

class PackSource {
   public:
    // The reason why the file cannot be packed; empty for those that can, as far as the header tells.
    std::string open(Bytes file);

    // Decodes the next rows of MCUs, at most `mcu_rows` of them. False for damaged data.
    bool read_band(int64_t mcu_rows);

    // After the last row: where the scan ends. False when it does not end as a sound file's does.
    bool finish(uint64_t& end) { return scan_.finish(file_, end); }

    // Block `column` of a row of the current band.
    const int16_t* block(int component, int64_t row, int64_t column) const {
        const Part& part = parts_[static_cast<size_t>(component)];
        return part.blocks.data() + 64 * (row * part.a_row + column);
    }
    const JpegParser& parser() const { return parser_; }
    const JpegFrame& frame() const { return parser_.frame(); }
    int64_t blocks_a_row(int component) const { return parts_[static_cast<size_t>(component)].a_row; }
    int64_t mcus_a_row() const { return mcus_a_row_; }
    int64_t mcu_rows() const { return mcu_rows_; }

   private:
    struct Part {
        int64_t a_row = 0;
        std::vector<int16_t> blocks;
        std::vector<uint8_t> last;
    };

    Bytes file_;
    JpegParser parser_;
    JpegScanDecoder scan_;
    std::array<Part, JpegFrame::most_components> parts_{};
    int64_t mcus_a_row_ = 0, mcu_rows_ = 0;
};

}  // namespace pixelmill
