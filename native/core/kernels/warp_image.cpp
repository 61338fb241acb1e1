// The common warps: bytes blended in integers, floats, and pixels of any kind that are only copied.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "convert.h"
#include "places.h"
#include "simd.h"
#include "source_places.h"
#include "warp.h"

namespace pixelmill {

namespace {

enum class Weighing : uint8_t { none, whole, real };

// Where the pixels of a strip of one row come from.
struct Taps {
    uint64_t fast;  // one bit for each pixel: all of its taps can be read without a look at the edges
    alignas(32) int32_t x[WarpCoordinates::columns];
    alignas(32) int32_t y[WarpCoordinates::columns];
    alignas(32) int32_t offset[WarpCoordinates::columns];  // of the first tap, in bytes
    alignas(32) float across[WarpCoordinates::columns],
        down[WarpCoordinates::columns];  // shares of the right and of the lower taps
    // Weights of bytes: the left tap's in the lower half, the right one's in the upper half; all four make 16384.
    alignas(32) int32_t upper[WarpCoordinates::columns];
    alignas(32) int32_t lower[WarpCoordinates::columns];
    uint64_t outside;   // one bit for each pixel: none of its taps lies in the source
    int64_t pixel = 0;  // the distance to the right tap, in elements; of floats alone

    // The taps of pixel `i` are upper left, upper right, lower left, lower right.
    int32_t weight(int i, int tap) const {
        const int32_t pair = tap < 2 ? upper[i] : lower[i];
        return tap % 2 == 0 ? pair & 0xffff : pair >> 16;
    }
};

// What a place has to be compared with; the first of two numbers is for x, the second for y.
struct Bounds {
    float center;                    // from a place to the first tap
    float low[2], high[2];           // places are limited to this before they become whole numbers
    int32_t last[2];                 // so are taps
    int32_t inside[2];               // first taps from 0 to here have all of their taps in the source
    int32_t near, far[2];            // first taps beyond these have none
    int32_t risky[2];                // the first tap after whose pixels the memory may end
    float inner_low, inner_high[2];  // places of inner pixels: the neighbors of their taps are in the source, too
    float lost_low, lost_high[2];    // places beyond these have no tap in the source
    int32_t row, pixel;              // distances in bytes
    Weighing weighing;
    bool backwards;  // memory runs from right to left, and the first tap is the right one
};

// `in` is the place that offsets are counted from. Pixels `from` to `to` of a strip are made.
template <class T>
using Blend = void(T* out, const uint8_t* in, const Bounds& bounds, const Taps& taps, int from, int to);

using Locate = void(Taps& taps, const float* xs, const float* ys, const Bounds& bounds, int from, int to);
using CoordinatePass = void(float (*place)[WarpCoordinates::rows][WarpCoordinates::columns],
                            float (*here)[WarpCoordinates::rows], const float* step);

struct WarpPasses {
    CoordinatePass *plane_coordinates, *volume_coordinates;
    Locate *locate, *locate_inner, *locate_inner_bytes;    // inner ones need no comparisons
    Blend<uint8_t>*single, *three, *three_of_four, *four;  // by the channels and the bytes of a pixel
    Blend<float>*real1, *real3, *real4, *real3_inner, *real4_inner;
};

}  // namespace

#define KERNELS "warp.inl"
#include "both_levels.inl"

namespace {

const WarpPasses& warp_passes() { return AT_THIS_LEVEL(passes); }

Weighing weighing_of(const Grid& in, bool linear) {
    if (!linear) return Weighing::none;
    return in.dtype == DType::u8 ? Weighing::whole : Weighing::real;
}

Bounds bounds_of(const Grid& in, const WarpOptions& options) {
    const auto bytes = static_cast<int32_t>(size_of(in.dtype));
    Bounds b{};
    b.row = static_cast<int32_t>(in.stride[1]) * bytes;
    b.pixel = static_cast<int32_t>(in.stride[0]) * bytes;
    b.weighing = weighing_of(in, options.linear);
    b.backwards = b.weighing == Weighing::whole && b.pixel < 0;
    b.center = options.linear ? 0.5f : 0.0f;
    // Bytes and copies stay inside by moving the place. With floats that would multiply a pixel, perhaps infinite, by
    // 0.
    const bool moves = options.repeats_edge && b.weighing != Weighing::real;
    constexpr int32_t far_away = 1 << 30, reach = (1 << 19) - 1;  // inner places are counted in 4096ths
    constexpr float infinity = std::numeric_limits<float>::infinity();
    b.near = options.repeats_edge ? -far_away : options.linear ? -1 : 0;
    for (int a = 0; a < 2; ++a) {
        const auto end = static_cast<int32_t>(in.size[a]) - 1;
        b.inside[a] = options.linear ? end - 1 : end;
        b.far[a] = options.repeats_edge ? far_away : end;
        b.last[a] = options.linear && moves ? end - 1 : far_away;
        b.low[a] = moves ? 0.0f : -2.0f;
        b.high[a] = static_cast<float>(moves ? end : end + 1);
        b.risky[a] = in.stride[a] > 0 ? b.inside[a] : 0;
        b.inner_high[a] = static_cast<float>(std::min(end - 1, reach));
        b.lost_high[a] = options.repeats_edge || end > reach ? infinity : static_cast<float>(end + 2);
    }
    b.inner_low = b.center + 1.0f;
    b.lost_low = options.repeats_edge ? -infinity : -2.0f;
    if (b.weighing != Weighing::whole || in.channels != 3) b.risky[0] = -3;  // nothing is read that is not needed
    return b;
}

template <int bytes>
void copy_pixels(uint8_t* out, const uint8_t* in, const Taps& taps, int from, int to) {
    for (int i = from; i < to; ++i) std::memcpy(out + bytes * i, in + taps.offset[i], bytes);
}

using Copy = void(uint8_t* out, const uint8_t* in, const Taps& taps, int from, int to);

Copy* copy_of(int64_t bytes) {
    switch (bytes) {
        case 1: return copy_pixels<1>;
        case 2: return copy_pixels<2>;
        case 3: return copy_pixels<3>;
        case 4: return copy_pixels<4>;
        case 6: return copy_pixels<6>;
        case 8: return copy_pixels<8>;
        case 12: return copy_pixels<12>;
        case 16: return copy_pixels<16>;
        default: return nullptr;
    }
}

// As copy_pixels, for inner pixels: in a larger piece, of which the next pixel covers what is too much.
template <int bytes, int piece>
void copy_inner_pixels(uint8_t* out, const uint8_t* in, const Taps& taps, int from, int to) {
    for (int i = from; i < to - 1; ++i) std::memcpy(out + bytes * i, in + taps.offset[i], piece);
    copy_pixels<bytes>(out, in, taps, to - 1, to);
}

Copy* inner_copy_of(int64_t bytes) {
    switch (bytes) {
        case 3: return copy_inner_pixels<3, 4>;
        case 6: return copy_inner_pixels<6, 8>;
        case 12: return copy_inner_pixels<12, 16>;
        default: return copy_of(bytes);
    }
}

class ImageWarp {
   public:
    ImageWarp(const Grid& out, const Grid& in, const WarpOptions& options)
        : out_(out),
          in_(in),
          repeats_edge_(options.repeats_edge),
          left_(options.left),
          top_(options.top),
          bounds_(bounds_of(in, options)),
          pixel_bytes_(out.channels * size_of(out.dtype)),
          copy_{copy_of(pixel_bytes_), copy_of(pixel_bytes_)},
          first_(reinterpret_cast<const uint8_t*>(in.data) + (bounds_.backwards ? bounds_.pixel : 0)) {
        with_type(out.dtype, [&](auto zero) {
            const auto value = convert<decltype(zero)>(options.fill);
            for (int64_t c = 0; c < out.channels; ++c) std::memcpy(fill_ + c * sizeof(value), &value, sizeof(value));
        });
        taps_.pixel = in.stride[0];
        const bool close = in.stride[0] == 3 || in.stride[0] == -3;
        blend_ = in.channels == 1   ? passes_.single
                 : in.channels == 4 ? passes_.four
                 : close            ? passes_.three
                                    : passes_.three_of_four;
        real_[0] = real_[1] = in.channels == 1 ? passes_.real1 : in.channels == 4 ? passes_.real4 : passes_.real3;
        if (std::abs(in.stride[0]) < in.channels) return;  // the next pixel may end before what is read of it
        copy_[1] = inner_copy_of(pixel_bytes_);
        if (in.channels > 1) real_[1] = in.channels == 4 ? passes_.real4_inner : passes_.real3_inner;
    }

    void run(const AffineMap& map) {
        const int64_t right = left_ + out_.size[0];
        for (int64_t y = 0; y < out_.size[1]; y += WarpCoordinates::rows) {
            WarpCoordinates coordinates(map, top_ + y, 0);
            const int64_t rows = std::min<int64_t>(WarpCoordinates::rows, out_.size[1] - y);
            for (int64_t x = 0; x < right;
                 x += WarpCoordinates::columns) {  // from the left of the canvas: places are sums
                coordinates.strip(x);
                if (x + WarpCoordinates::columns <= left_) continue;
                const auto from = static_cast<int>(std::max<int64_t>(left_ - x, 0));
                const auto to = static_cast<int>(std::min<int64_t>(WarpCoordinates::columns, right - x));
                const bool inside = all_inner(coordinates, rows, from, to);
                for (int64_t r = 0; r < rows; ++r) {
                    auto* out = reinterpret_cast<uint8_t*>(out_.at(x - left_, y + r));
                    const float *xs = coordinates.place[0][r], *ys = coordinates.place[1][r];
                    inside ? inner(out, xs, ys, from, to) : strip(out, xs, ys, from, to);
                }
            }
        }
    }

    void run(const SourcePlaces& places, float* x, float* y) {
        const int64_t width = out_.size[0];
        for (int64_t at = 0; at < out_.size[1]; ++at) {
            places.row(x, y, at, width);
            for (int64_t i = 0; i < width; ++i) {
                x[i] += 0.5f, y[i] += 0.5f;  // from centers to corners
            }
            for (int64_t first = 0; first < width; first += WarpCoordinates::columns) {
                const auto count = static_cast<int>(std::min<int64_t>(WarpCoordinates::columns, width - first));
                auto* out = reinterpret_cast<uint8_t*>(out_.at(first, at));
                const PlaceBox box = place_passes().box(x + first, y + first, count);
                if (is_inner(box.low_x, box.low_y) && is_inner(box.high_x, box.high_y)) {
                    inner(out, x + first, y + first, 0, count);
                } else {
                    outer(out, x + first, y + first, 0, count);
                }
            }
        }
    }

   private:
    bool all_inner(const WarpCoordinates& coordinates, int64_t rows, int from, int to) const {
        const auto corner = [&](int64_t r, int i) {
            return is_inner(coordinates.place[0][r][i], coordinates.place[1][r][i]);
        };
        return corner(0, from) && corner(0, to - 1) && corner(rows - 1, from) && corner(rows - 1, to - 1);
    }

    // Both coordinates of a strip only ever rise, or only ever fall: what its ends are, all between them is.
    void strip(uint8_t* out, const float* xs, const float* ys, int from, int to) {
        const auto beyond = [&](float low, const float* high) {
            const auto apart = [&](float one, float other, float top) {
                return (one < low && other < low) || (one > top && other > top);
            };
            return apart(xs[from], xs[to - 1], high[0]) || apart(ys[from], ys[to - 1], high[1]);
        };
        if (beyond(bounds_.lost_low, bounds_.lost_high)) return filled(out + from * pixel_bytes_, to - from);
        int first = from, end = to;
        if (beyond(bounds_.inner_low, bounds_.inner_high)) end = from;
        while (first < end && !is_inner(xs[first], ys[first])) ++first;
        while (first < end && !is_inner(xs[end - 1], ys[end - 1])) --end;
        if (from < first) outer(out, xs, ys, from, first);
        if (first < end) inner(out, xs, ys, first, end);
        if (end < to) outer(out, xs, ys, end, to);
    }

    bool is_inner(float x, float y) const {
        return x >= bounds_.inner_low && x <= bounds_.inner_high[0] && y >= bounds_.inner_low &&
               y <= bounds_.inner_high[1];
    }

    void inner(uint8_t* out, const float* xs, const float* ys, int from, int to) {
        const bool whole = bounds_.weighing == Weighing::whole;
        (whole ? passes_.locate_inner_bytes : passes_.locate_inner)(taps_, xs, ys, bounds_, from, to);
        made(out, from, to, true);
    }

    void outer(uint8_t* out, const float* xs, const float* ys, int begin, int count) {
        passes_.locate(taps_, xs, ys, bounds_, begin, count);
        for (int x = begin; x < count;) {
            const uint64_t fast = taps_.fast >> x, outside = taps_.outside >> x;
            const int from = x;
            if ((fast & 1) != 0) {
                x = std::min(x + std::countr_one(fast), count);
                made(out, from, x, false);
            } else if ((outside & 1) != 0) {
                x = std::min(x + std::countr_one(outside), count);
                filled(out + from * pixel_bytes_, x - from);
            } else {
                edge(out + x * pixel_bytes_, x);
                ++x;
            }
        }
    }

    void made(uint8_t* out, int from, int to, bool inside) const {
        switch (bounds_.weighing) {
            case Weighing::none: return copy_[inside](out, first_, taps_, from, to);
            case Weighing::whole: return blend_(out, first_, bounds_, taps_, from, to);
            case Weighing::real: return real_[inside](reinterpret_cast<float*>(out), first_, bounds_, taps_, from, to);
        }
    }

    void filled(uint8_t* out, int64_t count) const {
        if (out_.dtype == DType::u8) {
            std::memset(out, fill_[0], static_cast<size_t>(count * pixel_bytes_));
            return;
        }
        for (int64_t i = 0; i < count; ++i)
            std::memcpy(out + i * pixel_bytes_, fill_, static_cast<size_t>(pixel_bytes_));
    }

    // A blend some of whose taps lie outside, or at the end of the memory.
    void edge(uint8_t* out, int at) const {
        const std::byte* taps[4];
        for (int k = 0; k < 4; ++k) taps[k] = tap(taps_.x[at] + k % 2, taps_.y[at] + k / 2);
        for (int64_t c = 0; c < in_.channels; ++c) {
            if (bounds_.weighing == Weighing::real) {
                float value[4];
                for (int k = 0; k < 4; ++k) std::memcpy(&value[k], taps[k] + 4 * c, 4);
                const float result =
                    base::mixed(value[0], value[1], value[2], value[3], taps_.across[at], taps_.down[at]);
                std::memcpy(out + 4 * c, &result, 4);
            } else {
                int32_t sum = 8192;
                for (int k = 0; k < 4; ++k) sum += static_cast<int32_t>(taps[k][c]) * taps_.weight(at, k);
                out[c] = static_cast<uint8_t>(sum >> 14);
            }
        }
    }

    const std::byte* tap(int64_t x, int64_t y) const {
        if (repeats_edge_) {
            x = std::clamp<int64_t>(x, 0, in_.size[0] - 1);
            y = std::clamp<int64_t>(y, 0, in_.size[1] - 1);
        }
        const bool inside = x >= 0 && x < in_.size[0] && y >= 0 && y < in_.size[1];
        return inside ? in_.at(x, y) : reinterpret_cast<const std::byte*>(fill_);
    }

    const WarpPasses& passes_ = warp_passes();
    const Grid &out_, &in_;
    bool repeats_edge_;
    int64_t left_, top_;
    Bounds bounds_;
    int64_t pixel_bytes_;
    Copy* copy_[2];  // the second is for inner pixels
    const uint8_t* first_;
    Blend<uint8_t>* blend_;
    Blend<float>* real_[2];  // so here
    uint8_t fill_[16] = {};
    Taps taps_;
};

}  // namespace

WarpCoordinates::WarpCoordinates(const AffineMap& map, int64_t y, int64_t z) : axes_(map.axes) {
    for (int a = 0; a < axes_; ++a) {
        const float* m = map.at[a];
        step_[a] = m[0];
        const float start = m[axes_] + m[0] * 0.5f;
        for (int r = 0; r < rows; ++r) {
            tile_[a][r] = start + m[1] * (static_cast<float>(y + r) + 0.5f);
            if (axes_ == 3) tile_[a][r] += m[2] * (static_cast<float>(z) + 0.5f);
        }
    }
}

void WarpCoordinates::strip(int64_t column) {
    if (column % restart == 0) {
        for (int a = 0; a < axes_; ++a) {
            for (int r = 0; r < rows; ++r) {
                if (column > 0) tile_[a][r] += static_cast<float>(restart) * step_[a];
                here_[a][r] = tile_[a][r];
            }
        }
    }
    const WarpPasses& passes = warp_passes();
    (axes_ == 3 ? passes.volume_coordinates : passes.plane_coordinates)(place, here_, step_);
}

bool fits_warp_image(const Grid& out, const Grid& in, const AffineMap& map, bool linear) {
    if (map.axes != 2 || out.dtype != in.dtype || out.stride[0] != out.channels ||
        (out.channels != 1 && out.channel != 1))
        return false;
    const auto extent = [&](int axis) {
        return static_cast<double>(std::abs(in.stride[axis]) * size_of(in.dtype)) *
               static_cast<double>(in.size[axis] + 4);
    };
    if (extent(0) + extent(1) > 0x1p31 || (in.channels != 1 && in.channel != 1)) return false;
    if (!linear) return copy_of(in.channels * size_of(in.dtype)) != nullptr;
    if (in.size[0] < 2 || in.size[1] < 2 || in.channels == 2 || in.channels > 4) return false;
    const int64_t step = std::abs(in.stride[0]);
    return in.dtype == DType::f32 ||
           (in.dtype == DType::u8 && (step == in.channels || (in.channels == 3 && step == 4)));
}

void warp_image(const Grid& out, const Grid& in, const AffineMap& map, const WarpOptions& options) {
    ImageWarp(out, in, options).run(map);
}

bool warp_by_places(const Grid& out, const Grid& in, const SourcePlaces& places, const WarpOptions& options,
                    Arena& arena) {
    if (!fits_warp_image(out, in, AffineMap{}, options.linear)) return false;
    // Vector code reads whole strips.
    const auto room = static_cast<size_t>(out.size[0] + WarpCoordinates::columns);
    auto *x = arena.take<float>(room), *y = arena.take<float>(room);
    std::fill_n(x + out.size[0], WarpCoordinates::columns, 0.0f);
    std::fill_n(y + out.size[0], WarpCoordinates::columns, 0.0f);
    ImageWarp(out, in, options).run(places, x, y);
    return true;
}

}  // namespace pixelmill
