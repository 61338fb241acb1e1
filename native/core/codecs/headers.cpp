#include "headers.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "../fault.h"
#include "exif.h"

namespace pixelmill {
namespace {

void need(Bytes file, uint64_t offset, uint64_t count, ImageFormat format) {
    if (!holds(file, offset, count))
        throw Fault(FaultKind::truncated, std::string("truncated ") + name_of(format) + ": the " +
                                              std::to_string(file.size()) + " bytes present end inside the header");
}

[[noreturn]] void refuse(ImageFormat format, const std::string& why) {
    throw Fault(FaultKind::corrupt, std::string("corrupt ") + name_of(format) + ": " + why);
}

void set_orientation(ImageInfo& info, const ExifOrientation& orientation) {
    info.orientation = orientation.value;
    info.bad_orientation = orientation.invalid;
}

// One scan of the chunks before the pixels, where transparency and animation are declared.
void read_png_chunks(ImageInfo& info, Bytes file, bool& transparent) {
    for (uint64_t at = 33; holds(file, at, 12);) {
        const uint64_t length = be32(file, at);
        if (starts_with(file, "IDAT", 4, at + 4) || !holds(file, at + 8, length)) return;
        transparent |= starts_with(file, "tRNS", 4, at + 4);
        if (starts_with(file, "acTL", 4, at + 4) && length >= 4) info.more_frames = be32(file, at + 8) > 1;
        at += 12 + length;
    }
}

uint64_t gif_color_table(uint32_t flags) { return flags & 0x80 ? uint64_t{3} << ((flags & 7) + 1) : 0; }

uint64_t skip_gif_blocks(Bytes file, uint64_t at) {
    while (holds(file, at, 1) && byte_at(file, at) != 0) at += 1 + uint64_t{byte_at(file, at)};
    return at + 1;
}

bool gif_has_second_frame(Bytes file) {
    uint64_t at = 13 + gif_color_table(byte_at(file, 10));
    for (int frames = 0; holds(file, at, 2);) {
        const uint32_t kind = byte_at(file, at);
        if (kind == 0x21) {
            at = skip_gif_blocks(file, at + 2);
        } else if (kind == 0x2C && holds(file, at, 11)) {
            if (++frames == 2) return true;
            at = skip_gif_blocks(file, at + 11 + gif_color_table(byte_at(file, at + 9)));
        } else {
            return false;
        }
    }
    return false;
}

}  // namespace

ImageInfo png_info(Bytes file) {
    constexpr std::array<int, 7> channels{1, 0, 3, 3, 2, 0, 4};
    need(file, 0, 33, ImageFormat::png);
    if (!starts_with(file, "\x89PNG\r\n\x1A\n", 8)) refuse(ImageFormat::png, "its signature is damaged");
    if (!starts_with(file, "\0\0\0\rIHDR", 8, 8)) refuse(ImageFormat::png, "the first chunk is not IHDR");
    const uint32_t width = be32(file, 16), height = be32(file, 20), color = byte_at(file, 25);
    if (color > 6 || channels[color] == 0) refuse(ImageFormat::png, "color type " + std::to_string(color));
    ImageInfo info{ImageFormat::png, width, height, channels[color]};
    info.bits = byte_at(file, 24) == 16 ? 16 : 8;
    bool transparent = false;
    read_png_chunks(info, file, transparent);
    if (transparent && (info.channels & 1)) info.channels++;
    set_orientation(info, png_orientation(file));
    return info;
}

bool bmp_header_size_known(uint32_t size) {
    constexpr std::array<uint32_t, 8> sizes{12, 16, 40, 52, 56, 64, 108, 124};
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
}

ImageInfo bmp_info(Bytes file) {
    const uint32_t size = le32(file, 14);
    need(file, 14, std::min<uint32_t>(size, 40), ImageFormat::bmp);
    ImageInfo info{ImageFormat::bmp, 0, 0, 3};
    if (size == 12) {
        info.width = le16(file, 18);
        info.height = le16(file, 20);
        return info;
    }
    info.width = static_cast<int32_t>(le32(file, 18));
    info.height = std::abs(int64_t{static_cast<int32_t>(le32(file, 22))});  // negative: the top row comes first
    return info;
}

ImageInfo gif_info(Bytes file) {
    need(file, 0, 13, ImageFormat::gif);
    ImageInfo info{ImageFormat::gif, le16(file, 6), le16(file, 8), 3};
    info.more_frames = gif_has_second_frame(file);
    return info;
}

ImageInfo webp_info(Bytes file) {
    need(file, 0, 30, ImageFormat::webp);
    ImageInfo info{ImageFormat::webp, 0, 0, 3};
    if (starts_with(file, "VP8X", 4, 12)) {
        const uint32_t flags = byte_at(file, 20);
        info.width = int64_t{le24(file, 24)} + 1;
        info.height = int64_t{le24(file, 27)} + 1;
        info.channels = flags & 0x10 ? 4 : 3;
        info.more_frames = flags & 0x02;
        set_orientation(info, webp_orientation(file));
    } else if (starts_with(file, "VP8L", 4, 12)) {
        const uint32_t bits = le32(file, 21);
        info.width = (bits & 0x3FFF) + 1;
        info.height = (bits >> 14 & 0x3FFF) + 1;
        info.channels = bits >> 28 & 1 ? 4 : 3;
    } else if (starts_with(file, "VP8 ", 4, 12)) {
        info.width = le16(file, 26) & 0x3FFF;
        info.height = le16(file, 28) & 0x3FFF;
    } else {
        refuse(ImageFormat::webp, "the first chunk is none of VP8, VP8L, VP8X");
    }
    return info;
}

bool pnm_space(uint32_t character) { return character == ' ' || (character >= '\t' && character <= '\r'); }

namespace {

uint64_t skip_pnm_space(Bytes file, uint64_t at) {
    for (bool comment = false; at < file.size(); at++) {
        const uint32_t character = byte_at(file, at);
        if (character == '#') comment = true;
        if (!comment && !pnm_space(character)) break;
        if (character == '\n' || character == '\r') comment = false;
    }
    return at;
}

int64_t pnm_number(Bytes file, uint64_t& at) {
    at = skip_pnm_space(file, at);
    need(file, at, 1, ImageFormat::pnm);
    int64_t value = 0;
    int digits = 0;
    for (; at < file.size() && byte_at(file, at) >= '0' && byte_at(file, at) <= '9'; at++) {
        if (++digits > 10) refuse(ImageFormat::pnm, "a number of more than ten digits in the header");
        value = value * 10 + (byte_at(file, at) - '0');
    }
    if (digits == 0) refuse(ImageFormat::pnm, "the header holds something that is not a number");
    return value;
}

}  // namespace

ImageInfo pnm_info(Bytes file) {
    const uint32_t kind = byte_at(file, 1) - '0';
    ImageInfo info{ImageFormat::pnm, 0, 0, kind % 3 == 0 ? 3 : 1};
    uint64_t at = 2;
    info.width = pnm_number(file, at);
    info.height = pnm_number(file, at);
    if (kind % 3 != 1) info.bits = pnm_number(file, at) > 255 ? 16 : 8;
    return info;
}

ImageInfo jpeg2000_info(Bytes file) {
    constexpr auto format = ImageFormat::jpeg2000;
    ImageInfo info{format, 0, 0, 3};
    if (starts_with(file, "\xFF\x4F\xFF\x51", 4)) {
        need(file, 0, 43, format);
        info.width = int64_t{be32(file, 8)} - be32(file, 16);
        info.height = int64_t{be32(file, 12)} - be32(file, 20);
        info.channels = static_cast<int>(be16(file, 40));
        info.bits = (byte_at(file, 42) & 0x7F) + 1 > 8 ? 16 : 8;
        return info;
    }
    for (uint64_t at = 12; holds(file, at, 8);) {
        const uint64_t length = be32(file, at);
        if (starts_with(file, "jp2h", 4, at + 4)) {
            need(file, at, 30, format);
            if (!starts_with(file, "ihdr", 4, at + 12)) refuse(format, "the header box does not begin with ihdr");
            info.height = be32(file, at + 16);
            info.width = be32(file, at + 20);
            info.channels = static_cast<int>(be16(file, at + 24));
            info.bits = (byte_at(file, at + 26) & 0x7F) + 1 > 8 ? 16 : 8;
            return info;
        }
        if (length < 8) refuse(format, "a box of " + std::to_string(length) + " bytes before the header");
        at += length;
    }
    need(file, file.size(), 1, format);
    return info;
}

}  // namespace pixelmill
