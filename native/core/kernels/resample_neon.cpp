// The passes of resample.inl for NEON. All sums are of integers and fit their registers, so the bytes are those of the
// plain level: a rounding shift adds half a unit before it shifts, which the plain code does at the start of a sum.
#include "simd.h"

#if PIXELMILL_NEON

#include <cstring>

#include "resample.h"

namespace pixelmill::neon {
namespace {

// Four pixels of four bytes. Pixels of three bytes get a fourth of zero: an index beyond the register means that.
template <int step>
inline uint8x16_t four_pixels(const uint8_t* in) {
    const uint8x16_t bytes = vld1q_u8(in);
    if constexpr (step == 4) return bytes;
    const uint8x16_t spread = {0, 1, 2, 255, 3, 4, 5, 255, 6, 7, 8, 255, 9, 10, 11, 255};
    return vqtbl1q_u8(bytes, spread);
}

// Pixels 0 and 1 times their weights; every channel has a sum of its own.
inline int32x4_t first_two(uint8x16_t pixels, int16x4_t weight) {
    const int16x8_t two = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(pixels)));
    return vmlal_high_lane_s16(vmull_lane_s16(vget_low_s16(two), weight, 0), two, weight, 1);
}

inline int32x4_t last_two(int32x4_t sum, uint8x16_t pixels, int16x4_t weight) {
    const int16x8_t two = vreinterpretq_s16_u16(vmovl_high_u8(pixels));
    return vmlal_high_lane_s16(vmlal_lane_s16(sum, vget_low_s16(two), weight, 2), two, weight, 3);
}

inline int32x4_t all_four(uint8x16_t pixels, int16x4_t weight) {
    return last_two(first_two(pixels, weight), pixels, weight);
}

// One output of one row. `quads` groups of four taps; 0 stands for one pair only, -1 for `groups` of them. The plan has
// zero weights for the taps that are not there, and ByteResampler::readable sees to it that 16 bytes can be read.
template <int step, int quads>
inline int32x4_t output(const uint8_t* in, const int16_t* weights, int groups) {
    const uint8x16_t pixels = four_pixels<step>(in);
    const int16x4_t weight = vld1_s16(weights);
    if constexpr (quads == 0) return first_two(pixels, weight);
    int32x4_t sum = all_four(pixels, weight);
    for (int g = 1; g < (quads < 0 ? groups : quads); ++g) {
        sum = vaddq_s32(sum, all_four(four_pixels<step>(in + 4 * g * step), vld1_s16(weights + 4 * g)));
    }
    return sum;
}

// Outputs come in twos: the plan is padded with copies of its last output, and so are the rows of the ring.
template <int step, int quads>
void horizontal_rows(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan, int fraction) {
    const int groups = (plan.taps + 3) / 4;
    const int32x4_t down = vdupq_n_s32(fraction - weight_bits);
    const auto run = [&]<int count>(std::integral_constant<int, count>, int row) {
        const uint8_t* from[count];
        int16_t* to[count];
        for (int r = 0; r < count; ++r) {
            from[r] = in[row + r];
            to[r] = out[row + r];
        }
        const int16_t* weights = plan.fixed;
        for (int32_t x = 0; x < plan.count; x += 2, weights += 2 * plan.stride) {
            const int64_t first = int64_t{plan.first[x]} * step, second = int64_t{plan.first[x + 1]} * step;
            for (int r = 0; r < count; ++r) {
                const int32x4_t a = output<step, quads>(from[r] + first, weights, groups);
                const int32x4_t b = output<step, quads>(from[r] + second, weights + plan.stride, groups);
                const int16x4_t narrow = vqmovn_s32(vrshlq_s32(a, down));
                vst1q_s16(to[r] + 4 * x, vqmovn_high_s32(narrow, vrshlq_s32(b, down)));
            }
        }
    };
    if (rows == 4) return run(std::integral_constant<int, 4>{}, 0);
    for (int r = 0; r < rows; ++r) run(std::integral_constant<int, 1>{}, r);
}

template <int step>
void horizontal_pixels(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                       const TapGroup* /*groups*/, int64_t /*ahead*/, int fraction) {
    if (plan.taps <= 2) return horizontal_rows<step, 0>(out, in, rows, plan, fraction);
    if (plan.taps <= 4) return horizontal_rows<step, 1>(out, in, rows, plan, fraction);
    if (plan.taps <= 8) return horizontal_rows<step, 2>(out, in, rows, plan, fraction);
    horizontal_rows<step, -1>(out, in, rows, plan, fraction);
}

// Four taps of four outputs: the products of an output side by side.
struct FourOutputs {
    int32x4_t of[4];

    void add(const uint8_t* in, const int32_t* first, const int16_t* weights, int64_t stride) {
        for (int o = 0; o < 4; ++o) {
            uint32_t bytes;
            std::memcpy(&bytes, in + first[o], sizeof bytes);
            const uint16x8_t four = vmovl_u8(vcreate_u8(bytes));
            of[o] = vmlal_s16(of[o], vreinterpret_s16_u16(vget_low_u16(four)), vld1_s16(weights + o * stride));
        }
    }

    int32x4_t sums() const { return vpaddq_s32(vpaddq_s32(of[0], of[1]), vpaddq_s32(of[2], of[3])); }
};

void horizontal_gray(int16_t* out, const uint8_t* in, const AxisPlan& plan, int fraction) {
    const int32x4_t zero = vdupq_n_s32(0), down = vdupq_n_s32(fraction - weight_bits);
    const int64_t stride = plan.stride;
    for (int32_t x = 0; x < plan.count; x += 4) {
        FourOutputs four{{zero, zero, zero, zero}};
        for (int k = 0; k < plan.taps; k += 4) four.add(in + k, plan.first + x, plan.fixed + x * stride + k, stride);
        vst1_s16(out + x, vqmovn_s32(vrshlq_s32(four.sums(), down)));
    }
}

void horizontal1(int16_t* const* out, const uint8_t* const* in, int rows, const AxisPlan& plan,
                 const TapGroup* /*groups*/, int64_t /*ahead*/, int fraction) {
    for (int r = 0; r < rows; ++r) horizontal_gray(out[r], in[r], plan, fraction);
}

// Each product is rounded to 16 bits, see resample.inl. Weights and rows are not negative here, so none saturates.
template <int taps>
void vertical_rounded(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int64_t count, int fraction) {
    const int16x4_t weight = vld1_s16(weights);
    const int16x8_t down = vdupq_n_s16(static_cast<int16_t>(1 - fraction));
    const int16_t* from[taps];
    for (int k = 0; k < taps; ++k) from[k] = rows[k];
    const auto eight = [&](int64_t x) {
        int16x8_t sum = vqrdmulhq_lane_s16(vld1q_s16(from[0] + x), weight, 0);
        if constexpr (taps > 1) sum = vaddq_s16(sum, vqrdmulhq_lane_s16(vld1q_s16(from[1] + x), weight, 1));
        if constexpr (taps > 2) sum = vaddq_s16(sum, vqrdmulhq_lane_s16(vld1q_s16(from[2] + x), weight, 2));
        if constexpr (taps > 3) sum = vaddq_s16(sum, vqrdmulhq_lane_s16(vld1q_s16(from[3] + x), weight, 3));
        return vrshlq_s16(sum, down);
    };
    for (int64_t x = 0; x < count; x += 32) {
        vst1q_u8(out + x, vqmovun_high_s16(vqmovun_s16(eight(x)), eight(x + 8)));
        vst1q_u8(out + x + 16, vqmovun_high_s16(vqmovun_s16(eight(x + 16)), eight(x + 24)));
    }
}

void vertical_few(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int taps, int64_t count,
                  int fraction) {
    switch (taps) {
        case 1: return vertical_rounded<1>(out, rows, weights, count, fraction);
        case 2: return vertical_rounded<2>(out, rows, weights, count, fraction);
        case 3: return vertical_rounded<3>(out, rows, weights, count, fraction);
        default: return vertical_rounded<4>(out, rows, weights, count, fraction);
    }
}

void vertical(uint8_t* out, const int16_t* const* rows, const int16_t* weights, int taps, int64_t count, int fraction) {
    const int32x4_t down = vdupq_n_s32(-(weight_bits + fraction));
    for (int64_t x = 0; x < count; x += 16) {
        int32x4_t sum[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        for (int k = 0; k < taps; ++k) {
            const int16x8_t low = vld1q_s16(rows[k] + x), high = vld1q_s16(rows[k] + x + 8);
            const int16x8_t weight = vld1q_dup_s16(weights + k);
            sum[0] = vmlal_s16(sum[0], vget_low_s16(low), vget_low_s16(weight));
            sum[1] = vmlal_high_s16(sum[1], low, weight);
            sum[2] = vmlal_s16(sum[2], vget_low_s16(high), vget_low_s16(weight));
            sum[3] = vmlal_high_s16(sum[3], high, weight);
        }
        const auto narrowed = [&](int32x4_t a, int32x4_t b) {
            return vqmovn_high_s32(vqmovn_s32(vrshlq_s32(a, down)), vrshlq_s32(b, down));
        };
        const uint8x8_t bytes = vqmovun_s16(narrowed(sum[0], sum[1]));
        vst1q_u8(out + x, vqmovun_high_s16(bytes, narrowed(sum[2], sum[3])));
    }
}

void widen(int16_t* out, const uint8_t* in, int64_t count, int fraction) {
    for (int64_t i = 0; i < count; ++i) out[i] = static_cast<int16_t>(in[i] << fraction);
}

}  // namespace

const ByteResampling byte_resampling{
    4, horizontal_pixels<4>, horizontal_pixels<3>, horizontal1, vertical, vertical_few, nullptr, widen, nullptr};

}  // namespace pixelmill::neon

#endif
