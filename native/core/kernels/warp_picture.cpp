// The common warps: pictures of bytes blended in integers, pictures of floats, and pixels of any kind that are only
// copied.
#include <algorithm>
#include <bit>
#include <cstring>

#include "convert.h"
#include "simd.h"
#include "warp.h"

namespace pixelmill {

namespace {

enum class Weighing : uint8_t { none, whole, real };

// Where the pixels of a strip of one row come from.
struct Taps {
    uint64_t fast;  // one bit for each pixel: all of its taps can be read without a look at the edges
    alignas(32) int32_t x[WarpWalk::columns];
    alignas(32) int32_t y[WarpWalk::columns];
    alignas(32) int32_t offset[WarpWalk::columns];                         // of the first tap, in bytes
    alignas(32) float across[WarpWalk::columns], down[WarpWalk::columns];  // shares of the right and of the lower taps
    alignas(32) int16_t
        weight[4 * WarpWalk::columns];  // of bytes: upper left, upper right, lower left, lower right; 16384 in all
    uint64_t outside;                   // none of its taps lies in the source
    int64_t pixel = 0;                  // the distance to the right tap, in elements; of floats alone
};

// What a place has to be compared with; the first of two numbers is for x, the second for y.
struct Bounds {
    float centre;           // from a place to the first tap
    float low[2], high[2];  // places are limited to this before they become whole numbers
    int32_t last[2];        // so are taps
    int32_t inside[2];      // first taps from 0 to here have all of their taps in the source
    int32_t near, far[2];   // first taps beyond these have none
    int32_t risky[2];       // the first tap behind whose pixels the memory may end
    int32_t row, pixel;     // distances in bytes
    Weighing weighing;
    bool backwards;  // memory runs from right to left, and the first tap is the right one
};

// `in` is the place that offsets are counted from; `row` is the distance of rows in bytes. Pixels `from` to `to` of a
// strip are made.
template <class T>
using Blend = void(T* out, const uint8_t* in, int64_t row, const Taps& taps, int from, int to);

struct WarpPasses {
    void (*walk)(float (*place)[WarpWalk::columns], float* here, float step);
    void (*locate)(Taps& taps, const float* xs, const float* ys, const Bounds& bounds);
    Blend<uint8_t>*single, *three, *three_of_four, *four;  // by the channels and the bytes of a pixel
    Blend<float>*real1, *real3, *real4;
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
    b.centre = options.linear ? 0.5f : 0.0f;
    // Bytes and copies stay inside by moving the place. With floats that would multiply a pixel, perhaps infinite, by
    // 0.
    const bool moves = options.repeats_edge && b.weighing != Weighing::real;
    constexpr int32_t far_away = 1 << 30;
    b.near = options.repeats_edge ? -far_away : options.linear ? -1 : 0;
    for (int a = 0; a < 2; ++a) {
        const auto end = static_cast<int32_t>(in.size[a]) - 1;
        b.inside[a] = options.linear ? end - 1 : end;
        b.far[a] = options.repeats_edge ? far_away : end;
        b.last[a] = options.linear && moves ? end - 1 : far_away;
        b.low[a] = moves ? 0.0f : -2.0f;
        b.high[a] = static_cast<float>(moves ? end : end + 1);
        b.risky[a] = in.stride[a] > 0 ? b.inside[a] : 0;
    }
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

class PictureWarp {
   public:
    PictureWarp(const Grid& out, const Grid& in, const WarpOptions& options)
        : out_(out),
          in_(in),
          repeats_edge_(options.repeats_edge),
          left_(options.left),
          top_(options.top),
          bounds_(bounds_of(in, options)),
          pixel_bytes_(out.channels * size_of(out.dtype)),
          copy_(copy_of(pixel_bytes_)),
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
        real_ = in.channels == 1 ? passes_.real1 : in.channels == 4 ? passes_.real4 : passes_.real3;
    }

    void run(const AffineMap& map) {
        const int64_t right = left_ + out_.size[0];
        for (int64_t y = 0; y < out_.size[1]; y += WarpWalk::rows) {
            WarpWalk across(map, 0, top_ + y, 0), down(map, 1, top_ + y, 0);
            const int64_t rows = std::min<int64_t>(WarpWalk::rows, out_.size[1] - y);
            for (int64_t x = 0; x < right; x += WarpWalk::columns) {  // from the left of the canvas: places are sums
                across.strip(x);
                down.strip(x);
                if (x + WarpWalk::columns <= left_) continue;
                const auto from = static_cast<int>(std::max<int64_t>(left_ - x, 0));
                const auto to = static_cast<int>(std::min<int64_t>(WarpWalk::columns, right - x));
                for (int64_t r = 0; r < rows; ++r) {
                    passes_.locate(taps_, across.place[r], down.place[r], bounds_);
                    row(reinterpret_cast<uint8_t*>(out_.at(x - left_, y + r)), from, to);
                }
            }
        }
    }

   private:
    void row(uint8_t* out, int begin, int count) const {
        for (int x = begin; x < count;) {
            const uint64_t fast = taps_.fast >> x, outside = taps_.outside >> x;
            const int from = x;
            if ((fast & 1) != 0) {
                x = std::min(x + std::countr_one(fast), count);
                made(out, from, x);
            } else if ((outside & 1) != 0) {
                x = std::min(x + std::countr_one(outside), count);
                filled(out + from * pixel_bytes_, x - from);
            } else {
                edge(out + x * pixel_bytes_, x);
                ++x;
            }
        }
    }

    void made(uint8_t* out, int from, int to) const {
        switch (bounds_.weighing) {
            case Weighing::none: return copy_(out, first_, taps_, from, to);
            case Weighing::whole: return blend_(out, first_, bounds_.row, taps_, from, to);
            case Weighing::real: return real_(reinterpret_cast<float*>(out), first_, bounds_.row, taps_, from, to);
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
        for (int k = 0; k < 4; ++k)
            taps[k] = tap(taps_.x[at] + (bounds_.backwards ? 1 - k % 2 : k % 2), taps_.y[at] + k / 2);
        for (int64_t c = 0; c < in_.channels; ++c) {
            if (bounds_.weighing == Weighing::real) {
                float value[4];
                for (int k = 0; k < 4; ++k) std::memcpy(&value[k], taps[k] + 4 * c, 4);
                const float result =
                    base::mixed(value[0], value[1], value[2], value[3], taps_.across[at], taps_.down[at]);
                std::memcpy(out + 4 * c, &result, 4);
            } else {
                int32_t sum = 8192;
                for (int k = 0; k < 4; ++k) sum += static_cast<int32_t>(taps[k][c]) * taps_.weight[4 * at + k];
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
    Copy* copy_;
    const uint8_t* first_;
    Blend<uint8_t>* blend_;
    Blend<float>* real_;
    uint8_t fill_[16] = {};
    Taps taps_;
};

}  // namespace

WarpWalk::WarpWalk(const AffineMap& map, int axis, int64_t y, int64_t z) : step_(map.at[axis][0]) {
    const float* m = map.at[axis];
    const float start = m[map.axes] + m[0] * 0.5f;
    for (int r = 0; r < rows; ++r) {
        tile_[r] = start + m[1] * (static_cast<float>(y + r) + 0.5f);
        if (map.axes == 3) tile_[r] += m[2] * (static_cast<float>(z) + 0.5f);
    }
}

void WarpWalk::strip(int64_t column) {
    if (column % restart == 0) {
        for (int r = 0; r < rows; ++r) {
            if (column > 0) tile_[r] += static_cast<float>(restart) * step_;
            here_[r] = tile_[r];
        }
    }
    warp_passes().walk(place, here_, step_);
}

bool fits_warp_picture(const Grid& out, const Grid& in, const AffineMap& map, bool linear) {
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

void warp_picture(const Grid& out, const Grid& in, const AffineMap& map, const WarpOptions& options) {
    PictureWarp(out, in, options).run(map);
}

}  // namespace pixelmill
