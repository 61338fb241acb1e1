#include "places.h"

#include <algorithm>
#include <utility>

#include "simd.h"

namespace pixelmill {

#define KERNELS "places.inl"
#include "both_levels.inl"

const PlacePasses& place_passes() { return AT_THIS_LEVEL(place_passes); }

}  // namespace pixelmill
