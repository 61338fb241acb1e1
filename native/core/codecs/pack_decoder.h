// Packed images to pixels, by the same inverse transforms and colors as JPEG files: the same bytes.
#pragma once

#include <memory>

#include "../arena.h"
#include "../limits.h"
#include "jpeg_planes.h"
#include "pack_blocks.h"

namespace pixelmill {

// One thread's decoder, used for image after image: open, decode. A Fault leaves it ready for the next open.
class PackDecoder {
   public:
    // Reads the header; `file` must outlive the decode. Faults: those of PackLayout::read; too_large; argument when
    // the codebook is not registered.
    void open(Bytes file, const Limits& limits);
    const PackLayout& layout() const { return layout_; }

    // Writes the window of the request. `out` has its extents, one byte a pixel for gray and three or four for colors.
    // Faults: checksum, corrupt.
    void decode(const JpegRequest& request, const View<uint8_t>& out);

    // The byte ranges that a decode reads of an image of `size` bytes, in order: all that has to be there when it is
    // opened for this request. `start` holds its header and index. Faults: those of PackLayout::read; argument.
    std::vector<ByteRange> ranges(Bytes start, uint64_t size, const JpegRequest& request);

   private:
    void plan(const JpegRequest& request);
    void decode_row(int component, int64_t mcu_row, int block_row);
    void decode_means(const JpegPlane& plane, int block_row);

    Bytes file_;
    PackLayout layout_;
    std::shared_ptr<const PackCodebook> codebook_;
    PackBlocks blocks_;
    PackBlocks::Needs needs_{};
    JpegPlanes planes_;
    Arena arena_;
    int16_t *dc_ = nullptr, *batch_ = nullptr;
    uint8_t* last_ = nullptr;
};

}  // namespace pixelmill
