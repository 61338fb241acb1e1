// Resampling along one axis: which part of the source becomes which part of the output.
#pragma once

#include <cstdint>

namespace pixelmill {

// The numbers are those of pixelmill.types.DALIInterpType.
enum class Filter : uint8_t { nearest, linear, cubic, lanczos3, triangular, gaussian };

// Shrinking takes `min`, enlarging takes `mag`; antialias widens `min` to the scale, never `mag`.
struct FilterChoice {
    Filter min = Filter::linear, mag = Filter::linear;
    bool antialias = true;
};

// A geometry value of a program is an array of these, outermost axis first; hence eight doubles.
// Output pixel i of `out` looks at source coordinate low + (i + 0.5) * (high - low) / out, pixel centers at +0.5.
// Only `count` of them, from `first` on, are made, in reverse order when `flip` is set.
// The image in memory starts at source pixel `origin` of `source` ones: what lies outside of the source repeats its
// edge, so an image that was decoded in part is resampled to the same bits as the whole.
struct Axis {
    double low, high;
    double out;
    double first, count;
    double flip;
    double source;
    double origin;
};
static_assert(sizeof(Axis) == 8 * sizeof(double));

struct Range {
    int64_t first, last;  // last is excluded
};

// The source pixels that the wanted outputs read, cut to the source; never empty.
Range source_range(const Axis& axis, const FilterChoice& filters);

}  // namespace pixelmill
