// Affine matrices as values of a program, and the canvas that a rotated image needs.
#pragma once

#include <cstdint>
#include <string>

#include "../kernels/warp.h"
#include "../step.h"

namespace pixelmill {

float radians(float degrees);

// A matrix of 2 x 3 or 3 x 4 numbers, or as many in a row. `name` is the operator that asks.
AffineMap read_map(const Value& value, const std::string& name);
AffineMap inverted(const AffineMap& map);

// Extents in the order of an argument (height, width), into the order x, y, z.
void read_size(int64_t* size, const Value& value, int axes, const std::string& name);
void check_canvas(const Context& context, const int64_t* size, int axes, const std::string& name);

// The extents that hold an image of width and height `source` rotated by `angle` in radians.
void rotated_canvas(int64_t* size, const int64_t* source, double angle);

// A rotation about an axis in space.
class Turn {
   public:
    Turn(const Value& axis, float angle);
    void canvas(int64_t* size, const int64_t* source) const;
    void inverse(AffineMap& map) const;  // the turning part of it
    const float* row(int i) const { return forth_[i]; }

   private:
    float forth_[3][3], back_[3][3];
};

}  // namespace pixelmill
