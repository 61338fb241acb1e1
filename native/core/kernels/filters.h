// The resampling windows, sampled and interpolated the way DALI does it, so that results agree to the last level.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

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
    AxisFilter(const Axis& axis, const FilterChoice& filters);

    Filter filter;      // never linear: that is a triangle of radius 1
    float radius;       // in source pixels
    float start, step;  // the window of output i begins at source coordinate start + i * step (pixel centres at 0)
    int support;        // taps per output, zero weights at both ends included

    // Weight of the source pixel that lies `distance` >= 0 behind the beginning of the window.
    float weight(float distance) const {
        const float x = distance * density_;
        if (filter == Filter::triangular) return x < 1 ? x : (x < 2 ? 2 - x : 0.0f);
        if (!(x < static_cast<float>(table_.points))) return 0;
        const int below = static_cast<int>(x);
        const float low = table_.at[below], high = below + 1 < table_.points ? table_.at[below + 1] : 0.0f;
        return low + (x - static_cast<float>(below)) * (high - low);
    }

   private:
    float density_;  // table points per source pixel
    WindowTable table_{};
};

}  // namespace pixelmill
