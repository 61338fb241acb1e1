#include "resample.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "simd.h"

namespace pixelmill {

#define KERNELS "resample.inl"
#include "both_levels.inl"

#if PIXELMILL_WIDE_SUMS
BEGIN_WIDE_SUMS_CODE
namespace wide_sums {
#include "resample_wide.inl"
}  // namespace wide_sums
END_WIDE_SUMS_CODE
#endif

const ByteResampling& byte_resampling() {
#if PIXELMILL_WIDE_SUMS
    if (uses_wide_sums()) return wide_sums::byte_resampling;
#endif
    return AT_THIS_LEVEL_OR_NEON(byte_resampling);
}

bool fits_bytes(const View<const uint8_t>& in) {
    if (in.channels == 1) return in.pixel == 1;
    if (in.channel != 1) return false;
    return (in.channels == 3 && (in.pixel == 3 || in.pixel == 4)) || (in.channels == 4 && in.pixel == 4);
}

namespace {

// Vector loads may run this far past the last pixel that has a weight.
constexpr int64_t overrun = 64;

}  // namespace

ByteResampler::ByteResampler(const View<const uint8_t>& in, const AxisPlan& vertical, const AxisPlan& horizontal,
                             Arena& arena)
    : kernels_(byte_resampling()),
      in_(in),
      vertical_(vertical),
      horizontal_(horizontal),
      cells_(in.channels == 1 ? 1 : 4),
      length_((horizontal.count * cells_ + 63) / 64 * 64),
      kept_(vertical.taps + kernels_.rows - 1),
      // One bit less where a filter may overshoot the range of bytes.
      fraction_(horizontal.overshoots ? 6 : 7),
      ring_(arena.take<int16_t>(static_cast<size_t>(length_ * kept_))),
      rows_(arena.take<const int16_t*>(static_cast<size_t>(vertical.taps + 1))),
      pixels_(arena.take<uint8_t>(static_cast<size_t>(length_))),
      spread_(arena.take<uint8_t>(static_cast<size_t>(length_))),
      groups_(grouped(arena)) {
    // The passes write all of a row but what pads it.
    if (length_ != horizontal.count * cells_)
        std::memset(ring_, 0, static_cast<size_t>(length_ * kept_) * sizeof(int16_t));
    for (uint8_t*& copy : copies_) copy = arena.take<uint8_t>(static_cast<size_t>(in.width * in.pixel));
}

const TapGroup* ByteResampler::grouped(Arena& arena) const {
    if (kernels_.group_taps == nullptr || cells_ == 1 || horizontal_.copies == 1 || horizontal_.taps > 8)
        return nullptr;
    auto* groups = arena.take<TapGroup>(static_cast<size_t>((horizontal_.count + 7) / 8));
    return kernels_.group_taps(groups, horizontal_, static_cast<int>(in_.pixel)) ? groups : nullptr;
}

bool ByteResampler::few() const {
    return vertical_.support <= few_taps && !vertical_.overshoots && !horizontal_.overshoots;
}

// The ring holds the horizontally resampled rows that the next outputs need, so each source row is resampled once. A
// plan that descends (a vertical flip) is run from its end, because the ring only moves forward. Returns the output
// whose rows are ready: number `i` in this order.
int32_t ByteResampler::ready_rows(int32_t i) {
    const bool descending = vertical_.first[0] > vertical_.first[vertical_.count - 1];
    const int32_t y = descending ? vertical_.count - 1 - i : i, first = vertical_.first[y];
    need(first);
    int32_t at = place(first);
    for (int k = 0; k < vertical_.taps; ++k, at = place_after(at)) rows_[k] = ring_row(at);
    if (vertical_.taps % 2 != 0) rows_[vertical_.taps] = rows_[vertical_.taps - 1];
    return y;
}

void ByteResampler::run(RowSink& sink, const uint8_t* data) {
    in_.data = data;
    next_ = vertical_.low;
    const FloatPlanes* planes = cells_ == 4 && in_.channels == 3 && few() ? sink.planes() : nullptr;
    if (planes != nullptr && kernels_.planes_few != nullptr) return run_planes(*planes);
    auto* pass = few() ? kernels_.vertical_few : kernels_.vertical;
    for (int32_t i = 0; i < vertical_.count; ++i) {
        const int32_t y = ready_rows(i);
        pass(pixels_, rows_, vertical_.fixed + int64_t{y} * vertical_.stride, vertical_.taps, length_, fraction_);
        sink.row(y, pixels_);
    }
}

void ByteResampler::run_planes(const FloatPlanes& planes) {
    for (int32_t i = 0; i < vertical_.count; ++i) {
        const int32_t y = ready_rows(i);
        kernels_.planes_few(planes, y, rows_, vertical_.fixed + int64_t{y} * vertical_.stride, vertical_.taps,
                            horizontal_.count, fraction_);
    }
}

// Makes the intermediate rows of an output that starts at row `first`; outputs come in ascending order.
void ByteResampler::need(int64_t first) {
    const bool gap = first > next_;
    if (gap) next_ = first;
    const int64_t last = first + vertical_.taps;
    while (next_ < last) {
        const int64_t rows = std::min<int64_t>(kernels_.rows, (gap ? last : vertical_.high) - next_);
        make(static_cast<int>(rows));
        next_ += rows;
    }
}

void ByteResampler::make(int rows) {
    const uint8_t* from[most_rows];
    int16_t* to[most_rows];
    int32_t at = place(next_);
    for (int r = 0; r < rows; ++r, at = place_after(at)) {
        from[r] = readable(next_ + r, copies_[r]);
        to[r] = ring_row(at);
    }
    if (horizontal_.copies == 1) {
        for (int r = 0; r < rows; ++r) widen(to[r], from[r] + horizontal_.low * in_.pixel);
    } else {
        auto* pass = in_.pixel == 4   ? kernels_.horizontal4
                     : in_.pixel == 3 ? kernels_.horizontal3
                                      : kernels_.horizontal1;
        pass(to, from, rows, horizontal_, groups_, 2 * rows * in_.row, fraction_);
    }
}

// Returns a row that may be read `overrun` bytes past its end. After every row but the last in memory another one
// follows, which is harmless to read; the last may end where the mapped memory ends, so it is copied into the arena.
// Rows shorter than the overrun are copied too: two of them might not be enough.
const uint8_t* ByteResampler::readable(int64_t y, uint8_t* copy) const {
    const uint8_t* row = in_.at(y, 0);
    const int64_t last_in_memory = in_.row < 0 ? 0 : in_.height - 1;
    if (y != last_in_memory && std::abs(in_.row) >= overrun) return row;
    std::memcpy(copy, row, static_cast<size_t>((in_.width - 1) * in_.pixel + in_.channels));
    return copy;
}

void ByteResampler::widen(int16_t* out, const uint8_t* in) const {
    if (in_.pixel == 3) {
        pixel_rows().spread3(spread_, in, horizontal_.count);
        in = spread_;
    }
    kernels_.widen(out, in, horizontal_.count * cells_, fraction_);
}

}  // namespace pixelmill
