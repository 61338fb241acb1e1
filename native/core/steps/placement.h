// What a chain of geometric moves adds up to: where the pixels of a canvas come from.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "../value.h"

namespace pixelmill {

using Matrix3 = std::array<double, 9>;  // row by row, on (x, y, 1); the corner of the first pixel is (0, 0)

struct Point {
    double x, y;
};

inline constexpr int most_corners = 64;

// A value of a program: float64, as many as the struct has.
struct Placement {
    Matrix3 matrix;  // from the source to the canvas
    double height, width;
    double source_height, source_width;
    double corners;  // of the polygon of the canvas that holds pixels of the source
    double clipped;  // whether the last move took something off that polygon beside the edge of the canvas
    double cut;      // whether an earlier one did: such pixels do not come back, the canvas is filled there
    Point polygon[most_corners];
};
inline constexpr int64_t placement_numbers = 16 + 2 * most_corners;
static_assert(sizeof(Placement) == placement_numbers * sizeof(double));

const Placement& placement_of(const Value& value);

Matrix3 product(const Matrix3& a, const Matrix3& b);
Matrix3 inverse(const Matrix3& m);  // by cofactors; all zeros if there is none
Point mapped(const Matrix3& m, Point at);

}  // namespace pixelmill
