// The headers of everything but JPEG. Each reader is called on a file that `sniff` took for its format, and faults
// with truncated or corrupt; extents are returned as found.
#pragma once

#include "image.h"

namespace pixelmill {

ImageInfo png_info(Bytes file);
ImageInfo bmp_info(Bytes file);
ImageInfo gif_info(Bytes file);
ImageInfo tiff_info(Bytes file);
ImageInfo webp_info(Bytes file);
ImageInfo pnm_info(Bytes file);
ImageInfo jpeg2000_info(Bytes file);
ImageInfo heif_info(Bytes file, ImageFormat format);

// HEIC or AVIF by the brands of the file; unknown for anything else.
ImageFormat heif_format(Bytes file);

bool bmp_header_size_known(uint32_t size);
bool pnm_space(uint32_t character);

}  // namespace pixelmill
