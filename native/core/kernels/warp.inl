// Included once per SIMD level; AVX2_CODE says which. Every level makes the same additions and the same integer sums.

#if AVX2_CODE
// Turns eight rows of eight floats into columns.
inline void turn(__m256 (&v)[8]) {
    __m256 a[8], b[8];
    for (int i = 0; i < 8; i += 2) {
        a[i] = _mm256_unpacklo_ps(v[i], v[i + 1]);
        a[i + 1] = _mm256_unpackhi_ps(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        b[i] = _mm256_shuffle_ps(a[i], a[i + 2], 0x44);
        b[i + 1] = _mm256_shuffle_ps(a[i], a[i + 2], 0xEE);
        b[i + 2] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0x44);
        b[i + 3] = _mm256_shuffle_ps(a[i + 1], a[i + 3], 0xEE);
    }
    for (int i = 0; i < 4; ++i) {
        v[i] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x20);
        v[i + 4] = _mm256_permute2f128_ps(b[i], b[i + 4], 0x31);
    }
}
#endif

inline void walk(float (*place)[WarpWalk::columns], float* here, float step) {
#if AVX2_CODE
    __m256 at = _mm256_loadu_ps(here);
    const __m256 steps = _mm256_set1_ps(step);
    for (int x = 0; x < WarpWalk::columns; x += 8) {
        __m256 block[8];
        for (auto& column : block) {
            column = at;
            at = _mm256_add_ps(at, steps);
        }
        turn(block);
        for (int r = 0; r < 8; ++r) _mm256_storeu_ps(place[r] + x, block[r]);
    }
    _mm256_storeu_ps(here, at);
#else
    for (int x = 0; x < WarpWalk::columns; ++x) {
        for (int r = 0; r < WarpWalk::rows; ++r) {
            place[r][x] = here[r];
            here[r] += step;
        }
    }
#endif
}

inline int32_t floored(float x) {
    const auto whole = static_cast<int32_t>(x);
    return whole - (static_cast<float>(whole) > x ? 1 : 0);
}

inline void locate_plain(Taps& taps, const float* xs, const float* ys, const Bounds& b) {
    const auto limited = [](float v, float low, float high) {
        v = v > low ? v : low;  // this way round, not a number becomes `low`
        return v < high ? v : high;
    };
    taps.fast = taps.outside = 0;
    for (int i = 0; i < WarpWalk::columns; ++i) {
        const float x = limited(xs[i] - b.centre, b.low[0], b.high[0]),
                    y = limited(ys[i] - b.centre, b.low[1], b.high[1]);
        const int32_t ix = std::min(floored(x), b.last[0]), iy = std::min(floored(y), b.last[1]);
        taps.x[i] = ix;
        taps.y[i] = iy;
        taps.offset[i] = iy * b.row + ix * b.pixel;
        const bool inside = ix >= 0 && ix <= b.inside[0] && iy >= 0 && iy <= b.inside[1];
        const bool risky = ix == b.risky[0] && iy == b.risky[1];
        const bool outside = ix < b.near || ix > b.far[0] || iy < b.near || iy > b.far[1];
        taps.fast |= uint64_t{inside && !risky} << i;
        taps.outside |= uint64_t{outside} << i;
        if (b.weighing == Weighing::none) continue;
        taps.across[i] = x - static_cast<float>(ix);
        taps.down[i] = y - static_cast<float>(iy);
        if (b.weighing == Weighing::real) continue;
        const auto wx = static_cast<int32_t>(taps.across[i] * 2048.0f + 0.5f);
        const auto wy = static_cast<int32_t>(taps.down[i] * 2048.0f + 0.5f);
        const int32_t both = (wx * wy + 128) >> 8, right = b.backwards ? 0 : 1;
        int16_t* weight = taps.weight + 4 * i;
        weight[1 - right] = static_cast<int16_t>(16384 - 8 * wx - 8 * wy + both);
        weight[right] = static_cast<int16_t>(8 * wx - both);
        weight[3 - right] = static_cast<int16_t>(8 * wy - both);
        weight[2 + right] = static_cast<int16_t>(both);
    }
}

#if AVX2_CODE
inline void weigh8(int16_t* weight, __m256i wx, __m256i wy, bool backwards) {
    const __m256i both = _mm256_srli_epi32(_mm256_add_epi32(_mm256_mullo_epi32(wx, wy), _mm256_set1_epi32(128)), 8);
    const __m256i across = _mm256_slli_epi32(wx, 3), down = _mm256_slli_epi32(wy, 3);
    const __m256i second = _mm256_sub_epi32(across, both), third = _mm256_sub_epi32(down, both);
    const __m256i first = _mm256_sub_epi32(_mm256_sub_epi32(_mm256_set1_epi32(16384), across), third);
    const __m256i upper =
        _mm256_or_si256(backwards ? second : first, _mm256_slli_epi32(backwards ? first : second, 16));
    const __m256i lower = _mm256_or_si256(backwards ? both : third, _mm256_slli_epi32(backwards ? third : both, 16));
    const __m256i even = _mm256_unpacklo_epi32(upper, lower), odd = _mm256_unpackhi_epi32(upper, lower);
    auto* to = reinterpret_cast<__m256i*>(weight);
    _mm256_store_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
    _mm256_store_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
}
#endif

#if AVX2_CODE
inline __m256 limited8(__m256 v, float low, float high) {
    return _mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(low)), _mm256_set1_ps(high));
}
inline __m256i beyond8(__m256i v, int32_t low, int32_t high) {
    return _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(low), v),
                           _mm256_cmpgt_epi32(v, _mm256_set1_epi32(high)));
}
inline uint32_t bits8(__m256i mask) { return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask))); }
inline __m256i share8(__m256 rest) {
    return _mm256_cvttps_epi32(_mm256_add_ps(_mm256_mul_ps(rest, _mm256_set1_ps(2048.0f)), _mm256_set1_ps(0.5f)));
}

// Gives the bits of eight pixels: fast ones, and above them outside ones.
inline uint32_t locate8(Taps& taps, int i, __m256 x, __m256 y, const Bounds& b) {
    x = limited8(x, b.low[0], b.high[0]);
    y = limited8(y, b.low[1], b.high[1]);
    const __m256i ix = _mm256_min_epi32(_mm256_cvttps_epi32(_mm256_floor_ps(x)), _mm256_set1_epi32(b.last[0]));
    const __m256i iy = _mm256_min_epi32(_mm256_cvttps_epi32(_mm256_floor_ps(y)), _mm256_set1_epi32(b.last[1]));
    _mm256_store_si256(reinterpret_cast<__m256i*>(taps.x + i), ix);
    _mm256_store_si256(reinterpret_cast<__m256i*>(taps.y + i), iy);
    const __m256i row = _mm256_mullo_epi32(iy, _mm256_set1_epi32(b.row));
    const __m256i column = _mm256_mullo_epi32(ix, _mm256_set1_epi32(b.pixel));
    _mm256_store_si256(reinterpret_cast<__m256i*>(taps.offset + i), _mm256_add_epi32(row, column));
    const __m256i risky = _mm256_and_si256(_mm256_cmpeq_epi32(ix, _mm256_set1_epi32(b.risky[0])),
                                           _mm256_cmpeq_epi32(iy, _mm256_set1_epi32(b.risky[1])));
    const __m256i leaves = _mm256_or_si256(beyond8(ix, 0, b.inside[0]), beyond8(iy, 0, b.inside[1]));
    const __m256i lost = _mm256_or_si256(beyond8(ix, b.near, b.far[0]), beyond8(iy, b.near, b.far[1]));
    const uint32_t bits = (bits8(_mm256_or_si256(risky, leaves)) ^ 0xff) | bits8(lost) << 8;
    if (b.weighing == Weighing::none) return bits;
    const __m256 across = _mm256_sub_ps(x, _mm256_cvtepi32_ps(ix)), down = _mm256_sub_ps(y, _mm256_cvtepi32_ps(iy));
    if (b.weighing == Weighing::real) {
        _mm256_store_ps(taps.across + i, across);
        _mm256_store_ps(taps.down + i, down);
        return bits;
    }
    weigh8(taps.weight + 4 * i, share8(across), share8(down), b.backwards);
    return bits;
}
#endif

inline void locate(Taps& taps, const float* xs, const float* ys, const Bounds& b) {
#if AVX2_CODE
    const __m256 centre = _mm256_set1_ps(b.centre);
    uint64_t fast = 0, outside = 0;
    for (int i = 0; i < WarpWalk::columns; i += 8) {
        const __m256 x = _mm256_sub_ps(_mm256_load_ps(xs + i), centre),
                     y = _mm256_sub_ps(_mm256_load_ps(ys + i), centre);
        const uint64_t bits = locate8(taps, i, x, y, b);
        fast |= (bits & 0xff) << i;
        outside |= (bits >> 8) << i;
    }
    taps.fast = fast;
    taps.outside = outside;
#else
    locate_plain(taps, xs, ys, b);
#endif
}

template <int step, int channels>
inline void blend_plain(uint8_t* out, const uint8_t* in, int64_t row, const Taps& taps, int from, int to) {
    for (int i = from; i < to; ++i) {
        const uint8_t *upper = in + taps.offset[i], *lower = upper + row;
        const int16_t* w = taps.weight + 4 * i;
        for (int c = 0; c < channels; ++c) {
            const int32_t sum = upper[c] * w[0] + upper[c + step] * w[1] + lower[c] * w[2] + lower[c + step] * w[3];
            out[i * channels + c] = static_cast<uint8_t>((sum + 8192) >> 14);
        }
    }
}

#if AVX2_CODE
// The four taps of each channel side by side, as 16-bit numbers, times their weights, added in pairs.
template <int step>
inline __m256i products(const uint8_t* in, int64_t row, const Taps& taps, int i, __m128i order) {
    const uint8_t* at = in + taps.offset[i];
    const __m128i upper = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
    const __m128i lower = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at + row));
    const __m256i pixels = _mm256_cvtepu8_epi16(_mm_shuffle_epi8(_mm_unpacklo_epi64(upper, lower), order));
    int64_t weights;
    std::memcpy(&weights, taps.weight + 4 * i, 8);
    return _mm256_madd_epi16(pixels, _mm256_set1_epi64x(weights));
}

template <int step, int channels>
inline void blend_pixels(uint8_t* out, const uint8_t* in, int64_t row, const Taps& taps, int from, int to) {
    constexpr char s = step, none = -1, r = channels == 4 ? 3 : none;
    const __m128i order = _mm_setr_epi8(0, s, 8, 8 + s, 1, 1 + s, 9, 9 + s, 2, 2 + s, 10, 10 + s, r,
                                        r < 0 ? none : r + s, r < 0 ? none : r + 8, r < 0 ? none : r + 8 + s);
    const __m128i pack = channels == 4 ? _mm_setr_epi8(0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15)
                                       : _mm_setr_epi8(0, 1, 8, 2, 3, 10, 4, 5, 12, 6, 7, 14, -1, -1, -1, -1);
    const __m256i half = _mm256_set1_epi32(8192);
    int i = from;
    for (; i + 4 <= to; i += 4) {
        __m256i sums[2];
        for (int p = 0; p < 2; ++p) {
            const __m256i one = products<step>(in, row, taps, i + 2 * p, order);
            const __m256i other = products<step>(in, row, taps, i + 2 * p + 1, order);
            sums[p] = _mm256_srai_epi32(_mm256_add_epi32(_mm256_hadd_epi32(one, other), half), 14);
        }
        const __m256i words = _mm256_packs_epi32(sums[0], sums[1]);
        const __m256i bytes = _mm256_packus_epi16(words, words);
        const __m128i joined = _mm_unpacklo_epi64(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
        const __m128i pixels = _mm_shuffle_epi8(joined, pack);
        uint8_t* to_here = out + i * channels;
        if constexpr (channels == 4) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to_here), pixels);
        } else {
            _mm_storel_epi64(reinterpret_cast<__m128i*>(to_here), pixels);
            const int32_t rest = _mm_extract_epi32(pixels, 2);
            std::memcpy(to_here + 8, &rest, 4);
        }
    }
    blend_plain<step, channels>(out, in, row, taps, i, to);
}

inline void blend_single(uint8_t* out, const uint8_t* in, int64_t row, const Taps& taps, int from, int to) {
    const __m256i half = _mm256_set1_epi32(8192);
    int i = from;
    for (; i + 8 <= to; i += 8) {
        alignas(16) uint16_t near[16];
        for (int k = 0; k < 8; ++k) {
            const uint8_t* at = in + taps.offset[i + k];
            std::memcpy(near + 2 * k, at, 2);
            std::memcpy(near + 2 * k + 1, at + row, 2);
        }
        __m256i sums[2];
        for (int p = 0; p < 2; ++p) {
            const __m256i pixels = _mm256_cvtepu8_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(near) + p));
            const auto* weights = reinterpret_cast<const __m256i*>(taps.weight + 4 * (i + 4 * p));
            sums[p] = _mm256_madd_epi16(pixels, _mm256_loadu_si256(weights));
        }
        // Pixels 0 1 4 5 | 2 3 6 7
        const __m256i all = _mm256_srai_epi32(_mm256_add_epi32(_mm256_hadd_epi32(sums[0], sums[1]), half), 14);
        const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
        const __m128i sorted = _mm_shuffle_epi32(words, 0xD8);
        _mm_storel_epi64(reinterpret_cast<__m128i*>(out + i), _mm_packus_epi16(sorted, sorted));
    }
    blend_plain<1, 1>(out, in, row, taps, i, to);
}
#endif

template <int step, int channels>
inline void blend(uint8_t* out, const uint8_t* in, int64_t row, const Taps& taps, int from, int to) {
#if AVX2_CODE
    if constexpr (channels == 1) {
        blend_single(out, in, row, taps, from, to);
    } else {
        blend_pixels<step, channels>(out, in, row, taps, from, to);
    }
#else
    blend_plain<step, channels>(out, in, row, taps, from, to);
#endif
}

inline float mixed(float a, float b, float c, float d, float across, float down) {
    const float upper = a * (1 - across) + b * across, lower = c * (1 - across) + d * across;
    return upper + (lower - upper) * down;
}

template <int channels>
inline void blend_real(float* out, const uint8_t* in, int64_t row, const Taps& taps, int from, int to) {
    for (int i = from; i < to; ++i) {
        const auto* upper = reinterpret_cast<const float*>(in + taps.offset[i]);
        const auto* lower = reinterpret_cast<const float*>(in + taps.offset[i] + row);
        const int64_t right = taps.pixel;
        float* pixel = out + int64_t{i} * channels;
        for (int c = 0; c < channels; ++c) {
            pixel[c] = mixed(upper[c], upper[right + c], lower[c], lower[right + c], taps.across[i], taps.down[i]);
        }
    }
}

constexpr WarpPasses passes = {walk,        locate,        blend<1, 1>,   blend<3, 3>,  blend<4, 3>,
                               blend<4, 4>, blend_real<1>, blend_real<3>, blend_real<4>};
