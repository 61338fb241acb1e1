// Copies between memory orders: crops, flips, transposed axes, parts of larger arrays.
#pragma once

#include <span>

#include "../value.h"

namespace pixelmill {

// Copies elements in order between two values of one dtype and shape; strides may differ.
void copy_elements(const Value& out, const Value& in);

// Two to four packed parts whose last axis is 1, side by side along it; returns false, and does nothing, for others.
bool weave_elements(const Value& out, std::span<const Value> parts);

}  // namespace pixelmill
