// The row passes of pointwise.inl for NEON.
#include "simd.h"

#if PIXELMILL_NEON

#include <cstring>

#include "convert.h"
#include "pointwise.h"

namespace pixelmill::neon {
namespace {

void pack3(uint8_t* out, const uint8_t* in, int64_t pixels) {
    int64_t x = 0;
    for (; x + 16 <= pixels; x += 16) {
        const uint8x16x4_t four = vld4q_u8(in + 4 * x);
        vst3q_u8(out + 3 * x, {four.val[0], four.val[1], four.val[2]});
    }
    for (; x < pixels; ++x) {
        for (int c = 0; c < 3; ++c) out[3 * x + c] = in[4 * x + c];
    }
}

void spread3(uint8_t* out, const uint8_t* in, int64_t pixels) {
    int64_t x = 0;
    for (; x + 16 <= pixels; x += 16) {
        const uint8x16x3_t three = vld3q_u8(in + 3 * x);
        vst4q_u8(out + 4 * x, {three.val[0], three.val[1], three.val[2], vdupq_n_u8(0)});
    }
    for (; x < pixels; ++x) {
        for (int c = 0; c < 3; ++c) out[4 * x + c] = in[3 * x + c];
        out[4 * x + 3] = 0;
    }
}

void reverse4(uint8_t* out, const uint8_t* in, int64_t pixels) {
    int64_t x = 0;
    for (; x + 4 <= pixels; x += 4) {
        const uint32x4_t halves = vrev64q_u32(vreinterpretq_u32_u8(vld1q_u8(in + 4 * (pixels - 4 - x))));
        vst1q_u8(out + 4 * x, vreinterpretq_u8_u32(vextq_u32(halves, halves, 2)));
    }
    for (; x < pixels; ++x) std::memcpy(out + 4 * x, in + 4 * (pixels - 1 - x), 4);
}

// One channel of four pixels of four bytes, scaled. An index beyond the register makes a byte of zero.
struct Channel {
    uint8x16_t place;
    float32x4_t subtract, multiply;

    Channel(int c, Scaling scaling)
        : subtract(vdupq_n_f32(scaling.subtract[c])), multiply(vdupq_n_f32(scaling.multiply[c])) {
        const auto at = static_cast<uint8_t>(c);
        const auto byte = [at](int pixel) { return static_cast<uint8_t>(4 * pixel + at); };
        place =
            uint8x16_t{byte(0), 255, 255, 255, byte(1), 255, 255, 255, byte(2), 255, 255, 255, byte(3), 255, 255, 255};
    }

    float32x4_t of(uint8x16_t pixels) const {
        const float32x4_t values = vcvtq_f32_u32(vreinterpretq_u32_u8(vqtbl1q_u8(pixels, place)));
        return vmulq_f32(vsubq_f32(values, subtract), multiply);
    }
};

void scale_rest(float* out, int64_t pixel, int64_t plane, const uint8_t* in, int64_t from, int64_t to, int channels,
                Scaling scaling) {
    for (int64_t x = from; x < to; ++x) {
        for (int c = 0; c < channels; ++c) {
            const float value = static_cast<float>(in[4 * x + c]);
            out[pixel * x + plane * c] = (value - scaling.subtract[c]) * scaling.multiply[c];
        }
    }
}

void plane_of(float* out, const uint8_t* in, int64_t whole, const Channel& channel) {
    for (int64_t x = 0; x < whole; x += 8) {
        vst1q_f32(out + x, channel.of(vld1q_u8(in + 4 * x)));
        vst1q_f32(out + x + 4, channel.of(vld1q_u8(in + 4 * x + 16)));
    }
}

void three_planes(float* out, int64_t plane, const uint8_t* in, int64_t whole, Scaling scaling) {
    const Channel channels[3] = {{0, scaling}, {1, scaling}, {2, scaling}};
    float* const to[3] = {out, out + plane, out + 2 * plane};
    for (int64_t x = 0; x < whole; x += 8) {
        const uint8x16_t low = vld1q_u8(in + 4 * x), high = vld1q_u8(in + 4 * x + 16);
        for (int c = 0; c < 3; ++c) {
            vst1q_f32(to[c] + x, channels[c].of(low));
            vst1q_f32(to[c] + x + 4, channels[c].of(high));
        }
    }
}

void to_planes(float* out, int64_t plane, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    const int64_t whole = pixels / 8 * 8;
    if (channels >= 3) three_planes(out, plane, in, whole, scaling);
    for (int c = channels >= 3 ? 3 : 0; c < channels; ++c) plane_of(out + c * plane, in, whole, Channel(c, scaling));
    scale_rest(out, 1, plane, in, whole, pixels, channels, scaling);
}

void to_pixels(float* out, const uint8_t* in, int64_t pixels, int channels, Scaling scaling) {
    const Channel first(0, scaling), second(1, scaling), third(2, scaling);
    const int64_t whole = pixels / 4 * 4;
    if (channels == 3) {
        for (int64_t x = 0; x < whole; x += 4) {
            const uint8x16_t four = vld1q_u8(in + 4 * x);
            vst3q_f32(out + 3 * x, {first.of(four), second.of(four), third.of(four)});
        }
    } else {
        const Channel fourth(3, scaling);
        for (int64_t x = 0; x < whole; x += 4) {
            const uint8x16_t four = vld1q_u8(in + 4 * x);
            vst4q_f32(out + 4 * x, {first.of(four), second.of(four), third.of(four), fourth.of(four)});
        }
    }
    scale_rest(out, channels, 1, in, whole, pixels, channels, scaling);
}

// Rounds half away from zero and saturates, NaN becomes 0: as convert() does it.
inline uint16x8_t rounded8(const float* in) {
    const uint16x4_t low = vqmovn_u32(vcvtaq_u32_f32(vld1q_f32(in)));
    return vqmovn_high_u32(low, vcvtaq_u32_f32(vld1q_f32(in + 4)));
}

void to_bytes(uint8_t* out, const float* in, int64_t count) {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) {
        vst1q_u8(out + i, vqmovn_high_u16(vqmovn_u16(rounded8(in + i)), rounded8(in + i + 8)));
    }
    for (; i < count; ++i) out[i] = convert<uint8_t>(in[i]);
}

void fence() {}  // nothing is written past the caches

}  // namespace

const PixelRows pixel_rows{pack3, spread3, reverse4, to_planes, to_planes, fence, to_pixels, to_bytes};

}  // namespace pixelmill::neon

#endif
