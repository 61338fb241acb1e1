// Resampling of 8-bit images in two passes of 16-bit integers: along the rows first, then across them.
#pragma once

#include <cstdint>

#include "../arena.h"
#include "../view.h"
#include "axis_plan.h"
#include "pointwise.h"

namespace pixelmill {

// Normalized planes of three channels.
struct FloatPlanes {
    float* data;
    int64_t row, plane;  // distances, in elements
    Scaling scaling;
    bool streams;  // past the caches where it is aligned
};

// Who takes a finished row of 8-bit pixels: one byte each, or four for images of three or four channels.
class RowSink {
   public:
    virtual ~RowSink() = default;
    virtual void row(int64_t y, const uint8_t* pixels) = 0;
    // Where rows of four bytes a pixel may be written at once instead; null when they may not.
    virtual const FloatPlanes* planes() const { return nullptr; }
};

// Pixels of 1 channel, or of 3 or 4 channels side by side, that are 1, 3 or 4 bytes apart, left to right.
bool fits_bytes(const View<const uint8_t>& in);

struct ByteResampling;
struct TapGroup;

// Both plans are fixed ones of images like `in`; all images of a sequence share one resampler and its memory.
class ByteResampler {
   public:
    ByteResampler(const View<const uint8_t>& in, const AxisPlan& vertical, const AxisPlan& horizontal, Arena& arena);
    void run(RowSink& sink, const uint8_t* data);  // the image that begins at `data`

   private:
    static constexpr int most_rows = 8;

    void run_planes(const FloatPlanes& planes);
    bool few() const;
    int32_t ready_rows(int32_t i);
    void need(int64_t first);
    void make(int rows);
    const uint8_t* readable(int64_t y, uint8_t* copy) const;
    void widen(int16_t* out, const uint8_t* in) const;
    const TapGroup* grouped(Arena& arena) const;
    int32_t place(int64_t y) const { return static_cast<int32_t>(y) % kept_; }  // of row y in the ring
    int32_t place_after(int32_t place) const { return place + 1 < kept_ ? place + 1 : 0; }
    int16_t* ring_row(int32_t place) const { return ring_ + place * length_; }

    const ByteResampling& kernels_;
    View<const uint8_t> in_;
    const AxisPlan &vertical_, &horizontal_;
    int64_t cells_;   // values per pixel of the intermediate rows
    int64_t length_;  // of an intermediate row
    int32_t kept_;    // rows of it
    int64_t next_ = 0;
    int fraction_;
    int16_t* ring_;
    const int16_t** rows_;
    uint8_t *pixels_, *spread_, *copies_[most_rows];
    const TapGroup* groups_;
};

inline constexpr int few_taps = 4;

// Eight outputs of a row, two halves of four: where 64 bytes of the source begin, which of them belong to the first
// pair of taps, and the weights of all pairs. Weights that are `bytes` have fours of taps in place of pairs. Those that
// are used together lie together: the groups of a plan should stay in the first-level cache.
struct TapGroup {
    alignas(64) int64_t base[2];
    bool near, bytes;
    alignas(64) uint8_t places[2][64];
    int16_t weights[4][2][32];
};

// The passes; rows of the intermediate image are int16 with `fraction` fractional bits, 4 to a pixel or 1.
struct ByteResampling {
    int rows;  // at most, of the passes along them
    // What lies `ahead` of them, in bytes, is fetched from memory meanwhile: those that come next.
    using Horizontal = void(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                            const TapGroup* groups, int64_t ahead, int fraction);
    Horizontal *horizontal4, *horizontal3, *horizontal1;  // by the distance of pixels
    // One row from `taps` rows, or one more whose weight is 0; writes `count` bytes rounded up to 32. Of few rows each
    // product may be rounded to the intermediate precision less one bit: that is an error of a 30th of a level at most,
    // for half the instructions.
    using Vertical = void(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int taps, int64_t count,
                          int fraction);
    Vertical *vertical, *vertical_few;
    // The second of these and the normalization of three channels in one pass, or null. Writes row `y` of the planes.
    using VerticalPlanes = void(const FloatPlanes& planes, int64_t y, const int16_t* const* rows,
                                const int16_t* weights, int taps, int64_t pixels, int fraction);
    VerticalPlanes* planes_few;
    // The first pass when the axis only copies.
    void (*widen)(int16_t* out, const uint8_t* in, int64_t count, int fraction);
    // Fills a group for every eight outputs, up to 8 taps, or says that they do not fit. Null where none are needed.
    bool (*group_taps)(TapGroup* groups, const AxisPlan& plan, int step);
};
const ByteResampling& byte_resampling();  // of the current SIMD level

namespace neon {
extern const ByteResampling byte_resampling;  // on ARM
}

}  // namespace pixelmill
