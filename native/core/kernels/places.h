// Rows of places: where pixels come from, by a matrix of 3 x 3 in double precision.
#pragma once

#include <cstdint>

namespace pixelmill {

inline constexpr float nowhere = -1e8f;

// What holds a row of places. All are NaN where a place is not finite.
struct PlaceBox {
    float low_x, high_x, low_y, high_y;
};

struct PlacePasses {
    // The places of the pixels of row `at`. On the horizon it is, as in OpenCV, the origin of the source.
    void (*project_row)(float* x, float* y, const double* matrix, int64_t at, int64_t width);
    // Places that are mapped on; what is `nowhere` stays there.
    void (*project)(float* x, float* y, const double* matrix, int64_t width);
    // The same for a matrix whose last row is 0, 0, 1.
    void (*move)(float* x, float* y, const double* matrix, int64_t width);
    // x[i] = first + i + the sum of weights[k * width + i] * nodes[k].
    void (*displace)(float* x, const float* weights, int64_t width, const float* nodes, float first, float step,
                     int64_t count);
    PlaceBox (*box)(const float* x, const float* y, int64_t count);
};
const PlacePasses& place_passes();  // of the current SIMD level

}  // namespace pixelmill
