#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "elementwise.h"
#include "simd.h"

namespace pixelmill {

#define KERNELS "functions.inl"
#include "both_levels.inl"

RowLoop float_function(Operation operation) { return AT_THIS_LEVEL(loop_of)(operation); }

}  // namespace pixelmill
