#include "resample_real.h"

#include <algorithm>
#include <cstring>

#include "simd.h"

namespace pixelmill {

#define KERNELS "resample_real.inl"
#include "both_levels.inl"

const RealResampling& real_resampling() { return AT_THIS_LEVEL(real_resampling); }

void weigh_rows(float* out, const float* const* rows, const float* weights, int count, int64_t length) {
    real_resampling().weigh_rows(out, rows, weights, count, length);
}

namespace {

// What is worked on at once stays in the first-level cache.
constexpr int block_rows = 8, block_columns = 256;

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
    columns_ = arena.take<float>(static_cast<size_t>(8 * length));
    for (float*& row : weighed_) row = rows_first_ ? arena.take<float>(static_cast<size_t>(length)) : nullptr;
    middle_ = rows_first_ ? nullptr : arena.take<float>(static_cast<size_t>(height * horizontal.count * channels));
}

void PlaneResampler::run(const Plane& out, const Plane& in) {
    rows_first_ ? rows_first(out, in) : columns_first(out, in);
}

// Weighs the rows of output y together, columns `from` to `to`; a plan that copies needs no arithmetic.
void PlaneResampler::vertical_row(float* out, const Plane& in, int32_t y, int64_t from, int64_t to) {
    const int64_t length = (to - from) * channels_;
    const float* first = in.data + vertical_.first[y] * in.row + from * channels_;
    if (vertical_.copies != 0) return copy_row(out, first, length);
    for (int k = 0; k < vertical_.taps; ++k) rows_[k] = first + k * in.row;
    weigh_rows(out, rows_, vertical_.real + int64_t{y} * vertical_.stride, vertical_.taps, length);
}

void PlaneResampler::horizontal_rows(float* const* out, const float* const* in, int rows, const AxisPlan& part) const {
    if (part.copies != 1) return real_resampling().horizontal(out, in, rows, channels_, part, columns_);
    for (int r = 0; r < rows; ++r) copy_row(out[r], in[r], part.count * channels_);
}

// Shrinking: blocks of rows and columns are weighed first and resampled while they are in the cache.
void PlaneResampler::rows_first(const Plane& out, const Plane& in) {
    for (int32_t y = 0; y < vertical_.count; y += block_rows) {
        const int count = std::min(block_rows, vertical_.count - y);
        for (int32_t x = 0; x < horizontal_.count; x += block_columns) {
            const AxisPlan part = part_of(horizontal_, x, block_columns);
            float* to[block_rows];
            for (int r = 0; r < count; ++r) {
                vertical_row(weighed_[r], in, y + r, part.low, part.high);
                to[r] = out.data + (y + r) * out.row + x * channels_;
            }
            horizontal_rows(to, weighed_, count, part);
        }
    }
}

// Enlarging: each source row is resampled once, into an image whose rows are then weighed together.
void PlaneResampler::columns_first(const Plane& out, const Plane& in) {
    const int64_t length = horizontal_.count * channels_;
    const Plane middle{middle_, in.height, horizontal_.count, channels_, length};
    for (int64_t y = vertical_.low; y < vertical_.high; y += block_rows) {
        const int count = static_cast<int>(std::min<int64_t>(block_rows, vertical_.high - y));
        for (int32_t x = 0; x < horizontal_.count; x += block_columns) {
            const AxisPlan part = part_of(horizontal_, x, block_columns);
            const float* from[block_rows];
            float* to[block_rows];
            for (int r = 0; r < count; ++r) {
                from[r] = in.data + (y + r) * in.row + part.low * channels_;
                to[r] = middle.data + (y + r) * length + x * channels_;
            }
            horizontal_rows(to, from, count, part);
        }
    }
    for (int32_t y = 0; y < vertical_.count; ++y) vertical_row(out.data + y * out.row, middle, y, 0, horizontal_.count);
}

}  // namespace pixelmill
