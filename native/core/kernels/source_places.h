// Where the pixels of an image come from, for images whose pixels are taken from places between those of another one.
#pragma once

#include <cstdint>

namespace pixelmill {

// The places of an output row. The center of the first pixel of an image is (0, 0).
class SourcePlaces {
   public:
    virtual ~SourcePlaces() = default;
    virtual void row(float* x, float* y, int64_t at, int64_t width) const = 0;
};

}  // namespace pixelmill
