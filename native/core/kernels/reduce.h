// Sums, extremes and moments along axes.
#pragma once

#include "../arena.h"
#include "../value.h"

namespace pixelmill {

enum class Reduction : uint8_t { sum, sum_of_squares, deviations, min, max };

// What is gathered over the reduced axes is kept in one of these.
enum class Gathered : uint8_t { signed_whole, unsigned_whole, real };
Gathered gathered_type(Reduction reduction, DType dtype);

// For each element that is kept, in order, the reduction over the axes that `reduced` marks: int64, uint64 or double.
// Sums of integers wrap, those of floats are made in double precision. `deviations` sums (x - mean)^2 in single precision
// as its terms are, with one mean for all or one for each kept element.
// Extremes of nothing are the end of the range of the type, as DALI has it.
void reduce(void* out, const Value& in, const bool* reduced, Reduction reduction, const Value& mean, Arena& arena);

}  // namespace pixelmill
