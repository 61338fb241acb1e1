// Copies between memory orders: crops, flips, transposed axes, parts of larger arrays.
#pragma once

#include <span>

#include "../value.h"

namespace pixelmill {

// Copies elements in order between two values of one dtype and shape; strides may differ.
void copy_elements(const Value& out, const Value& in);

// Packed pixels of three bytes from right to left; `in` is the rightmost one.
void reverse_pixels(uint8_t* out, const uint8_t* in, int64_t pixels);

// Two to four packed parts whose last axis is 1, side by side along it; returns false, and does nothing, for others.
bool weave_elements(const Value& out, std::span<const Value> parts);

}  // namespace pixelmill
