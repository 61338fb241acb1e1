// The resampling windows, sampled and interpolated the way DALI does it, so that results agree to the last level.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

#include "axis.h"

namespace pixelmill {

// A window sampled at `points` equidistant places over its whole width; between them it is linear.
struct WindowTable {
    const float* at;
    int points;
};

WindowTable window_table(Filter filter);  // cubic, lanczos3, gaussian

// What one axis does, resolved once: DALI computes all of this in single precision and so do we.
struct AxisFilter {
    // Coordinates are counted from source pixel `base`, see window_bases.
    AxisFilter(const Axis& axis, const FilterChoice& filters, int64_t base = 0);

    Filter filter;      // never linear: that is a triangle of radius 1
    float radius;       // in source pixels
    float start, step;  // the window of output i begins at coordinate start + i * step (pixel centers at 0)
    int support;        // taps per output, zero weights at both ends included

    // Weight of the source pixel `distance` >= 0 after the beginning of the window.
    float weight(float distance) const {
        const float x = distance * density_;
        if (filter == Filter::triangular) return triangle(distance);
        if (!(x < static_cast<float>(table_.points))) return 0;
        const int below = static_cast<int>(x);
        const float low = table_.at[below], high = below + 1 < table_.points ? table_.at[below + 1] : 0.0f;
        return low + (x - static_cast<float>(below)) * (high - low);
    }

    // The same for triangular windows.
    float triangle(float distance) const {
        const float x = distance * density_;
        return std::max(std::min(x, 2 - x), 0.0f);
    }

   private:
    float density_;  // table points per source pixel
    WindowTable table_{};
};

// DALI counts from the first source pixel that matters, except along the axis it resamples first. That shows in the
// last bit of a coordinate, which decides about a tap or a nearest pixel now and then. Axes are outermost first.
void window_bases(int64_t* bases, std::span<const Axis> axes, const FilterChoice& filters);

}  // namespace pixelmill
