// From what a decoder made to what was asked for: colors, channels and number type.
#pragma once

#include <string>

#include "../value.h"

namespace pixelmill {

// `index` is one channel of numbers as they are stored: the indices of a palette, not its colors.
enum class Color { rgb, bgr, gray, ycbcr, any, index };

Color color_of(const std::string& name);  // "rgb", "bgr", "gray", "ycbcr", "any", "index"

// `out` is packed HWC of any number type. `in` is HWC uint8 or uint16 with any strides: gray, gray + alpha, RGB or
// RGBA. The channels of `out` are those of `color`; with `any` they may be 1 to 4, and alpha is made opaque where it
// lacks.
//
// gray = .299 R + .587 G + .114 B, rounded. ycbcr = BT.601 in studio range. Numbers keep their place in the range of
// their type, as in DALI: integers fill the positive part of theirs, floats go from 0 to 1. uint16 to uint8 takes the
// high byte.
void convert_pixels(const Value& out, const Value& in, Color color);

}  // namespace pixelmill
