// Scans the markers of a JPEG without decoding it: what kind of file it is and what decoding would cost.
#pragma once

#include <cstdint>

#include "../limits.h"
#include "bytes.h"

namespace pixelmill {

struct JpegHeader {
    int64_t width = 0, height = 0;
    int components = 0;
    int bits = 0;
    uint32_t frame = 0;        // the SOF marker, 0xC0..0xCF
    Bytes exif;                // a TIFF blob after "Exif\0\0", or empty
    bool more_frames = false;  // a multi-image file

    bool lossless() const { return (frame & 3) == 3; }
    bool hierarchical() const { return (frame & 7) >= 5; }
};

// Everything up to the first scan. Faults: truncated, corrupt.
JpegHeader read_jpeg_header(Bytes file);

// Fault too_large for a file of more scans than the limits allow for an image of this size. No decoder sees more scans
// than this looks at.
void check_scans(Bytes file, int64_t width, int64_t height, const Limits& limits);

}  // namespace pixelmill
