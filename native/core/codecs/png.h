// PNG, the common kinds by our own code and the rest by libpng, which also decides about damaged files: pixels
// only. Color profiles, text and similar chunks are skipped without being inflated.
#pragma once

#include <cstdint>
#include <string>

#include "../limits.h"
#include "../view.h"
#include "bytes.h"
#include "image.h"

namespace pixelmill {

struct PngRequest {
    bool rgb = true;     // expand gray to three channels; otherwise channels stay as stored
    bool alpha = false;  // keep it
    bool bgr = false;
    bool indices = false;  // of a palette, instead of its colors
    bool sixteen = false;  // keep 16-bit samples; otherwise their high byte is taken
    int64_t first_row = 0, rows = 0;
};

// The channels an image has under a request.
int png_channels(const ImageInfo& info, const PngRequest& request, Bytes file);

// Deflate makes at most 1032 bytes of one, so a large image in a small file is detected before anything is
// allocated. `info` comes from read_info. Fault: truncated.
void check_png_substance(Bytes file, const ImageInfo& info);

struct PngWarnings {
    int64_t count = 0;
    std::string first;
};

// Rows of the full width; `out` has png_channels, packed; its strides count
// bytes, and with `sixteen` a sample is two of them, in the machine's order. Faults: truncated, corrupt, too_large.
PngWarnings decode_png(View<uint8_t> out, Bytes file, const ImageInfo& info, const PngRequest& request);

// For tests, which compare the two ways within one process.
void force_libpng(bool forced);

}  // namespace pixelmill
