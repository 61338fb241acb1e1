#include "exif.h"

#include <string_view>

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

// Compares in place: a text may have megabytes.
uint64_t find(Bytes text, std::string_view word, uint64_t from) {
    const std::string_view in(reinterpret_cast<const char*>(text.data()), text.size());
    return in.find(word, from);
}

ExifOrientation checked(uint32_t value) {
    if (value < 1 || value > 8) return {1, true};
    return {static_cast<int>(value), false};
}

std::optional<ExifOrientation> tagged(Bytes exif) {
    if (starts_with(exif, "Exif\0\0", 6)) exif = exif.subspan(6);
    const auto value = tiff_tag(exif, orientation_tag);
    return value ? std::optional(checked(*value)) : std::nullopt;
}

// The attribute tiff:Orientation="6" or the element <tiff:Orientation>6<. That much needs no parser of XML.
std::optional<ExifOrientation> in_xmp(Bytes text) {
    constexpr std::string_view name = "tiff:Orientation";
    for (uint64_t at = find(text, name, 0); at != std::string_view::npos; at = find(text, name, at)) {
        at += name.size();
        uint64_t value = at;
        if (starts_with(text, "=\"", 2, at) || starts_with(text, "='", 2, at)) value = at + 2;
        if (starts_with(text, ">", 1, at)) value = at + 1;
        if (value == at || !holds(text, value, 1)) continue;
        const uint32_t digit = byte_at(text, value);
        if (digit >= '0' && digit <= '9') return checked(digit - '0');
    }
    return std::nullopt;
}

// The text of an iTXt chunk that holds XMP; empty for other chunks, and for packed text, which the specification of XMP
// rules out and which is not unpacked for the sake of an orientation.
Bytes xmp_of(Bytes chunk) {
    constexpr std::string_view keyword("XML:com.adobe.xmp\0\0\0", 20);  // and: not packed, method 0
    if (!starts_with(chunk, keyword.data(), keyword.size())) return {};
    const std::string_view zero("\0", 1);
    const uint64_t language = find(chunk, zero, keyword.size());
    if (language == std::string_view::npos) return {};
    const uint64_t translated = find(chunk, zero, language + 1);
    return translated == std::string_view::npos ? Bytes{} : chunk.subspan(translated + 1);
}

ExifOrientation first_of(Bytes exif, Bytes xmp) {
    if (const auto found = tagged(exif)) return *found;
    return in_xmp(xmp).value_or(ExifOrientation{});
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

ExifOrientation exif_orientation(Bytes blob) { return tagged(blob).value_or(ExifOrientation{}); }

ExifOrientation png_orientation(Bytes file) {
    Bytes exif, xmp;
    // Both may come after the pixels, so the scan continues to the end; it only jumps from length to length.
    for (uint64_t at = 8; holds(file, at, 12);) {
        const uint64_t length = be32(file, at);
        if (!holds(file, at + 8, length) || starts_with(file, "IEND", 4, at + 4)) break;
        const Bytes chunk = file.subspan(at + 8, length);
        if (exif.empty() && starts_with(file, "eXIf", 4, at + 4)) exif = chunk;
        if (xmp.empty() && starts_with(file, "iTXt", 4, at + 4)) xmp = xmp_of(chunk);
        at += 12 + length;
    }
    return first_of(exif, xmp);
}

ExifOrientation webp_orientation(Bytes file) {
    Bytes exif, xmp;
    for (uint64_t at = 12; holds(file, at, 8);) {
        const uint64_t length = le32(file, at + 4);
        if (!holds(file, at + 8, length)) break;
        if (exif.empty() && starts_with(file, "EXIF", 4, at)) exif = file.subspan(at + 8, length);
        if (xmp.empty() && starts_with(file, "XMP ", 4, at)) xmp = file.subspan(at + 8, length);
        at += 8 + length + (length & 1);
    }
    return first_of(exif, xmp);
}

}  // namespace pixelmill
