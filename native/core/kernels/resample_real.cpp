#include "resample_real.h"

#include <algorithm>
#include <cstring>

#include "simd.h"

#if PIXELMILL_AVX2
#include <immintrin.h>
#endif

namespace pixelmill {

namespace base {
#define AVX2_CODE 0
#include "resample_real.inl"
#undef AVX2_CODE
}  // namespace base

#if PIXELMILL_AVX2
#pragma GCC push_options
#pragma GCC target("avx2")
namespace avx2 {
#define AVX2_CODE 1
#include "resample_real.inl"
#undef AVX2_CODE
}  // namespace avx2
#pragma GCC pop_options
#endif

const RealResampling& real_resampling() {
#if PIXELMILL_AVX2
    if (simd_level() == SimdLevel::avx2) return avx2::real_resampling;
#endif
    return base::real_resampling;
}

void weigh_rows(float* out, const float* const* rows, const float* weights, int count, int64_t length) {
    real_resampling().weigh_rows(out, rows, weights, count, length);
}

namespace {

void copy_row(float* out, const float* in, int64_t length) {
    std::memcpy(out, in, static_cast<size_t>(length) * sizeof(float));
}

}  // namespace

PlaneResampler::PlaneResampler(int64_t height, int64_t width, int64_t channels, const AxisPlan& vertical,
                               const AxisPlan& horizontal, Arena& arena)
    : channels_(channels),
      vertical_(vertical),
      horizontal_(horizontal),
      rows_(arena.take<const float*>(static_cast<size_t>(vertical.taps))) {
    // A tap along the row costs about three times one across rows. The bits depend on this choice.
    const float across = static_cast<float>(vertical.support), along = 3 * static_cast<float>(horizontal.support);
    const float rows_cost = vertical.out * (horizontal.span * across + horizontal.out * along);
    const float columns_cost = horizontal.out * (vertical.span * along + vertical.out * across);
    rows_first_ = rows_cost <= columns_cost;
    const int64_t length = width * channels;
    for (float*& copy : copies_) copy = arena.take<float>(static_cast<size_t>(length));
    middle_ = rows_first_ ? nullptr : arena.take<float>(static_cast<size_t>(height * horizontal.count * channels));
}

void PlaneResampler::run(const Plane& out, const Plane& in) { rows_first_ ? rows_first(out, in) : columns_first(out, in); }

// Weighs the rows of output y together; a plan that copies needs no arithmetic.
void PlaneResampler::vertical_row(float* out, const Plane& in, int32_t y) {
    const int64_t length = in.width * in.channels;
    const float* first = in.data + vertical_.first[y] * in.row;
    if (vertical_.copies != 0) return copy_row(out, first, length);
    for (int k = 0; k < vertical_.taps; ++k) rows_[k] = first + k * in.row;
    weigh_rows(out, rows_, vertical_.real + int64_t{y} * vertical_.stride, vertical_.taps, length);
}

void PlaneResampler::horizontal_rows(float* const* out, const float* const* in, int rows) const {
    if (horizontal_.copies != 1) return real_resampling().horizontal(out, in, rows, channels_, horizontal_);
    for (int r = 0; r < rows; ++r) copy_row(out[r], in[r] + horizontal_.low * channels_, horizontal_.count * channels_);
}

// Shrinking: the rows are weighed first, four at a time, and resampled while they are in the cache.
void PlaneResampler::rows_first(const Plane& out, const Plane& in) {
    for (int32_t y = 0; y < vertical_.count; y += 4) {
        const int count = std::min(4, vertical_.count - y);
        float* to[4];
        for (int r = 0; r < count; ++r) {
            vertical_row(copies_[r], in, y + r);
            to[r] = out.data + (y + r) * out.row;
        }
        horizontal_rows(to, copies_, count);
    }
}

// Enlarging: each source row is resampled once, into a picture whose rows are then weighed together.
void PlaneResampler::columns_first(const Plane& out, const Plane& in) {
    const int64_t length = horizontal_.count * channels_;
    const Plane middle{middle_, in.height, horizontal_.count, channels_, length};
    for (int64_t y = vertical_.low; y < vertical_.high; y += 4) {
        const int count = static_cast<int>(std::min<int64_t>(4, vertical_.high - y));
        const float* from[4];
        float* to[4];
        for (int r = 0; r < count; ++r) {
            from[r] = in.data + (y + r) * in.row;
            to[r] = middle.data + (y + r) * length;
            if (y + r == in.height - 1) {  // nothing may be readable behind the last row
                copy_row(copies_[r], from[r], in.width * channels_);
                from[r] = copies_[r];
            }
        }
        horizontal_rows(to, from, count);
    }
    for (int32_t y = 0; y < vertical_.count; ++y) vertical_row(out.data + y * out.row, middle, y);
}

}  // namespace pixelmill
