// The part of warp.inl that makes pixels of what was located.

template <int step, int channels>
inline void blend_plain(uint8_t* out, const uint8_t* in, const Bounds& b, const Taps& taps, int from, int to) {
    const int left = b.backwards ? step : 0, right = step - left;
    for (int i = from; i < to; ++i) {
        const uint8_t *upper = in + taps.offset[i], *lower = upper + b.row;
        const int32_t w[4] = {taps.weight(i, 0), taps.weight(i, 1), taps.weight(i, 2), taps.weight(i, 3)};
        for (int c = 0; c < channels; ++c) {
            const int32_t sum =
                upper[c + left] * w[0] + upper[c + right] * w[1] + lower[c + left] * w[2] + lower[c + right] * w[3];
            out[i * channels + c] = static_cast<uint8_t>((sum + 8192) >> 14);
        }
    }
}

#if AVX2_CODE
// The eight bytes at an address, four times. Two pixels need six or eight: pixels where the other two may lie past the
// end of the memory are the risky ones of Bounds, which never come here.
inline __m256i four_times(const uint8_t* place) {
    int64_t bytes;
    std::memcpy(&bytes, place, 8);
    return _mm256_set1_epi64x(bytes);
}

// Puts the left and the right tap of four channels side by side, as 16-bit numbers. `a` to `d` are the offsets of the
// taps that come first in memory: the left ones, or with the second order, for mirrored images, the right ones.
struct TapOrder {
    alignas(16) int8_t bytes[2][16];

    constexpr TapOrder(int step, int a, int b, int c, int d) : bytes{} {
        const int at[4] = {a, b, c, d};
        for (int i = 0; i < 16; ++i) {
            const int second = i % 4 / 2;
            for (int way = 0; way < 2; ++way)
                bytes[way][i] = static_cast<int8_t>(i % 2 != 0 ? -1 : second == way ? at[i / 4] : at[i / 4] + step);
        }
    }
};
inline __m256i order_of(const TapOrder& order, bool backwards) {
    return _mm256_broadcastsi128_si256(
        _mm_load_si128(reinterpret_cast<const __m128i*>(order.bytes[backwards ? 1 : 0])));
}

// Four sums in each half; `spread` picks the weights of their pixels.
template <int spread>
inline __m256i blended(__m256i upper, __m256i lower, const Weights8& weights, __m256i order) {
    const __m256i above = _mm256_shuffle_epi8(upper, order), below = _mm256_shuffle_epi8(lower, order);
    return _mm256_add_epi32(_mm256_madd_epi16(above, _mm256_shuffle_epi32(weights.upper, spread)),
                            _mm256_madd_epi16(below, _mm256_shuffle_epi32(weights.lower, spread)));
}

// Rounds halves up.
inline __m256i halved(__m256i words) { return _mm256_avg_epu16(words, _mm256_setzero_si256()); }
// Sums divided by 16384 and rounded, as 16-bit numbers, the first and the second ones in turns. A sum is at most
// 255 * 2^14, so it fits 16 bits after a shift by 13, and the average rounds the last bit: (sum + 8192) >> 14.
inline __m256i rounded(__m256i first, __m256i second) {
    return halved(_mm256_blend_epi16(_mm256_srli_epi32(first, 13), _mm256_slli_epi32(second, 3), 0xAA));
}

template <int step>
struct BlendThree {
    static constexpr int channels = 3;
    static constexpr TapOrder orders[3] = {{step, 0, 1, 2, 8}, {step, 8, 9, 10, 0}, {step, 9, 10, 1, 2}};
    const __m256i order, order_late, order_rest;
    explicit BlendThree(bool backwards)
        : order(order_of(orders[0], backwards)),
          order_late(order_of(orders[1], backwards)),
          order_rest(order_of(orders[2], backwards)) {}

    // Two pixels in each half: `first`, `second` and those four further on.
    static __m256i places(const uint8_t* in, const int32_t* offset, int first, int second) {
        const __m256i low = _mm256_blend_epi32(four_times(in + offset[first]), four_times(in + offset[second]), 0xCC);
        const __m256i high =
            _mm256_blend_epi32(four_times(in + offset[first + 4]), four_times(in + offset[second + 4]), 0xCC);
        return _mm256_blend_epi32(low, high, 0xF0);
    }

    // Pixels 0 to 3 are made in the lower halves, 4 to 7 in the upper ones. Four pixels of three channels are three
    // times four sums: all of pixel 0 and the start of 1, all of 2 and the start of 3, the rest of 1 and 3.
    void operator()(uint8_t* out, const uint8_t* in, int64_t row, const int32_t* offset,
                    const Weights8& weights) const {
        const __m256i early[2] = {places(in, offset, 0, 1), places(in + row, offset, 0, 1)};
        const __m256i late[2] = {places(in, offset, 3, 2), places(in + row, offset, 3, 2)};
        const __m256i rest[2] = {_mm256_blend_epi32(late[0], early[0], 0xCC),
                                 _mm256_blend_epi32(late[1], early[1], 0xCC)};
        const __m256i words = rounded(blended<0x40>(early[0], early[1], weights, order),
                                      blended<0xEA>(late[0], late[1], weights, order_late));
        const __m256i more = halved(_mm256_srli_epi32(blended<0xF5>(rest[0], rest[1], weights, order_rest), 13));
        const __m256i sorted = _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 12, 14, -1, -1, -1, -1, 0, 2, 4, 6, 8,
                                                10, 1, 3, 5, 7, 12, 14, -1, -1, -1, -1);
        const __m256i pixels = _mm256_permutevar8x32_epi32(
            _mm256_shuffle_epi8(_mm256_packus_epi16(words, more), sorted), _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(pixels));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + 16), _mm256_extracti128_si256(pixels, 1));
    }
};

struct BlendFour {
    static constexpr int channels = 4;
    static constexpr TapOrder orders{4, 0, 1, 2, 3};
    const __m256i order;
    explicit BlendFour(bool backwards) : order(order_of(orders, backwards)) {}

    // Pixels `one` and `one` + 4 of eight, each in its half.
    template <int one>
    __m256i two(const uint8_t* in, int64_t row, const int32_t* offset, const Weights8& weights) const {
        const uint8_t *first = in + offset[one], *second = in + offset[one + 4];
        return blended<one * 0x55>(_mm256_blend_epi32(four_times(first), four_times(second), 0xF0),
                                   _mm256_blend_epi32(four_times(first + row), four_times(second + row), 0xF0), weights,
                                   order);
    }

    void operator()(uint8_t* out, const uint8_t* in, int64_t row, const int32_t* offset,
                    const Weights8& weights) const {
        const __m256i early = rounded(two<0>(in, row, offset, weights), two<1>(in, row, offset, weights));
        const __m256i late = rounded(two<2>(in, row, offset, weights), two<3>(in, row, offset, weights));
        const __m256i sorted = _mm256_setr_epi8(0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15, 0, 2, 4, 6, 1, 3,
                                                5, 7, 8, 10, 12, 14, 9, 11, 13, 15);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out),
                            _mm256_shuffle_epi8(_mm256_packus_epi16(early, late), sorted));
    }
};

inline int16_t pair_at(const uint8_t* place) {
    int16_t pair;
    std::memcpy(&pair, place, 2);
    return pair;
}
// The two bytes from each of eight places on, as 16-bit numbers.
inline __m256i pairs8(const uint8_t* in, const int32_t* offset) {
    return _mm256_cvtepu8_epi16(_mm_setr_epi16(
        pair_at(in + offset[0]), pair_at(in + offset[1]), pair_at(in + offset[2]), pair_at(in + offset[3]),
        pair_at(in + offset[4]), pair_at(in + offset[5]), pair_at(in + offset[6]), pair_at(in + offset[7])));
}

struct BlendSingle {
    static constexpr int channels = 1;
    const __m256i order;  // swaps the 16-bit numbers of pairs, or leaves them
    explicit BlendSingle(bool backwards)
        : order(_mm256_broadcastsi128_si256(
              backwards ? _mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
                        : _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))) {}

    void operator()(uint8_t* out, const uint8_t* in, int64_t row, const int32_t* offset,
                    const Weights8& weights) const {
        const __m256i upper = _mm256_shuffle_epi8(pairs8(in, offset), order);
        const __m256i lower = _mm256_shuffle_epi8(pairs8(in + row, offset), order);
        const __m256i sums =
            _mm256_add_epi32(_mm256_madd_epi16(upper, weights.upper), _mm256_madd_epi16(lower, weights.lower));
        const __m256i whole = _mm256_srli_epi32(_mm256_add_epi32(sums, _mm256_set1_epi32(8192)), 14);
        const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_packus_epi16(words, words));
    }
};

template <int step, int channels>
using BlendEight =
    std::conditional_t<channels == 1, BlendSingle, std::conditional_t<channels == 4, BlendFour, BlendThree<step>>>;
#endif

template <int step, int channels>
inline void blend(uint8_t* out, const uint8_t* in, const Bounds& b, const Taps& taps, int from, int to) {
#if AVX2_CODE
    if (to - from >= 8) {
        const BlendEight<step, channels> eight(b.backwards);
        const int64_t row = b.row;
        for (int next = from; next < to; next += 8) {
            const int i = std::min(next, to - 8);  // the last eight may overlap the ones before, with the same results
            eight(out + i * channels, in, row, taps.offset + i, {get8(taps.upper + i), get8(taps.lower + i)});
        }
        return;
    }
#endif
    blend_plain<step, channels>(out, in, b, taps, from, to);
}

inline float mixed(float a, float b, float c, float d, float across, float down) {
    const float upper = a * (1 - across) + b * across, lower = c * (1 - across) + d * across;
    return upper + (lower - upper) * down;
}

template <int channels>
inline void blend_real(float* out, const uint8_t* in, const Bounds& b, const Taps& taps, int from, int to) {
    for (int i = from; i < to; ++i) {
        const auto* upper = reinterpret_cast<const float*>(in + taps.offset[i]);
        const auto* lower = reinterpret_cast<const float*>(in + taps.offset[i] + b.row);
        const int64_t right = taps.pixel;
        float* pixel = out + int64_t{i} * channels;
        for (int c = 0; c < channels; ++c) {
            pixel[c] = mixed(upper[c], upper[right + c], lower[c], lower[right + c], taps.across[i], taps.down[i]);
        }
    }
}

// As blend_real, for inner pixels: memory follows each of them, so a load of four floats makes all channels at once.
// The last pixel of three channels is stored without the fourth float, which would not belong to this row.
template <int channels>
inline void blend_real_inner(float* out, const uint8_t* in, const Bounds& b, const Taps& taps, int from, int to) {
#if AVX2_CODE
    const __m128 one = _mm_set1_ps(1.0f);
    for (int i = from; i < to; ++i) {
        const auto* upper = reinterpret_cast<const float*>(in + taps.offset[i]);
        const auto* lower = reinterpret_cast<const float*>(in + taps.offset[i] + b.row);
        const __m128 across = _mm_set1_ps(taps.across[i]), rest = _mm_sub_ps(one, across);
        const __m128 above =
            _mm_add_ps(_mm_mul_ps(_mm_loadu_ps(upper), rest), _mm_mul_ps(_mm_loadu_ps(upper + taps.pixel), across));
        const __m128 below =
            _mm_add_ps(_mm_mul_ps(_mm_loadu_ps(lower), rest), _mm_mul_ps(_mm_loadu_ps(lower + taps.pixel), across));
        const __m128 made = _mm_add_ps(above, _mm_mul_ps(_mm_sub_ps(below, above), _mm_set1_ps(taps.down[i])));
        float* pixel = out + int64_t{i} * channels;
        if (channels == 4 || i + 1 < to) {
            _mm_storeu_ps(pixel, made);
        } else {
            _mm_storel_pi(reinterpret_cast<__m64*>(pixel), made);
            _mm_store_ss(pixel + 2, _mm_movehl_ps(made, made));
        }
    }
#else
    blend_real<channels>(out, in, b, taps, from, to);
#endif
}
