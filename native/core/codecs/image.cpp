#include "image.h"

#include <algorithm>
#include <string>

#include "../fault.h"
#include "exif.h"
#include "headers.h"
#include "jpeg_markers.h"
#include "pack_layout.h"

namespace pixelmill {
namespace {

// "3c 68 74 6d 6c "<html": enough to see an error page or a file of zeros.
std::string first_bytes(Bytes file) {
    static const char digits[] = "0123456789abcdef";
    std::string hex, text;
    for (const std::byte byte : file.first(std::min<size_t>(file.size(), 16))) {
        const auto value = std::to_integer<unsigned char>(byte);
        hex += {digits[value >> 4], digits[value & 15], ' '};
        text += value >= 32 && value < 127 ? static_cast<char>(value) : '.';
    }
    return hex + '"' + text + '"';
}

ImageInfo jpeg_info(Bytes file) {
    const JpegHeader header = read_jpeg_header(file);
    const ExifOrientation orientation = exif_orientation(header.exif);
    return {ImageFormat::jpeg, header.width,      header.height,       header.components,
            header.bits,       orientation.value, orientation.invalid, header.more_frames};
}

ImageInfo read_header(Bytes file, ImageFormat format) {
    switch (format) {
        case ImageFormat::jpeg: return jpeg_info(file);
        case ImageFormat::png: return png_info(file);
        case ImageFormat::bmp: return bmp_info(file);
        case ImageFormat::gif: return gif_info(file);
        case ImageFormat::tiff: return tiff_info(file);
        case ImageFormat::webp: return webp_info(file);
        case ImageFormat::pnm: return pnm_info(file);
        case ImageFormat::jpeg2000: return jpeg2000_info(file);
        case ImageFormat::pack: return pack_info(file);
        case ImageFormat::heic:
        case ImageFormat::avif: return heif_info(file, format);
        case ImageFormat::unknown: break;
    }
    throw Fault(FaultKind::not_an_image,
                "not an image: " + std::to_string(file.size()) + " bytes that begin with " + first_bytes(file));
}

}  // namespace

const char* name_of(ImageFormat format) {
    switch (format) {
        case ImageFormat::jpeg: return "JPEG";
        case ImageFormat::png: return "PNG";
        case ImageFormat::bmp: return "BMP";
        case ImageFormat::gif: return "GIF";
        case ImageFormat::tiff: return "TIFF";
        case ImageFormat::webp: return "WebP";
        case ImageFormat::pnm: return "PNM";
        case ImageFormat::jpeg2000: return "JPEG 2000";
        case ImageFormat::pack: return "packed JPEG";
        case ImageFormat::heic: return "HEIC";
        case ImageFormat::avif: return "AVIF";
        case ImageFormat::unknown: break;
    }
    return "unknown";
}

ImageFormat sniff(Bytes file) {
    const auto begins = [&](const char* text, size_t length) { return starts_with(file, text, length); };
    if (begins("\xFF\xD8\xFF", 3) || (file.size() == 2 && begins("\xFF\xD8", 2))) return ImageFormat::jpeg;
    if (begins("\x89PNG", 4)) return ImageFormat::png;
    if (begins(pack_magic, pack_magic_bytes)) return ImageFormat::pack;
    if (begins("GIF87a", 6) || begins("GIF89a", 6)) return ImageFormat::gif;
    if (begins("II*\0", 4) || begins("MM\0*", 4) || begins("II+\0", 4) || begins("MM\0+", 4)) return ImageFormat::tiff;
    if (begins("RIFF", 4) && starts_with(file, "WEBP", 4, 8)) return ImageFormat::webp;
    if (begins("\0\0\0\x0CjP  \r\n\x87\n", 12) || begins("\xFF\x4F\xFF\x51", 4)) return ImageFormat::jpeg2000;
    // Two letters are little evidence; what follows them has to fit as well.
    if (begins("BM", 2) && holds(file, 0, 18) && bmp_header_size_known(le32(file, 14))) return ImageFormat::bmp;
    if (holds(file, 0, 3) && byte_at(file, 0) == 'P' && byte_at(file, 1) >= '1' && byte_at(file, 1) <= '6' &&
        (pnm_space(byte_at(file, 2)) || byte_at(file, 2) == '#'))
        return ImageFormat::pnm;
    return heif_format(file);
}

void check_extents(ImageFormat format, int64_t width, int64_t height, const Limits& limits) {
    const auto name = std::string(name_of(format));
    const std::string extents = std::to_string(height) + " x " + std::to_string(width);
    if (width <= 0 || height <= 0)
        throw Fault(FaultKind::corrupt,
                    "corrupt " + name + ": the header says " + extents + " pixels (height x width)");
    if (width > limits.side || height > limits.side)
        throw Fault(FaultKind::too_large, name + " of " + extents + " (height x width): a side may have at most " +
                                              std::to_string(limits.side) + " pixels");
    // Divided, not multiplied: nothing that a header says can overflow. The product in the message is safe, because
    // both sides have passed the check above.
    if (width > limits.pixels / height)
        throw Fault(FaultKind::too_large, name + " of " + extents +
                                              " (height x width) = " + std::to_string(width * height) +
                                              " pixels: the limit is " + std::to_string(limits.pixels));
}

ImageInfo read_info(Bytes file, const Limits& limits) {
    if (file.empty()) throw Fault(FaultKind::not_an_image, "not an image: the file is empty");
    if (static_cast<uint64_t>(limits.encoded_bytes) < file.size())
        throw Fault(FaultKind::too_large, "encoded image of " + std::to_string(file.size()) + " bytes: the limit is " +
                                              std::to_string(limits.encoded_bytes));
    const ImageInfo info = read_header(file, sniff(file));
    check_extents(info.format, info.width, info.height, limits);
    if (info.coded_width > 0) check_extents(info.format, info.coded_width, info.coded_height, limits);
    return info;
}

}  // namespace pixelmill
