#include "exif.h"

namespace pixelmill {
namespace {

constexpr uint32_t orientation_tag = 0x0112;
constexpr uint32_t max_entries = 4096;  // real directories hold some dozens

struct Reader {
    Bytes bytes;
    bool big;
    uint32_t u16(uint64_t at) const { return big ? be16(bytes, at) : le16(bytes, at); }
    uint32_t u32(uint64_t at) const { return big ? be32(bytes, at) : le32(bytes, at); }
};

// The first value of a 12-byte directory entry; values of up to four bytes stand in the entry itself.
std::optional<uint32_t> inline_value(const Reader& in, uint64_t entry) {
    const uint32_t type = in.u16(entry + 2), count = in.u32(entry + 4);
    if (count == 0) return std::nullopt;
    switch (type) {
        case 1: return count <= 4 ? std::optional(byte_at(in.bytes, entry + 8)) : std::nullopt;
        case 3: return count <= 2 ? std::optional(in.u16(entry + 8)) : std::nullopt;
        case 4: return count == 1 ? std::optional(in.u32(entry + 8)) : std::nullopt;
        default: return std::nullopt;
    }
}

}  // namespace

std::optional<uint32_t> tiff_tag(Bytes blob, uint32_t tag) {
    if (!holds(blob, 0, 8)) return std::nullopt;
    const bool big = starts_with(blob, "MM", 2);
    const Reader in{blob, big};
    if ((!big && !starts_with(blob, "II", 2)) || in.u16(2) != 42) return std::nullopt;
    const uint64_t directory = in.u32(4);
    if (!holds(blob, directory, 2)) return std::nullopt;
    const uint32_t entries = in.u16(directory);
    if (entries > max_entries) return std::nullopt;
    for (uint32_t i = 0; i < entries; i++) {
        const uint64_t entry = directory + 2 + uint64_t{12} * i;
        if (!holds(blob, entry, 12)) return std::nullopt;
        if (in.u16(entry) == tag) return inline_value(in, entry);
    }
    return std::nullopt;
}

ExifOrientation exif_orientation(Bytes blob) {
    if (starts_with(blob, "Exif\0\0", 6)) blob = blob.subspan(6);
    const auto value = tiff_tag(blob, orientation_tag);
    if (!value) return {};
    if (*value < 1 || *value > 8) return {1, true};
    return {static_cast<int>(*value), false};
}

Bytes png_exif(Bytes file) {
    // The chunk may come after the pixels, so the scan continues to the end; it only jumps from length to length.
    for (uint64_t at = 8; holds(file, at, 12);) {
        const uint64_t length = be32(file, at);
        if (!holds(file, at + 8, length)) return {};
        if (starts_with(file, "eXIf", 4, at + 4)) return file.subspan(at + 8, length);
        if (starts_with(file, "IEND", 4, at + 4)) return {};
        at += 12 + length;
    }
    return {};
}

Bytes webp_exif(Bytes file) {
    for (uint64_t at = 12; holds(file, at, 8);) {
        const uint64_t length = le32(file, at + 4);
        if (!holds(file, at + 8, length)) return {};
        if (starts_with(file, "EXIF", 4, at)) return file.subspan(at + 8, length);
        at += 8 + length + (length & 1);
    }
    return {};
}

}  // namespace pixelmill
