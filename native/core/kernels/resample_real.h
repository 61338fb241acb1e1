// Resampling in single precision, for everything that is not 8-bit images; and nearest neighbors, which only copies.
#pragma once

#include <cstdint>

#include "../arena.h"
#include "../value.h"
#include "axis_plan.h"

namespace pixelmill {

// A stack of planes: columns of `channels` floats side by side; strides in floats.
struct Plane {
    float* data = nullptr;
    int64_t height = 0, width = 0, channels = 0, row = 0;
};

// Both plans are real ones of planes of this size; all planes of a volume share one resampler and its memory.
class PlaneResampler {
   public:
    PlaneResampler(int64_t height, int64_t width, int64_t channels, const AxisPlan& vertical,
                   const AxisPlan& horizontal, Arena& arena);
    void run(const Plane& out, const Plane& in);  // `out` has the plans' counts as its size

   private:
    void rows_first(const Plane& out, const Plane& in);
    void columns_first(const Plane& out, const Plane& in);
    void vertical_row(float* out, const Plane& in, int32_t y, int64_t from, int64_t to);
    void horizontal_rows(float* const* out, const float* const* in, int rows, const AxisPlan& part) const;

    int64_t channels_;
    const AxisPlan &vertical_, &horizontal_;
    bool rows_first_;
    const float** rows_;
    float* middle_;  // the image between the passes, if there is one
    float* weighed_[8];
    float* columns_;
};

// out[i] = the weighted sum of rows[k][i].
void weigh_rows(float* out, const float* const* rows, const float* weights, int count, int64_t length);

// Copies the pixels that the plans name. `in` has `outer` axes, then one per plan (two or three), then the rest.
// Out is packed and has the same dtype.
void resample_nearest(const Value& out, const Value& in, const AxisPlan* plans, int axes, int outer);

struct RealResampling {
    void (*weigh_rows)(float* out, const float* const* rows, const float* weights, int count, int64_t length);
    // Up to eight rows, of which `in` has the pixels from plan.low on; `columns` has room for eight such rows.
    void (*horizontal)(float* const* out, const float* const* in, int rows, int64_t channels, const AxisPlan& plan,
                       float* columns);
};
const RealResampling& real_resampling();  // of the current SIMD level

}  // namespace pixelmill
