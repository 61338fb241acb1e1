// The CIE color space L*a*b* in bytes, with the tables and the rounding of OpenCV.
#pragma once

#include <cstdint>

namespace pixelmill {

// Red, green and blue of packed pixels to three planes, and back.
void to_lab(uint8_t* lightness, uint8_t* a, uint8_t* b, const uint8_t* rgb, int64_t pixels);
void from_lab(uint8_t* rgb, const uint8_t* lightness, const uint8_t* a, const uint8_t* b, int64_t pixels);

}  // namespace pixelmill
