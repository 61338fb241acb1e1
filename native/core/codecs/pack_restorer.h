// The JPEG file that was packed, byte for byte.
#pragma once

#include <memory>
#include <vector>

#include "jpeg_scan_writer.h"
#include "pack_blocks.h"

namespace pixelmill {

class PackRestorer {
   public:
    // Faults: those of PackDecoder::open but too_large; checksum, corrupt. The bytes have the length and the checksum
    // of the original.
    void restore(std::vector<std::byte>& out, Bytes packed);

   private:
    void read_header(Bytes before);
    void write_band(size_t band);
    void write_mcu_row(int64_t row);

    PackLayout layout_;
    JpegParser parser_;
    PackBlocks blocks_;
    JpegScanWriter writer_;
    std::vector<int16_t> dc_, coefficients_;
    std::vector<uint8_t> last_;
};

}  // namespace pixelmill
