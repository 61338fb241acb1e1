#include "pack_layout.h"

#include <algorithm>
#include <string>

#include "../fault.h"
#include "../records/crc32c.h"

namespace pixelmill {
namespace {

constexpr uint64_t most_header_bytes = uint64_t{1} << 20;  // 65500 rows of pixels need a tenth of it
constexpr int64_t longest_side = 65500;
constexpr int most_blocks = 10;  // of an MCU

[[noreturn]] void refuse(const std::string& reason) {
    throw Fault(FaultKind::corrupt, "corrupt packed image: " + reason);
}

void need(uint64_t size, uint64_t bytes) {
    if (size >= bytes) return;
    throw Fault(FaultKind::truncated,
                "truncated packed image: " + std::to_string(size) + " of " + std::to_string(bytes) + " bytes");
}

int64_t ceil_divide(int64_t a, int64_t b) { return (a + b - 1) / b; }

uint64_t low32(Bytes file, uint64_t at) { return le32(file, at); }

}  // namespace

uint32_t pack_header_checksum(Bytes file, uint64_t length) {
    const uint64_t rest = pack_checksum_at + 4;
    return crc32c(file.subspan(rest, length - rest), crc32c(file.first(pack_checksum_at)));
}

uint64_t PackLayout::header_bytes(Bytes start) {
    need(start.size(), pack_fixed_bytes);
    if (!starts_with(start, pack_magic, pack_magic_bytes))
        throw Fault(FaultKind::wrong_format, "not a packed image: it does not begin with the magic bytes");
    if (le16(start, 8) != pack_version) {
        throw Fault(FaultKind::unsupported, "packed image of version " + std::to_string(le16(start, 8)) +
                                                "; this release reads version " + std::to_string(pack_version));
    }
    const uint64_t length = le32(start, 40);
    if (length < pack_fixed_bytes || length > most_header_bytes)
        refuse("a header of " + std::to_string(length) + " bytes");
    return length;
}

void PackLayout::read(Bytes file, uint64_t size) {
    header_length_ = header_bytes(file);
    need(file.size(), header_length_);
    if (pack_header_checksum(file, header_length_) != le32(file, pack_checksum_at))
        throw Fault(FaultKind::checksum, "packed image: the checksum of its header does not fit");
    read_fixed(file);
    read_components(file);
    read_quantization(file);
    read_index(file, size);
}

void PackLayout::read_fixed(Bytes file) {
    const uint32_t flags = byte_at(file, 29);
    if ((flags & ~uint32_t{pack_known_flags}) != 0 || le16(file, 30) != 0)
        refuse("flags that this version does not define");
    wide_quantization_ = (flags & pack_wide_quantization) != 0;
    wide_lengths_ = (flags & pack_wide_lengths) != 0;
    zero_padding = (flags & pack_zero_padding) != 0;
    more_frames = (flags & pack_several_frames) != 0;
    frame = {};
    frame.count = static_cast<int>(byte_at(file, 10));
    if (frame.count != 1 && frame.count != 3) refuse(std::to_string(frame.count) + " components");
    const uint32_t space = byte_at(file, 11);
    if (space > 2 || (space == 0) != (frame.count == 1)) refuse("color space " + std::to_string(space));
    frame.space = space == 0 ? JpegSpace::gray : space == 1 ? JpegSpace::ycc : JpegSpace::rgb;
    frame.width = le32(file, 12);
    frame.height = le32(file, 16);
    if (frame.width < 1 || frame.height < 1 || std::max(frame.width, frame.height) > longest_side)
        refuse("extents of " + std::to_string(frame.height) + " x " + std::to_string(frame.width));
    const uint32_t turned = byte_at(file, 23);
    if (turned > 8) refuse("orientation " + std::to_string(turned));
    orientation = turned == 0 ? 1 : static_cast<int>(turned);
    bad_orientation = turned == 0;
    codebook = low32(file, 32) | low32(file, 36) << 32;
    before_length = le32(file, 56);
    after_length = le32(file, 60);
    original_length = le32(file, 64);
    original_checksum = le32(file, 68);
    tail_checksum = le32(file, 72);
}

void PackLayout::read_components(Bytes file) {
    int blocks = 0;
    components = {};
    for (size_t i = 0; i < static_cast<size_t>(frame.count); ++i) {
        const uint32_t factors = byte_at(file, 20 + i);
        PackComponent& component = components[i];
        component.h = static_cast<int>(factors >> 4);
        component.v = static_cast<int>(factors & 15);
        if (component.h < 1 || component.h > 4 || component.v < 1 || component.v > 4) refuse("sampling factors");
        frame.components[i] = {static_cast<uint32_t>(i), component.h, component.v,
                               static_cast<int>(byte_at(file, 24 + i))};
        frame.max_h = std::max(frame.max_h, component.h);
        frame.max_v = std::max(frame.max_v, component.v);
        blocks += component.h * component.v;
    }
    if (blocks > most_blocks || (frame.count == 1 && blocks != 1)) refuse("sampling factors");
    mcus_a_row = ceil_divide(frame.width, int64_t{frame.max_h} * 8);
    mcu_rows = ceil_divide(frame.height, int64_t{frame.max_v} * 8);
    for (size_t i = 0; i < static_cast<size_t>(frame.count); ++i) {
        if (frame.max_h % components[i].h != 0 || frame.max_v % components[i].v != 0) refuse("sampling factors");
        components[i].blocks = mcus_a_row * components[i].h;
    }
    band_mcu_rows = static_cast<int>(byte_at(file, 28));
    if (band_mcu_rows < 1 || band_mcu_rows * frame.max_v > most_band_rows) refuse("rows of a band");
}

void PackLayout::read_quantization(Bytes file) {
    const uint64_t count = byte_at(file, 27), entry = wide_quantization_ ? 2 : 1;
    if (count < 1 || count > JpegFrame::most_components) refuse("number of quantization tables");
    for (int i = 0; i < frame.count; ++i) {
        if (static_cast<uint64_t>(frame.components[static_cast<size_t>(i)].quant) >= count)
            refuse("number of a quantization table");
    }
    const auto mcu_row_bands = static_cast<uint64_t>(ceil_divide(mcu_rows, band_mcu_rows));
    const uint64_t band_bytes = pack_sections * (wide_lengths_ ? 8 : 6);
    if (header_length_ != pack_fixed_bytes + count * 64 * entry + mcu_row_bands * band_bytes)
        refuse("the length of its header");
    bands.resize(mcu_row_bands);
    uint64_t at = pack_fixed_bytes;
    for (uint64_t i = 0; i < count; ++i) {
        for (size_t k = 0; k < 64; ++k, at += entry)
            tables.quant[i][k] = static_cast<uint16_t>(wide_quantization_ ? le16(file, at) : byte_at(file, at));
    }
}

void PackLayout::read_index(Bytes file, uint64_t size) {
    std::array<uint64_t, pack_sections> next{}, end{};
    uint64_t at = header_length_;
    for (size_t section = 0; section < pack_sections; ++section) {
        next[section] = at;
        at += le32(file, 44 + 4 * section);
        end[section] = at;
    }
    tail = at;
    if (frame.count == 1 && le32(file, 48) != 0) refuse("chroma in a gray image");
    if (before_length + after_length < pack_slack) refuse("the bytes around its scan are missing");
    const uint64_t whole = tail + before_length + after_length;
    need(size, whole);
    if (size != whole) refuse(std::to_string(size - whole) + " bytes after its end");
    const uint64_t length_bytes = wide_lengths_ ? 4 : 2;
    uint64_t entry = header_length_ - bands.size() * pack_sections * (length_bytes + 4);
    for (PackBand& band : bands) {
        for (size_t section = 0; section < pack_sections; ++section, entry += length_bytes + 4) {
            band.offset[section] = next[section];
            band.length[section] = wide_lengths_ ? le32(file, entry) : le16(file, entry);
            band.checksum[section] = le32(file, entry + length_bytes);
            next[section] += band.length[section];
            if (next[section] > end[section]) refuse("the bands of a section are longer than the section");
        }
    }
    if (next != end) refuse("the bands of a section are shorter than the section");
}

int64_t PackLayout::rows_of(size_t band) const {
    return std::min<int64_t>(band_mcu_rows, mcu_rows - static_cast<int64_t>(band) * band_mcu_rows);
}

ImageInfo pack_info(Bytes file) {
    PackLayout layout;
    layout.read(file, file.size());
    return {ImageFormat::pack,  layout.frame.width,     layout.frame.height, layout.frame.count, 8,
            layout.orientation, layout.bad_orientation, layout.more_frames};
}

}  // namespace pixelmill
