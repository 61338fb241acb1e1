// The orientation, which is all that is read of EXIF and XMP.
#pragma once

#include <cstdint>
#include <optional>

#include "bytes.h"

namespace pixelmill {

struct ExifOrientation {
    int value = 1;
    bool invalid = false;  // the tag was there, but outside 1..8: value is 1 then
};

// The first value of `tag` in the first directory of a TIFF blob, if it is an integer of 8, 16 or 32 bits.
std::optional<uint32_t> tiff_tag(Bytes blob, uint32_t tag);

// Of a TIFF blob, with or without "Exif\0\0" before it. What cannot be parsed has no orientation.
ExifOrientation exif_orientation(Bytes blob);

// Of a container: its EXIF blob decides or, if that has no orientation, its XMP text. The EXIF blob of a JPEG comes
// from the header scan in jpeg_markers.h.
ExifOrientation png_orientation(Bytes file);
ExifOrientation webp_orientation(Bytes file);

}  // namespace pixelmill
