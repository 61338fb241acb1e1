#include "versions.h"

#include <cstdio>
// jpeglib.h needs size_t and FILE from above it.
#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#define PIXELMILL_QUOTE(text) #text
#define PIXELMILL_TEXT(macro) PIXELMILL_QUOTE(macro)

namespace pixelmill {

std::vector<std::pair<std::string, std::string>> codec_versions() {
    return {
        {"libjpeg-turbo", PIXELMILL_TEXT(LIBJPEG_TURBO_VERSION)},
        {"libpng", png_get_libpng_ver(nullptr)},
        {"zlib", zlibVersion()},
    };
}

}  // namespace pixelmill
