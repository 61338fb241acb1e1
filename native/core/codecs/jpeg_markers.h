// A walk over the markers of a JPEG without decoding: what kind of file it is and what it would cost.
#pragma once

#include <cstdint>

#include "bytes.h"

namespace pixelmill {

struct JpegHeader {
    int64_t width = 0, height = 0;
    int components = 0;
    int bits = 0;
    uint32_t frame = 0;        // the SOF marker, 0xC0..0xCF
    Bytes exif;                // a TIFF blob behind "Exif\0\0", or empty
    bool more_frames = false;  // a multi-picture file

    bool lossless() const { return (frame & 3) == 3; }
    bool hierarchical() const { return (frame & 7) >= 5; }
};

// Everything up to the first scan. Faults: truncated, corrupt.
JpegHeader read_jpeg_header(Bytes file);

// The scans of the whole file; stops counting above `enough`. libjpeg never sees more of them than this walk.
int64_t count_scans(Bytes file, int64_t enough);

}  // namespace pixelmill
