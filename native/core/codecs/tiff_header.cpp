#include <algorithm>
#include <string>

#include "../fault.h"
#include "headers.h"

namespace pixelmill {
namespace {

constexpr int64_t palette = 3, cmyk = 5;  // values of the tag PhotometricInterpretation
constexpr uint64_t max_entries = 4096;    // real directories hold some dozens; hostile ones 60,000

// Classic TIFF and BigTIFF differ in the widths of counts and offsets only.
struct Directory {
    Bytes file;
    bool big_endian, big_tiff;

    void need(uint64_t at, uint64_t count) const {
        if (!holds(file, at, count))
            throw Fault(FaultKind::truncated, "truncated TIFF: the " + std::to_string(file.size()) +
                                                  " bytes present end before its directory does");
    }
    uint64_t u16(uint64_t at) const { return need(at, 2), big_endian ? be16(file, at) : le16(file, at); }
    uint64_t u32(uint64_t at) const { return need(at, 4), big_endian ? be32(file, at) : le32(file, at); }
    uint64_t u64(uint64_t at) const { return big_endian ? u32(at) << 32 | u32(at + 4) : u32(at + 4) << 32 | u32(at); }
    uint64_t offset(uint64_t at) const { return big_tiff ? u64(at) : u32(at); }
    uint64_t offset_size() const { return big_tiff ? 8 : 4; }
    uint64_t entry_size() const { return big_tiff ? 20 : 12; }

    // The first value of an entry, wherever it stands.
    uint64_t value(uint64_t entry) const {
        const uint64_t type = u16(entry + 2), count = offset(entry + 4), field = entry + 4 + offset_size();
        const uint64_t size = type == 3 ? 2 : type == 1 ? 1 : type == 16 ? 8 : 4;
        const uint64_t at = count > offset_size() / size ? offset(field) : field;
        need(at, size);
        return size == 1 ? byte_at(file, at) : size == 2 ? u16(at) : size == 8 ? u64(at) : u32(at);
    }
};

void read_entry(ImageInfo& info, int64_t& photometric, const Directory& directory, uint64_t entry) {
    const uint64_t tag = directory.u16(entry);
    if (tag != 256 && tag != 257 && tag != 258 && tag != 262 && tag != 274 && tag != 277) return;
    const auto value = static_cast<int64_t>(std::min<uint64_t>(directory.value(entry), uint64_t{1} << 40));
    if (tag == 256) info.width = value;
    if (tag == 257) info.height = value;
    if (tag == 258) info.bits = value > 8 ? 16 : 8;
    if (tag == 262) photometric = value;
    if (tag == 277) info.channels = static_cast<int>(std::min<int64_t>(value, 65535));
    if (tag == 274) {
        info.bad_orientation = value < 1 || value > 8;
        info.orientation = info.bad_orientation ? 1 : static_cast<int>(value);
    }
}

}  // namespace

ImageInfo tiff_info(Bytes file) {
    Directory directory{file, byte_at(file, 0) == 'M', false};
    directory.big_tiff = directory.u16(2) == 43;
    uint64_t at = directory.offset(directory.big_tiff ? 8 : 4);
    const uint64_t entries = directory.big_tiff ? directory.u64(at) : directory.u16(at);
    if (entries > max_entries)
        throw Fault(FaultKind::corrupt, "corrupt TIFF: a directory of " + std::to_string(entries) + " entries");
    at += directory.big_tiff ? 8 : 2;
    ImageInfo info{ImageFormat::tiff, 0, 0, 1};
    int64_t photometric = 1;
    for (uint64_t i = 0; i < entries; i++) read_entry(info, photometric, directory, at + i * directory.entry_size());
    if (photometric == palette || photometric == cmyk) info.channels = 3;  // that is what becomes of them
    const uint64_t next = at + entries * directory.entry_size();
    info.more_frames = holds(file, next, directory.offset_size()) && directory.offset(next) != 0;
    return info;
}

}  // namespace pixelmill
