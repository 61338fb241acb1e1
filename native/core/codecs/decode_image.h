// Decodes an image of any format, or only the part that is needed. Callers need not know the format.
#pragma once

#include "../step.h"
#include "../view.h"
#include "convert.h"
#include "image.h"
#include "orientation.h"

namespace pixelmill {

struct DecodeRequest {
    Color color = Color::rgb;
    DType dtype = DType::u8;
    bool orient = true;   // apply the EXIF orientation
    bool padded = false;  // pixels may be four bytes apart
    int denominator = 1;  // JPEG only: 1, 2, 4 or 8
    Window part;          // of the oriented and scaled image
};

// Channels of the decoded image. With `any`: as stored, except that CMYK becomes RGB.
int channels_of(const ImageInfo& info, Color color);

Orientation orientation_of(const ImageInfo& info, const DecodeRequest& request);

// The part, HWC: written straight into output 0 of the running step where nothing has to be done to it afterwards,
// else a view of scratch memory. Records notes about irregular files. `info` comes from read_info.
Value decode_image(Context& context, Bytes file, const ImageInfo& info, const DecodeRequest& request);

}  // namespace pixelmill
