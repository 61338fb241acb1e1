// Upsampling and color conversion of rows of samples, for jpeg_kernels_neon.cpp.

// Three times the near sample and the far one.
inline uint16x8_t weighted(uint8x8_t near, uint8x8_t far) { return vmlal_u8(vmovl_u8(far), near, vdup_n_u8(3)); }

// The triangle filter of libjpeg, see jpeg_rows_avx2.inl. A rounding shift adds 2 or 8; 1 and 7 are added here.
void upsample_h2v1(uint8_t* out, const uint8_t* in, int64_t count) {
    for (int64_t i = 0; i < count; i += 8) {
        const uint8x8_t middle = vld1_u8(in + i);
        const uint16x8_t left = vaddq_u16(weighted(middle, vld1_u8(in + i - 1)), vdupq_n_u16(1));
        const uint16x8_t right = weighted(middle, vld1_u8(in + i + 1));
        vst2_u8(out + 2 * i, {vshrn_n_u16(left, 2), vrshrn_n_u16(right, 2)});
    }
}

// Eight samples between two rows and the neighbors of each.
struct Neighbors {
    uint16x8_t before, here, after;
    uint8x8_t left() const { return vrshrn_n_u16(vmlaq_n_u16(before, here, 3), 4); }
    uint8x8_t right() const { return vshrn_n_u16(vaddq_u16(vmlaq_n_u16(after, here, 3), vdupq_n_u16(7)), 4); }
};

void upsample_h2v2(uint8_t* out, const uint8_t* near, const uint8_t* far, int64_t count) {
    uint16x8_t before = vdupq_n_u16(static_cast<uint16_t>(3 * near[-1] + far[-1]));
    uint16x8_t low = weighted(vld1_u8(near), vld1_u8(far));
    for (int64_t i = 0; i < count; i += 16) {
        const uint8x16_t ahead = vld1q_u8(near + i + 8), below = vld1q_u8(far + i + 8);
        const uint16x8_t high = weighted(vget_low_u8(ahead), vget_low_u8(below));
        const uint16x8_t next = weighted(vget_high_u8(ahead), vget_high_u8(below));
        const Neighbors first{vextq_u16(before, low, 7), low, vextq_u16(low, high, 1)};
        const Neighbors second{vextq_u16(low, high, 7), high, vextq_u16(high, next, 1)};
        vst2q_u8(out + 2 * i, {vcombine_u8(first.left(), second.left()), vcombine_u8(first.right(), second.right())});
        before = high;
        low = next;
    }
}

void upsample_h1v2(uint8_t* out, const uint8_t* near, const uint8_t* far, int bias, int64_t count) {
    const uint16x8_t add = vdupq_n_u16(static_cast<uint16_t>(bias));
    for (int64_t i = 0; i < count; i += 8) {
        vst1_u8(out + i, vshrn_n_u16(vaddq_u16(weighted(vld1_u8(near + i), vld1_u8(far + i)), add), 2));
    }
}

struct Colors {
    uint8x16_t red, green, blue;
};

// Weights of BT.601 by twice the difference of a sample from 128. The rounded products by 22970 and 29033 are those by
// 91881 and 116130 for each of the 256 samples; green is exact.
inline Colors convert16(const uint8_t* y, const uint8_t* cb, const uint8_t* cr) {
    const uint8x16_t ys = vld1q_u8(y), center = vdupq_n_u8(128);
    const int8x16_t cbs = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(cb), center));
    const int8x16_t crs = vreinterpretq_s8_u8(veorq_u8(vld1q_u8(cr), center));
    const int16x8_t blue[2] = {vshll_n_s8(vget_low_s8(cbs), 1), vshll_high_n_s8(cbs, 1)};
    const int16x8_t red[2] = {vshll_n_s8(vget_low_s8(crs), 1), vshll_high_n_s8(crs, 1)};
    const auto with_y = [&](int16x8_t low, int16x8_t high) {
        const uint16x8_t a = vaddw_u8(vreinterpretq_u16_s16(low), vget_low_u8(ys));
        const uint16x8_t b = vaddw_high_u8(vreinterpretq_u16_s16(high), ys);
        return vqmovun_high_s16(vqmovun_s16(vreinterpretq_s16_u16(a)), vreinterpretq_s16_u16(b));
    };
    const auto green = [&](int half) {
        const int32x4_t low = vmull_n_s16(vget_low_s16(blue[half]), -22554 / 2);
        const int32x4_t high = vmull_high_n_s16(blue[half], -22554 / 2);
        const int16x4_t narrow = vrshrn_n_s32(vmlal_n_s16(low, vget_low_s16(red[half]), -46802 / 2), 16);
        return vrshrn_high_n_s32(narrow, vmlal_high_n_s16(high, red[half], -46802 / 2), 16);
    };
    return {with_y(vqrdmulhq_n_s16(red[0], 22970), vqrdmulhq_n_s16(red[1], 22970)), with_y(green(0), green(1)),
            with_y(vqrdmulhq_n_s16(blue[0], 29033), vqrdmulhq_n_s16(blue[1], 29033))};
}

template <int pixel, bool bgr>
inline void store16(uint8_t* out, const Colors& colors) {
    const uint8x16_t first = bgr ? colors.blue : colors.red, third = bgr ? colors.red : colors.blue;
    if constexpr (pixel == 3) {
        vst3q_u8(out, {first, colors.green, third});
    } else {
        vst4q_u8(out, {first, colors.green, third, vdupq_n_u8(255)});
    }
}

template <int pixel, bool bgr>
void ycc_row(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count) {
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) store16<pixel, bgr>(out + pixel * i, convert16(y + i, cb + i, cr + i));
    if (i == count) return;
    uint8_t rest[16 * pixel];
    store16<pixel, bgr>(rest, convert16(y + i, cb + i, cr + i));
    std::memcpy(out + pixel * i, rest, static_cast<size_t>(pixel * (count - i)));
}

void ycc_to_pixels(uint8_t* out, const uint8_t* y, const uint8_t* cb, const uint8_t* cr, int64_t count,
                   PixelOrder order) {
    switch (order) {
        case PixelOrder::rgb: return ycc_row<3, false>(out, y, cb, cr, count);
        case PixelOrder::bgr: return ycc_row<3, true>(out, y, cb, cr, count);
        case PixelOrder::rgbx: return ycc_row<4, false>(out, y, cb, cr, count);
        case PixelOrder::bgrx: return ycc_row<4, true>(out, y, cb, cr, count);
    }
}
