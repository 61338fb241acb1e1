// Images whose pixels come from displaced places; what lies outside of the image is one value.
#pragma once

#include <cstdint>

#include "pointwise.h"

namespace pixelmill {

// Where the pixels of one output row come from: pixel centers lie at half coordinates.
class Displacement {
   public:
    virtual ~Displacement() = default;
    virtual void row(float* x, float* y, int64_t at, int64_t width) const = 0;
};

// The image as on a ball: what is near to the center comes from still nearer.
class Ball : public Displacement {
   public:
    Ball(int64_t height, int64_t width);
    void row(float* x, float* y, int64_t at, int64_t width) const override;

   private:
    float center_x_, center_y_, radius_;
};

struct Wave {
    float amplitude, frequency, phase;
};

// The image as seen through water: columns are moved by a sine of their row, rows by a cosine of their column.
class Ripples : public Displacement {
   public:
    Ripples(const Wave& across, const Wave& down, int64_t width, Arena& arena);
    void row(float* x, float* y, int64_t at, int64_t width) const override;

   private:
    Wave across_;
    float* lifts_;  // of each column
};

// Packed pixels of uint8 or float; rows of `in` may lie anywhere.
void displace(const Raster& out, const Raster& in, const Displacement& displacement, bool linear, float fill,
              Arena& arena);

}  // namespace pixelmill
