// Copies between memory orders: crops, flips, transposed axes, parts of larger arrays.
#pragma once

#include "../value.h"

namespace pixelmill {

// Copies elements in order between two values of one dtype and shape; strides may differ.
void copy_elements(const Value& out, const Value& in);

}  // namespace pixelmill
