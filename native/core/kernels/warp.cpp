#include "warp.h"

#include <algorithm>
#include <cmath>

#include "convert.h"
#include "copy.h"

namespace pixelmill {

namespace {

// One more than the taps of a place along an axis reach, so that what is far away becomes a small whole number.
constexpr float margin = 4;

// Warps of any type, any number of channels, and volumes. Rows are made in Acc and converted.
template <class In, class Acc, bool linear, int axes>
class RealWarp {
   public:
    RealWarp(const Grid& out, const Grid& in, const AffineMap& map, const WarpOptions& options, Arena& arena)
        : out_(out),
          in_(in),
          map_(map),
          options_(options),
          row_(arena.take<Acc>(static_cast<size_t>(WarpCoordinates::columns * out.channels))) {
        // DALI takes the fill through the type of the output, and when it blends, through that of the input.
        with_type(out.dtype, [&](auto zero) {
            const auto value = convert<decltype(zero)>(options.fill);
            fill_ = linear ? convert<Acc>(convert<In>(value)) : convert<Acc>(value);
        });
        for (int k = 0; k < 8; ++k) {
            distance_[k] = (k & 1) * in.stride[0] + (k >> 1 & 1) * in.stride[1] + (k >> 2 & 1) * in.stride[2];
        }
    }

    void run() {
        for (int64_t z = 0; z < out_.size[2]; ++z) {
            for (int64_t y = 0; y < out_.size[1]; y += WarpCoordinates::rows) block(y, z);
        }
    }

   private:
    void block(int64_t y, int64_t z) {
        const int64_t row = options_.top + y, left = options_.left, right = left + out_.size[0];
        WarpCoordinates coordinates(map_, row, z);
        const int64_t rows = std::min<int64_t>(WarpCoordinates::rows, out_.size[1] - y);
        for (int64_t x = 0; x < right; x += WarpCoordinates::columns) {
            coordinates.strip(x);
            if (x + WarpCoordinates::columns <= left) continue;
            const int64_t from = std::max<int64_t>(left - x, 0),
                          to = std::min<int64_t>(WarpCoordinates::columns, right - x);
            for (int64_t r = 0; r < rows; ++r) {
                for (int64_t i = from; i < to; ++i) {
                    float place[axes];
                    for (int a = 0; a < axes; ++a) place[a] = coordinates.place[a][r][i];
                    pixel(row_ + (i - from) * out_.channels, place);
                }
                deliver(out_.at(x + from - left, y + r, z), to - from);
            }
        }
    }

    void deliver(std::byte* to, int64_t count) const {
        with_type(out_.dtype, [&](auto zero) {
            using Out = decltype(zero);
            auto* out = reinterpret_cast<Out*>(to);
            const Acc* from = row_;
            for (int64_t i = 0; i < count; ++i) {
                for (int64_t c = 0; c < out_.channels; ++c)
                    out[i * out_.stride[0] + c * out_.channel] = convert<Out>(*from++);
            }
        });
    }

    void pixel(Acc* out, const float* place) const {
        int32_t first[3] = {};
        float rest[3] = {};
        bool inside = true;
        for (int a = 0; a < axes; ++a) {
            float v = place[a] - (linear ? 0.5f : 0.0f);
            v = v > -margin ? v : -margin;
            v = std::min(v, static_cast<float>(in_.size[a]) + margin);
            first[a] = static_cast<int32_t>(v);
            first[a] -= static_cast<float>(first[a]) > v ? 1 : 0;
            rest[a] = v - static_cast<float>(first[a]);
            inside &= first[a] >= 0 && first[a] + (linear ? 1 : 0) < in_.size[a];
        }
        if (inside) {
            const auto* at =
                reinterpret_cast<const In*>(in_.data) + first[0] * in_.stride[0] + first[1] * in_.stride[1];
            if (axes == 3) at += first[2] * in_.stride[2];
            mix(out, rest, [&](int k, int64_t c) { return convert<Acc>(at[distance_[k] + c * in_.channel]); });
            return;
        }
        const In* taps[8];
        const int count = linear ? 1 << axes : 1;
        for (int k = 0; k < count; ++k) taps[k] = tap(first[0] + (k & 1), first[1] + (k >> 1 & 1), first[2] + (k >> 2));
        mix(out, rest,
            [&](int k, int64_t c) { return taps[k] == nullptr ? fill_ : convert<Acc>(taps[k][c * in_.channel]); });
    }

    // `tap` returns a channel of a tap.
    template <class Tap>
    void mix(Acc* out, const float* rest, Tap&& tap) const {
        for (int64_t c = 0; c < in_.channels; ++c) {
            if constexpr (linear) {
                out[c] = blend(rest, [&](int k) { return tap(k, c); });
                if (axes == 3) out[c] += (blend(rest, [&](int k) { return tap(4 + k, c); }) - out[c]) * rest[2];
            } else {
                out[c] = tap(0, c);
            }
        }
    }

    template <class Tap>
    static Acc blend(const float* rest, Tap&& tap) {
        const Acc upper = tap(0) * (1 - rest[0]) + tap(1) * rest[0];
        const Acc lower = tap(2) * (1 - rest[0]) + tap(3) * rest[0];
        return upper + (lower - upper) * rest[1];
    }

    // Null where there is nothing but the fill.
    const In* tap(int64_t x, int64_t y, int64_t z) const {
        int64_t at[3] = {x, y, z};
        for (int a = 0; a < axes; ++a) {
            if (options_.repeats_edge) at[a] = std::clamp<int64_t>(at[a], 0, in_.size[a] - 1);
            if (at[a] < 0 || at[a] >= in_.size[a]) return nullptr;
        }
        return reinterpret_cast<const In*>(in_.at(at[0], at[1], at[2]));
    }

    const Grid &out_, &in_;
    const AffineMap& map_;
    const WarpOptions& options_;
    Acc* row_;
    Acc fill_{};
    int64_t distance_[8];
};

void fill_all(const Grid& out, double fill) {
    with_type(out.dtype, [&](auto zero) {
        using Out = decltype(zero);
        for (int64_t z = 0; z < out.size[2]; ++z) {
            for (int64_t y = 0; y < out.size[1]; ++y) {
                for (int64_t x = 0; x < out.size[0]; ++x) {
                    auto* to = reinterpret_cast<Out*>(out.at(x, y, z));
                    for (int64_t c = 0; c < out.channels; ++c) to[c * out.channel] = convert<Out>(fill);
                }
            }
        }
    });
}

Grid packed(const Grid& in, Arena& arena) {
    Grid made = in;
    made.data = arena.take(static_cast<size_t>(in.size[0] * in.size[1] * in.channels * size_of(in.dtype)));
    made.channel = 1;
    made.stride[0] = in.channels;
    made.stride[1] = in.size[0] * in.channels;
    const Extents shape{in.size[1], in.size[0], in.channels};
    const Value from{in.data, in.dtype, 3, shape, {in.stride[1], in.stride[0], in.channel}};
    copy_elements({made.data, in.dtype, 3, shape, packed_strides(3, shape)}, from);
    return made;
}

template <class In, int axes>
void warp_real(const Grid& out, const Grid& in, const AffineMap& map, const WarpOptions& options, Arena& arena) {
    using Acc = std::conditional_t<sizeof(In) == 8 || std::is_same_v<In, uint32_t>, double, float>;
    if (options.linear) {
        RealWarp<In, Acc, true, axes>(out, in, map, options, arena).run();
    } else if (in.dtype == out.dtype) {
        RealWarp<In, In, false, axes>(out, in, map, options, arena).run();
    } else {
        RealWarp<In, Acc, false, axes>(out, in, map, options, arena).run();
    }
}

}  // namespace

void warp(const Grid& out, const Grid& source, const AffineMap& map, const WarpOptions& options, Arena& arena) {
    if (source.size[0] == 0 || source.size[1] == 0 || source.size[2] == 0) return fill_all(out, options.fill);
    Grid in = source;
    if (map.axes == 2 && in.dtype == DType::u8 && options.linear && !fits_warp_image(out, in, map, true)) {
        in = packed(source, arena);  // bytes are blended in whole numbers wherever they come from
    }
    if (fits_warp_image(out, in, map, options.linear)) return warp_image(out, in, map, options);
    with_type(in.dtype, [&](auto zero) {
        using In = decltype(zero);
        map.axes == 2 ? warp_real<In, 2>(out, in, map, options, arena) : warp_real<In, 3>(out, in, map, options, arena);
    });
}

}  // namespace pixelmill
