// The common kinds of PNG by our own code: 8 bits a sample or a palette of 8-bit indices, not interlaced, without tRNS.
#pragma once

#include "png.h"

namespace pixelmill {

// The work of decode_png. True if the file is such a PNG, and everything in it that libpng would look at is right: then
// `out` is what libpng makes, and libpng would not have remarked on anything. Otherwise `out` holds anything.
bool decode_plain_png(View<uint8_t> out, Bytes file, const ImageInfo& info, const PngRequest& request);

}  // namespace pixelmill
