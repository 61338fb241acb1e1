// Huffman decoding of sequential and progressive scans. It answers for sound data only: whatever a sound file does not
// contain makes it fail, and the caller then has libjpeg-turbo decode the file, so that damaged files give what libjpeg
// makes of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "jpeg_frame.h"

namespace pixelmill {

struct ScanState;

// Used for file after file: its tables stay as long as files define the same ones.
class JpegScanDecoder {
   public:
    static constexpr int most_blocks = 10;  // of an MCU

    // How much of a component's blocks is wanted.
    enum class Need : uint8_t { nothing, first, all };  // `first`: the first coefficient of each block
    using Needs = std::array<Need, JpegFrame::most_components>;

    JpegScanDecoder();
    ~JpegScanDecoder();
    JpegScanDecoder(const JpegScanDecoder&) = delete;
    JpegScanDecoder& operator=(const JpegScanDecoder&) = delete;

    // Starts with a scan. `needs` count for sequential scans only; progressive ones are read in full.
    bool begin(Bytes file, const JpegFrame& frame, const JpegTables& tables, const JpegScan& scan, const Needs& needs);

    // Where a block goes: to 64 zeros, or to what earlier scans of a progressive file have made of it.
    struct Target {
        int16_t* block = nullptr;
        uint8_t* last =
            nullptr;  // sequential scans: gets the place in the stream of the last coefficient but the first
        uint64_t* nonzero = nullptr;  // progressive scans: a bit for each place that is not zero, but the first
    };

    // Decodes the next MCU, a target for each of its blocks; those of components without a need are ignored.
    bool read_mcu(const Target* targets);

    // Moves past MCUs whose pixels are not wanted; sequential scans only.
    bool skip_mcus(int64_t count);

    // After the last MCU: the offset of the marker that follows. False when something else follows.
    bool finish(Bytes file, uint64_t& at);

   private:
    std::unique_ptr<ScanState> state_;
};

}  // namespace pixelmill
