// The header and the index of a packed image: where its sections and their bands lie. docs/packed-image.md specifies
// them. Everything here is checked against the length of the image before it is believed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "bytes.h"
#include "image.h"
#include "jpeg_frame.h"
#include "pack_codebook.h"

namespace pixelmill {

enum class PackSection : uint8_t { dc, chroma, luma };
constexpr size_t pack_sections = 3;

constexpr char pack_magic[] = "\x89PMI\r\n\x1A\n";
constexpr size_t pack_magic_bytes = 8, pack_fixed_bytes = 80;
constexpr uint32_t pack_version = 1;
constexpr uint64_t pack_checksum_at = 76;  // of the header and the index
enum PackFlag : uint32_t {
    pack_wide_quantization = 1,  // tables have entries of 16 bits
    pack_wide_lengths = 2,       // bands have lengths of 32 bits
    pack_zero_padding = 4,       // the last byte of the scan ends with zeros instead of ones
    pack_several_frames = 8,
    pack_known_flags = 15,
};
constexpr int most_band_rows = 16;  // rows of blocks of a component in a band

struct PackBand {
    std::array<uint64_t, pack_sections> offset{}, length{};
    std::array<uint32_t, pack_sections> checksum{};
};

// A component in the unit of blocks.
struct PackComponent {
    int h = 1, v = 1;
    int64_t blocks = 0;  // of a row, up to the end of its last MCU
};

class PackLayout {
   public:
    // `start` begins an image of `size` bytes and holds its header and index. Faults: truncated, corrupt, checksum,
    // unsupported.
    void read(Bytes start, uint64_t size);

    // Bytes that `read` looks at. `start`: at least the first pack_fixed_bytes.
    static uint64_t header_bytes(Bytes start);

    JpegFrame frame;
    JpegTables tables;  // the quantization tables only
    int orientation = 1;
    bool bad_orientation = false, more_frames = false, zero_padding = false;
    uint64_t codebook = 0;
    std::array<PackComponent, JpegFrame::most_components> components{};
    int64_t mcus_a_row = 0, mcu_rows = 0;
    int band_mcu_rows = 1;
    std::vector<PackBand> bands;
    uint64_t tail = 0, before_length = 0, after_length = 0;  // the bytes of the file before and after its scan
    uint32_t tail_checksum = 0, original_checksum = 0;
    uint64_t original_length = 0;

    uint64_t header_length() const { return header_length_; }  // and of the index

    // Rows of MCUs in a band.
    int64_t rows_of(size_t band) const;

   private:
    void read_fixed(Bytes file);
    void read_components(Bytes file);
    void read_quantization(Bytes file);
    void read_index(Bytes start, uint64_t size);

    bool wide_quantization_ = false, wide_lengths_ = false;
    uint64_t header_length_ = 0;
};

ImageInfo pack_info(Bytes file);

// Of the first `length` bytes, without the field that holds it.
uint32_t pack_header_checksum(Bytes file, uint64_t length);

struct ByteRange {
    uint64_t offset = 0, length = 0;
};

}  // namespace pixelmill
