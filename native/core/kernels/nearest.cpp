#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "resample_real.h"
#include "simd.h"

namespace pixelmill {

namespace {

#if PIXELMILL_WIDE_TABLES

// The 128 bytes at `from`, of which `reach` are there, in another order.
WIDE_TABLES_CODE inline __m512i ordered(const uint8_t* from, int32_t reach, __m512i order) {
    const uint64_t first = ~uint64_t{0} >> (64 - std::min(reach, 64));
    const uint64_t second = reach > 64 ? ~uint64_t{0} >> (128 - reach) : 0;
    return _mm512_permutex2var_epi8(_mm512_maskz_loadu_epi8(first, from), order,
                                    _mm512_maskz_loadu_epi8(second, from + 64));
}

// Single bytes side by side, 64 at a time while they lie within 128. Returns how many were copied.
WIDE_TABLES_CODE int32_t pick_bytes(uint8_t* out, const uint8_t* in, const int32_t* places, int32_t count) {
    int32_t x = 0;
    for (; x + 64 <= count; x += 64) {
        const int32_t low = std::min(places[x], places[x + 63]), reach = std::abs(places[x + 63] - places[x]) + 1;
        if (reach > 128) break;
        const __m512i base = _mm512_set1_epi32(low);
        __m128i part[4];
        for (int i = 0; i < 4; ++i)
            part[i] = _mm512_cvtepi32_epi8(_mm512_sub_epi32(_mm512_loadu_si512(places + x + 16 * i), base));
        __m512i order = _mm512_castsi128_si512(part[0]);
        order = _mm512_inserti32x4(order, part[1], 1);
        order = _mm512_inserti32x4(order, part[2], 2);
        order = _mm512_inserti32x4(order, part[3], 3);
        _mm512_storeu_si512(out + x, ordered(in + low, reach, order));
    }
    return x;
}

// For each of 48 bytes of colors: the number of its pixel, and of its channel.
struct ColorBytes {
    std::array<uint8_t, 64> pixel{}, channel{};
};
constexpr ColorBytes color_bytes = [] {
    ColorBytes bytes;
    for (uint8_t i = 0; i < 48; ++i) {
        bytes.pixel[i] = i / 3;
        bytes.channel[i] = i % 3;
    }
    return bytes;
}();

// Colors side by side, 16 at a time while their pixels lie within 128 bytes. Returns how many were copied.
WIDE_TABLES_CODE int32_t pick_colors(uint8_t* out, const uint8_t* in, const int32_t* places, int32_t count) {
    const __m512i pixel = _mm512_loadu_si512(color_bytes.pixel.data());
    const __m512i channel = _mm512_loadu_si512(color_bytes.channel.data());
    int32_t x = 0;
    for (; x + 16 <= count; x += 16) {
        const int32_t low = std::min(places[x], places[x + 15]), wide = std::abs(places[x + 15] - places[x]) + 1;
        if (wide > 128 / 3) break;
        const __m512i apart = _mm512_sub_epi32(_mm512_loadu_si512(places + x), _mm512_set1_epi32(low));
        const __m512i starts =
            _mm512_castsi128_si512(_mm512_cvtepi32_epi8(_mm512_mullo_epi32(apart, _mm512_set1_epi32(3))));
        const __m512i order = _mm512_add_epi8(_mm512_permutexvar_epi8(pixel, starts), channel);
        _mm512_mask_storeu_epi8(out + 3 * x, (uint64_t{1} << 48) - 1, ordered(in + 3 * int64_t{low}, 3 * wide, order));
    }
    return x;
}

#endif

// Pixels of `inner` elements side by side. Returns how many were copied in a faster way.
template <class T>
int32_t pick_pixels([[maybe_unused]] T* out, [[maybe_unused]] const T* in, [[maybe_unused]] const AxisPlan& plan,
                    [[maybe_unused]] int64_t inner) {
#if PIXELMILL_WIDE_TABLES
    if constexpr (std::is_same_v<T, uint8_t>) {
        if (inner == 1 && uses_wide_tables()) return pick_bytes(out, in, plan.first, plan.count);
        if (inner == 3 && uses_wide_tables()) return pick_colors(out, in, plan.first, plan.count);
    }
#endif
    return 0;
}

// The elements after the spatial axes, `inner` of them, `step` apart.
template <class T>
void copy_row(T* out, const T* in, const AxisPlan& plan, int64_t pixel, int64_t inner, int64_t step) {
    int32_t x = pixel == inner && step == 1 ? pick_pixels(out, in, plan, inner) : 0;
    if (inner == 1) {
        for (; x < plan.count; ++x) out[x] = in[plan.first[x] * pixel];
        return;
    }
    if (inner == 3) {
        for (; x < plan.count; ++x) {
            const T* from = in + plan.first[x] * pixel;
            out[3 * x] = from[0];
            out[3 * x + 1] = from[step];
            out[3 * x + 2] = from[2 * step];
        }
        return;
    }
    for (; x < plan.count; ++x) {
        const T* from = in + plan.first[x] * pixel;
        for (int64_t c = 0; c < inner; ++c) *out++ = from[c * step];
    }
}

template <class T>
class Gather {
   public:
    Gather(const Value& in, const AxisPlan* plans, int axes, int outer)
        : in_(in), plans_(plans), first_(outer), innermost_(outer + axes - 1) {}

    // Iterates over the outer and spatial axes from `dim` on and returns where the output continues.
    T* gather(T* out, const T* in, int dim) const {
        if (dim < first_) {
            for (int64_t i = 0; i < in_.shape[dim]; ++i) out = gather(out, in + i * in_.stride[dim], dim + 1);
            return out;
        }
        const AxisPlan& plan = plans_[dim - first_];
        if (dim < innermost_) {
            T* before = out;
            for (int32_t i = 0; i < plan.count; ++i) {
                if (i > 0 && plan.first[i] == plan.first[i - 1]) {  // enlarged: the same again
                    const int64_t count = out - before;
                    std::memcpy(out, before, static_cast<size_t>(count) * sizeof(T));
                    before = out;
                    out += count;
                    continue;
                }
                before = out;
                out = gather(out, in + plan.first[i] * in_.stride[dim], dim + 1);
            }
            return out;
        }
        const bool channels = innermost_ + 1 < in_.ndim;
        const int64_t inner = channels ? in_.shape[innermost_ + 1] : 1,
                      step = channels ? in_.stride[innermost_ + 1] : 1;
        copy_row(out, in, plan, in_.stride[innermost_], inner, step);
        return out + plan.count * inner;
    }

   private:
    const Value& in_;
    const AxisPlan* plans_;
    int first_, innermost_;
};

}  // namespace

void resample_nearest(const Value& out, const Value& in, const AxisPlan* plans, int axes, int outer) {
    switch (size_of(in.dtype)) {
        case 1: Gather<uint8_t>(in, plans, axes, outer).gather(out.as<uint8_t>(), in.as<uint8_t>(), 0); break;
        case 2: Gather<uint16_t>(in, plans, axes, outer).gather(out.as<uint16_t>(), in.as<uint16_t>(), 0); break;
        case 4: Gather<uint32_t>(in, plans, axes, outer).gather(out.as<uint32_t>(), in.as<uint32_t>(), 0); break;
        default: Gather<uint64_t>(in, plans, axes, outer).gather(out.as<uint64_t>(), in.as<uint64_t>(), 0);
    }
}

}  // namespace pixelmill
