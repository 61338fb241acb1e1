#include "effects.h"

#include "simd.h"

namespace pixelmill {

#define KERNELS "effects.inl"
#include "both_levels.inl"

const EffectRows& effect_rows() { return AT_THIS_LEVEL(effect_rows); }

}  // namespace pixelmill
