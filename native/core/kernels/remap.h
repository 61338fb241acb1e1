// Images whose pixels are taken from places between the pixels of another image.
#pragma once

#include <array>
#include <cstdint>

#include "../arena.h"
#include "convolve.h"
#include "pointwise.h"
#include "source_places.h"

namespace pixelmill {

// A projective map from the result to the source: 3 x 3, row by row. Coordinates are computed in double precision,
// because far from the origin numerator and denominator cancel each other.
class Perspective : public SourcePlaces {
   public:
    explicit Perspective(const std::array<double, 9>& matrix) : matrix_(matrix) {}
    void row(float* x, float* y, int64_t at, int64_t width) const override;

   private:
    std::array<double, 9> matrix_;
};

// Places given as data: two arrays of the size of the result, packed. `shift` is added to both coordinates.
class PlaceMaps : public SourcePlaces {
   public:
    PlaceMaps(const float* x, const float* y, float shift) : x_(x), y_(y), shift_(shift) {}
    void row(float* x, float* y, int64_t at, int64_t width) const override;

   private:
    const float *x_, *y_;
    float shift_;
};

enum class Interpolation : uint8_t { nearest, linear, cubic };

struct PlaceSampling {
    Interpolation interpolation = Interpolation::linear;
    Border border = Border::constant;
    const float* fill = nullptr;  // for Border::constant, one value per channel
};

// Both are packed pixels of u8, i16, u16 or f32; rows of `in` may be anywhere. `in` must not be empty.
void remap(const Raster& out, const Raster& in, const SourcePlaces& places, const PlaceSampling& sampling,
           Arena& arena);

}  // namespace pixelmill
