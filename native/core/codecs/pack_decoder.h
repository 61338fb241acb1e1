// Packed images to pixels, by the same inverse transforms and colors as JPEG files: the same bytes.
#pragma once

#include <functional>
#include <memory>

#include "../arena.h"
#include "../limits.h"
#include "jpeg_planes.h"
#include "pack_blocks.h"

namespace pixelmill {

// One thread's decoder, used for image after image: open, decode. A Fault leaves it ready for the next open.
class PackDecoder {
   public:
    // Intermediates are taken from `arena`, and are free again when a decode is done.
    explicit PackDecoder(Arena& arena) : arena_(arena) {}

    // Reads the header; `file` must outlive the decode. Faults: those of PackLayout::read; too_large; argument when
    // the codebook is not registered.
    void open(Bytes file, const Limits& limits);
    const PackLayout& layout() const { return layout_; }

    // Writes a range of the file that was opened to memory.
    using ReadRange = std::function<void(std::byte* out, const ByteRange& range)>;
    // Of bands that are read together: enough that calls of the system do not count, and still in the second-level
    // cache when they are unpacked.
    uint64_t bytes_at_once = uint64_t{128} << 10;

    // Writes the window of the request. `out` has its extents, one byte a pixel for gray and three or four for colors.
    // Faults: checksum, corrupt.
    void decode(const JpegRequest& request, const View<uint8_t>& out) { decode(request, out, nullptr); }

    // The same of a file of which only header and index are in memory: the bands that the window needs are read, some
    // of them at a time, so that no memory for all of them is needed.
    void decode(const JpegRequest& request, const View<uint8_t>& out, const ReadRange& read);

    // The byte ranges that a decode reads of an image of `size` bytes, in order, if it is all in memory. `start` holds
    // its header and index. Faults: those of PackLayout::read; argument.
    std::vector<ByteRange> ranges(Bytes start, uint64_t size, const JpegRequest& request);

   private:
    void plan(const JpegRequest& request);
    bool needs(size_t section) const { return section == 0 || (section == 1 ? needs_[1] || needs_[2] : needs_[0]); }
    uint64_t needed_bytes(size_t band) const;
    std::byte* take_memory(size_t first, size_t last);
    size_t read_bands(std::byte* memory, size_t first, size_t last, const ReadRange& read);
    void decode_row(int component, int64_t mcu_row, int block_row);
    void decode_means(const JpegPlane& plane, int block_row);

    Bytes file_;
    PackLayout layout_;
    std::shared_ptr<const PackCodebook> codebook_;
    PackBlocks blocks_;
    PackBlocks::Needs needs_{};
    JpegPlanes planes_;
    Arena& arena_;
    int16_t *dc_ = nullptr, *batch_ = nullptr;
    uint8_t* last_ = nullptr;
};

}  // namespace pixelmill
