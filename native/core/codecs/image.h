// The checks that every encoded image passes first: its format, its size, and whether the limits allow that size.
// Nothing is decoded here.
#pragma once

#include <cstdint>

#include "../limits.h"
#include "bytes.h"

namespace pixelmill {

enum class ImageFormat { unknown, jpeg, png, bmp, gif, tiff, webp, pnm, jpeg2000, pack, heic, avif };

const char* name_of(ImageFormat format);

// Whether images of this format can be decoded at 1/2, 1/4 and 1/8 of their size.
inline bool scales(ImageFormat format) { return format == ImageFormat::jpeg || format == ImageFormat::pack; }

ImageFormat sniff(Bytes file);

struct ImageInfo {
    ImageFormat format = ImageFormat::unknown;
    int64_t width = 0, height = 0;  // as stored, before the orientation is applied
    int channels = 0;               // as stored; 2 and 4 with alpha, 4 for CMYK; a palette counts as its colors
    int bits = 8;                   // per channel
    int orientation = 1;            // 1..8
    bool bad_orientation = false;   // there was one outside 1..8
    bool more_frames = false;       // an animation, a multi-page file, a multi-image JPEG
    int64_t coded_width = 0, coded_height = 0;  // of HEIC and AVIF: what is decoded before a part is cut out of it

    bool sideways() const { return orientation >= 5; }
};

// Reads the header and compares it with the limits. Faults: not_an_image, truncated, corrupt, too_large.
ImageInfo read_info(Bytes file, const Limits& limits);

// For callers that know the extents from elsewhere. Faults: corrupt (an extent of zero), too_large.
void check_extents(ImageFormat format, int64_t width, int64_t height, const Limits& limits);

}  // namespace pixelmill
