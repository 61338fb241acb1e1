// Any encoded picture to pixels, as little of it as is wanted: the place where formats stop to matter.
#pragma once

#include "../step.h"
#include "../view.h"
#include "convert.h"
#include "image.h"
#include "orientation.h"

namespace pixelmill {

struct PictureRequest {
    Colour colour = Colour::rgb;
    DType dtype = DType::u8;
    bool orient = true;   // turn it as its EXIF orientation says
    bool padded = false;  // pixels may be four bytes apart
    int denominator = 1;  // JPEG only: 1, 2, 4 or 8
    Window part;          // of the picture as it will be seen, scaled
};

// Channels of the decoded picture. With `any`: as stored, except that CMYK becomes RGB.
int channels_of(const ImageInfo& info, Colour colour);

Orientation orientation_of(const ImageInfo& info, const PictureRequest& request);

// The part, HWC: written straight into output 0 of the running step where nothing has to be done to it afterwards,
// else a view of scratch memory. Notes what was odd about the file. `info` comes from read_info.
Value decode_picture(Context& context, Bytes file, const ImageInfo& info, const PictureRequest& request);

}  // namespace pixelmill
