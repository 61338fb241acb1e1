// Our own decoder of Huffman-coded JPEG files: markers, entropy decoding, inverse transform, upsampling, color.
#pragma once

#include <array>
#include <cstdint>

#include "../arena.h"
#include "jpeg_frame.h"
#include "jpeg_planes.h"
#include "jpeg_progressive.h"
#include "jpeg_scan.h"

namespace pixelmill {

class JpegDecoder {
   public:
    // Whether this decoder takes the file: Huffman coded, one or three components, sequential in one scan or
    // progressive, nothing odd in its header.
    bool open(Bytes file);
    const JpegFrame& frame() const { return parser_.frame(); }

    // False when the data is damaged; `out` is then partly written and libjpeg-turbo has to decode the file.
    bool decode(const JpegRequest& request, const View<uint8_t>& out);

   private:
    // The coefficients of some MCUs side by side, a row of blocks after the other.
    struct Batch {
        int16_t* blocks = nullptr;
        uint8_t* last = nullptr;
        int64_t row = 0;  // blocks from one row of blocks to the next
    };

    bool decode_sequential(const View<uint8_t>& out);
    bool decode_progressive(const View<uint8_t>& out);
    void prepare_batches();
    bool decode_row();
    bool decode_batch(int64_t column, int64_t count);

    Bytes file_;
    JpegParser parser_;
    JpegScanDecoder scan_;
    JpegCoefficients coefficients_;  // of a progressive file
    JpegPlanes planes_;
    Arena arena_;
    std::array<Batch, JpegFrame::most_components> batches_{};
    std::array<JpegScanDecoder::Target, JpegScanDecoder::most_blocks> targets_{};
    std::array<int64_t, JpegScanDecoder::most_blocks> steps_{};  // of the targets, from MCU to MCU
    int targets_count_ = 0;
    int64_t mcus_a_row_ = 0, batch_ = 0;
};

}  // namespace pixelmill
