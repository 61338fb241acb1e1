#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "elementwise.h"
#include "simd.h"

namespace pixelmill {

#define KERNELS "functions.inl"
#include "both_levels.inl"

#if PIXELMILL_WIDE_SUMS
BEGIN_WIDE_SUMS_CODE
namespace wide_sums {
#include "functions_wide.inl"
}  // namespace wide_sums
END_WIDE_SUMS_CODE
#endif

RowLoop float_function(Operation operation) {
#if PIXELMILL_WIDE_SUMS
    if (uses_wide_sums() && operation == Operation::exp) return wide_sums::exp_row;
    if (uses_wide_sums() && operation == Operation::log) return wide_sums::log_row;
#endif
    return AT_THIS_LEVEL(loop_of)(operation);
}

}  // namespace pixelmill
