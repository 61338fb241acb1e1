#include "draws.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "convert.h"
#include "simd.h"

namespace pixelmill {

namespace {

// Minimax polynomials of Cephes (S. Moshier): log(1 + x), sin(x) and cos(x) near 0.
constexpr float log_terms[] = {7.0376836292e-2f,  -1.1514610310e-1f, 1.1676998740e-1f,
                               -1.2420140846e-1f, 1.4249322787e-1f,  -1.6668057665e-1f,
                               2.0000714765e-1f,  -2.4999993993e-1f, 3.3333331174e-1f};
constexpr float sine_terms[] = {-1.9515295891e-4f, 8.3321608736e-3f, -1.6666654611e-1f};
constexpr float cosine_terms[] = {2.443315711809948e-5f, -1.388731625493765e-3f, 4.166664568298827e-2f};
constexpr float word_angle = 1.46291807926715968105e-9f;  // a turn, 2 pi, in 2^32 parts

}  // namespace

#define KERNELS "draws.inl"
#include "both_levels.inl"

const Draws& draws() { return AT_THIS_LEVEL(draws); }

}  // namespace pixelmill
