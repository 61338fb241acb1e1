// Sums, extremes and moments along axes.
#pragma once

#include "../arena.h"
#include "../value.h"

namespace pixelmill {

enum class Reduction : uint8_t { sum, sum_of_squares, deviations, min, max };

// The type that a reduction is made in: int64 or uint64 for sums of integers, which wrap; double for everything with
// fractions and for squares of wide integers; the type of the elements for extremes.
DType reduced_type(Reduction reduction, DType dtype);

// For each element of the axes that `reduced` does not mark, in order: the reduction over those that it marks, in the
// type above. `deviations` sums (x - mean)^2, with a mean for each element that is kept. Extremes of nothing are the
// ends of the range of the type, as DALI has it.
void reduce(std::byte* out, const Value& in, const std::array<bool, max_dims>& reduced, Reduction reduction,
            const double* mean);

}  // namespace pixelmill
