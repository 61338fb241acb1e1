#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "resample_real.h"
#include "simd.h"

namespace pixelmill {

namespace {

#if PIXELMILL_WIDE_TABLES

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
        const uint64_t first = ~uint64_t{0} >> (64 - std::min(reach, 64));
        const uint64_t second = reach > 64 ? ~uint64_t{0} >> (128 - reach) : 0;
        const __m512i bytes = _mm512_maskz_loadu_epi8(first, in + low);
        const __m512i more = _mm512_maskz_loadu_epi8(second, in + low + 64);
        _mm512_storeu_si512(out + x, _mm512_permutex2var_epi8(bytes, order, more));
    }
    return x;
}

#endif

// One element a pixel, pixels side by side.
template <class T>
void pick_elements(T* out, const T* in, const AxisPlan& plan) {
    int32_t x = 0;
#if PIXELMILL_WIDE_TABLES
    if constexpr (std::is_same_v<T, uint8_t>) {
        if (uses_wide_tables()) x = pick_bytes(out, in, plan.first, plan.count);
    }
#endif
    for (; x < plan.count; ++x) out[x] = in[plan.first[x]];
}

// The elements after the spatial axes, `inner` of them, `step` apart.
template <class T>
void copy_row(T* out, const T* in, const AxisPlan& plan, int64_t pixel, int64_t inner, int64_t step) {
    if (inner == 1 && pixel == 1) return pick_elements(out, in, plan);
    if (inner == 1) {
        for (int32_t x = 0; x < plan.count; ++x) out[x] = in[plan.first[x] * pixel];
        return;
    }
    if (inner == 3) {
        for (int32_t x = 0; x < plan.count; ++x) {
            const T* from = in + plan.first[x] * pixel;
            out[3 * x] = from[0];
            out[3 * x + 1] = from[step];
            out[3 * x + 2] = from[2 * step];
        }
        return;
    }
    for (int32_t x = 0; x < plan.count; ++x) {
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
