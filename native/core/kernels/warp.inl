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

#if AVX2_CODE
inline __m256 next_coordinates8(float (*place)[WarpCoordinates::columns], int x, __m256 at, __m256 steps) {
    __m256 block[8];
    for (auto& column : block) {
        column = at;
        at = _mm256_add_ps(at, steps);
    }
    turn(block);
    for (int r = 0; r < 8; ++r) _mm256_store_ps(place[r] + x, block[r]);
    return at;
}
#endif

// All axes side by side: an addition has to wait for the one before it, not for those of another axis.
// Each vector holds one column of eight rows, so each row makes its additions in DALI's order and its sums have DALI's
// bits; the transposition afterwards moves them and computes nothing.
template <int axes>
inline void next_coordinates(float (*place)[WarpCoordinates::rows][WarpCoordinates::columns],
                             float (*here)[WarpCoordinates::rows], const float* step) {
#if AVX2_CODE
    __m256 at[axes], steps[axes];
    for (int a = 0; a < axes; ++a) {
        at[a] = _mm256_loadu_ps(here[a]);
        steps[a] = _mm256_set1_ps(step[a]);
    }
    for (int x = 0; x < WarpCoordinates::columns; x += 8) {
        for (int a = 0; a < axes; ++a) at[a] = next_coordinates8(place[a], x, at[a], steps[a]);
    }
    for (int a = 0; a < axes; ++a) _mm256_storeu_ps(here[a], at[a]);
#else
    for (int a = 0; a < axes; ++a) {
        for (int x = 0; x < WarpCoordinates::columns; ++x) {
            for (int r = 0; r < WarpCoordinates::rows; ++r) {
                place[a][r][x] = here[a][r];
                here[a][r] += step[a];
            }
        }
    }
#endif
}

inline int32_t floored(float x) {
    const auto whole = static_cast<int32_t>(x);
    return whole - (static_cast<float>(whole) > x ? 1 : 0);
}

// Bilinear weights in parts of 2^14. Only the product of both fractions is rounded, the others are what is left, so the
// four add up to exactly 2^14 and a constant image stays constant. None is negative.
inline void weigh(Taps& taps, int i, int32_t across, int32_t down) {
    const int32_t both = (across * down + 8192) >> 14, right = across - both;
    taps.upper[i] = (16384 - down - right) | right << 16;
    taps.lower[i] = (down - both) | both << 16;
}

inline void locate_plain(Taps& taps, const float* xs, const float* ys, const Bounds& b, int from, int to) {
    const auto limited = [](float v, float low, float high) {
        v = v > low ? v : low;  // this way round, not a number becomes `low`
        return v < high ? v : high;
    };
    taps.fast = taps.outside = 0;
    for (int i = from; i < to; ++i) {
        const float x = limited(xs[i] - b.center, b.low[0], b.high[0]),
                    y = limited(ys[i] - b.center, b.low[1], b.high[1]);
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
        weigh(taps, i, 8 * static_cast<int32_t>(taps.across[i] * 2048.0f + 0.5f),
              8 * static_cast<int32_t>(taps.down[i] * 2048.0f + 0.5f));
    }
}

#if AVX2_CODE
struct Weights8 {
    __m256i upper, lower;  // as in Taps
};

inline Weights8 weights8(__m256i across, __m256i down) {
    const __m256i product = _mm256_madd_epi16(across, down);  // both are below 32768
    const __m256i both = _mm256_srli_epi32(_mm256_add_epi32(product, _mm256_set1_epi32(8192)), 14);
    const __m256i right = _mm256_sub_epi32(across, both);
    const __m256i left = _mm256_sub_epi32(_mm256_sub_epi32(_mm256_set1_epi32(16384), down), right);
    return {_mm256_or_si256(left, _mm256_slli_epi32(right, 16)),
            _mm256_or_si256(_mm256_sub_epi32(down, both), _mm256_slli_epi32(both, 16))};
}

inline __m256i offsets8(__m256i ix, __m256i iy, const Bounds& b) {
    return _mm256_add_epi32(_mm256_mullo_epi32(iy, _mm256_set1_epi32(b.row)),
                            _mm256_mullo_epi32(ix, _mm256_set1_epi32(b.pixel)));
}

inline __m256i get8(const int32_t* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }
inline void put8(int32_t* to, __m256i numbers) { _mm256_store_si256(reinterpret_cast<__m256i*>(to), numbers); }

inline __m256 limited8(__m256 v, float low, float high) {
    return _mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(low)), _mm256_set1_ps(high));
}
inline __m256i beyond8(__m256i v, int32_t low, int32_t high) {
    return _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(low), v),
                           _mm256_cmpgt_epi32(v, _mm256_set1_epi32(high)));
}
inline uint32_t bits8(__m256i mask) { return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(mask))); }
inline __m256i share8(__m256 rest) {
    const __m256 near = _mm256_add_ps(_mm256_mul_ps(rest, _mm256_set1_ps(2048.0f)), _mm256_set1_ps(0.5f));
    return _mm256_slli_epi32(_mm256_cvttps_epi32(near), 3);
}

// Returns the bits of eight pixels: the fast ones, and above them the outside ones. Coordinates are clamped as floats
// first: after that the conversion to int cannot overflow, and max before min turns NaN into `low`, as the plain code
// does.
inline uint32_t locate8(Taps& taps, int i, __m256 x, __m256 y, const Bounds& b) {
    x = limited8(x, b.low[0], b.high[0]);
    y = limited8(y, b.low[1], b.high[1]);
    const __m256i ix = _mm256_min_epi32(_mm256_cvttps_epi32(_mm256_floor_ps(x)), _mm256_set1_epi32(b.last[0]));
    const __m256i iy = _mm256_min_epi32(_mm256_cvttps_epi32(_mm256_floor_ps(y)), _mm256_set1_epi32(b.last[1]));
    put8(taps.x + i, ix);
    put8(taps.y + i, iy);
    put8(taps.offset + i, offsets8(ix, iy, b));
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
    const Weights8 weights = weights8(share8(across), share8(down));
    put8(taps.upper + i, weights.upper);
    put8(taps.lower + i, weights.lower);
    return bits;
}
#endif

inline void locate(Taps& taps, const float* xs, const float* ys, const Bounds& b, int from, int to) {
#if AVX2_CODE
    const __m256 center = _mm256_set1_ps(b.center);
    uint64_t fast = 0, outside = 0;
    for (int i = from / 8 * 8; i < to; i += 8) {
        const __m256 x = _mm256_sub_ps(_mm256_load_ps(xs + i), center),
                     y = _mm256_sub_ps(_mm256_load_ps(ys + i), center);
        const uint64_t bits = locate8(taps, i, x, y, b);
        fast |= (bits & 0xff) << i;
        outside |= (bits >> 8) << i;
    }
    taps.fast = fast;
    taps.outside = outside;
#else
    locate_plain(taps, xs, ys, b, from, to);
#endif
}

// For pixels whose taps are known to lie inside the image, so that nothing is clamped or classified.
inline void locate_inner(Taps& taps, const float* xs, const float* ys, const Bounds& b, int from, int to) {
#if AVX2_CODE
    const __m256 center = _mm256_set1_ps(b.center);
    for (int i = from / 8 * 8; i < to; i += 8) {
        const __m256 x = _mm256_sub_ps(_mm256_load_ps(xs + i), center),
                     y = _mm256_sub_ps(_mm256_load_ps(ys + i), center);
        const __m256i ix = _mm256_cvttps_epi32(x), iy = _mm256_cvttps_epi32(y);
        put8(taps.offset + i, offsets8(ix, iy, b));
        if (b.weighing == Weighing::none) continue;
        _mm256_store_ps(taps.across + i, _mm256_sub_ps(x, _mm256_cvtepi32_ps(ix)));
        _mm256_store_ps(taps.down + i, _mm256_sub_ps(y, _mm256_cvtepi32_ps(iy)));
    }
#else
    for (int i = from; i < to; ++i) {
        const float x = xs[i] - b.center, y = ys[i] - b.center;
        const auto ix = static_cast<int32_t>(x), iy = static_cast<int32_t>(y);
        taps.offset[i] = iy * b.row + ix * b.pixel;
        taps.across[i] = x - static_cast<float>(ix);
        taps.down[i] = y - static_cast<float>(iy);
    }
#endif
}

#if AVX2_CODE
inline __m256i fine8(const float* places) {
    const __m256 scaled = _mm256_mul_ps(_mm256_load_ps(places), _mm256_set1_ps(4096.0f));
    return _mm256_sub_epi32(_mm256_cvttps_epi32(scaled), _mm256_set1_epi32(2047));
}

// The fractions of sixteen positions, 16384 being 1, in the order that unpacking needs.
inline __m256i shares16(__m256i one, __m256i other) {
    const __m256i mask = _mm256_set1_epi32(0xffe);
    const __m256i both = _mm256_packs_epi32(_mm256_and_si256(one, mask), _mm256_and_si256(other, mask));
    return _mm256_slli_epi16(both, 2);
}
#endif

// Inner pixels of bytes. Positions are counted in steps of 1/4096, the last bit of which rounds: fractions are
// multiples of 1/2048, and a fraction that rounds to 1 becomes 0 of the next pixel. Scaling by 4096 is exact, so no
// float is rounded on the way. mulhrs of (2 * across, down) is the rounded product of `weigh`.
inline void locate_inner_bytes(Taps& taps, const float* xs, const float* ys, const Bounds& b, int from, int to) {
#if AVX2_CODE
    for (int i = from / 16 * 16; i < to; i += 16) {
        __m256i x[2], y[2];
        for (int k = 0; k < 2; ++k) {
            x[k] = fine8(xs + i + 8 * k);
            y[k] = fine8(ys + i + 8 * k);
            put8(taps.offset + i + 8 * k, offsets8(_mm256_srai_epi32(x[k], 12), _mm256_srai_epi32(y[k], 12), b));
        }
        const __m256i across = shares16(x[0], x[1]), down = shares16(y[0], y[1]);
        const __m256i both = _mm256_mulhrs_epi16(_mm256_add_epi16(across, across), down);
        const __m256i right = _mm256_sub_epi16(across, both), lower_left = _mm256_sub_epi16(down, both);
        const __m256i left = _mm256_sub_epi16(_mm256_sub_epi16(_mm256_set1_epi16(16384), down), right);
        put8(taps.upper + i, _mm256_unpacklo_epi16(left, right));
        put8(taps.upper + i + 8, _mm256_unpackhi_epi16(left, right));
        put8(taps.lower + i, _mm256_unpacklo_epi16(lower_left, both));
        put8(taps.lower + i + 8, _mm256_unpackhi_epi16(lower_left, both));
    }
#else
    for (int i = from; i < to; ++i) {
        const int32_t x = static_cast<int32_t>(xs[i] * 4096.0f) - 2047,
                      y = static_cast<int32_t>(ys[i] * 4096.0f) - 2047;
        taps.offset[i] = (y >> 12) * b.row + (x >> 12) * b.pixel;
        weigh(taps, i, (x & 0xffe) << 2, (y & 0xffe) << 2);
    }
#endif
}

#include "warp_blend.inl"

constexpr WarpPasses passes = {next_coordinates<2>, next_coordinates<3>, locate,        locate_inner,
                               locate_inner_bytes,  blend<1, 1>,         blend<3, 3>,   blend<4, 3>,
                               blend<4, 4>,         blend_real<1>,       blend_real<3>, blend_real<4>,
                               blend_real_inner<3>, blend_real_inner<4>};
