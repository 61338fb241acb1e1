// The JPEG encoder's kernels for AVX2.
#include "jpeg_encode_kernels.h"

#if PIXELMILL_AVX2

#include <algorithm>
#include <bit>
#include <cstring>

#include "jpeg_zigzag.h"

BEGIN_AVX2_CODE

namespace pixelmill {

namespace {

#include "jpeg_entropy_writer.inl"

inline __m256i load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }
inline void store(void* to, __m256i values) { _mm256_store_si256(static_cast<__m256i*>(to), values); }

// Bytes `low` in the lower half, bytes `high` in the upper.
inline __m256i load_halves(const uint8_t* low, const uint8_t* high) {
    const auto* first = reinterpret_cast<const __m128i*>(low);
    const auto* second = reinterpret_cast<const __m128i*>(high);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(first)), _mm_loadu_si128(second), 1);
}

// Pairs of factors for the instruction that adds two products.
inline __m256i factors(int low, int high) {
    return _mm256_set1_epi32(
        static_cast<int>((static_cast<uint32_t>(high) << 16) | (static_cast<uint32_t>(low) & 0xFFFF)));
}

// Which bytes of a lane, with pixels from byte `first` on, become the words of four pixels: one channel in the lower
// word, and another or nothing in the upper.
struct Pick {
    alignas(32) std::array<int8_t, 32> bytes{};

    constexpr Pick(int pixel, int first, int lower, int upper) {
        for (int i = 0; i < 32; ++i) {
            const int at = first + i % 16 / 4 * pixel, none = -128;
            const int wanted[4] = {at + lower, none, upper < 0 ? none : at + upper, none};
            bytes[static_cast<size_t>(i)] = static_cast<int8_t>(wanted[i % 4]);
        }
    }

    __m256i of(__m256i pixels) const { return _mm256_shuffle_epi8(pixels, load(bytes.data())); }
};

// Words of sixteen pixels. The sums of Cb and Cr are negative, so that the factors fit into words, and what is kept of
// them are complements: ~x is -x - 1.
struct Sixteen {
    __m256i y, not_cb, not_cr;
};

template <int pixel>
struct Eight {
    __m256i red_green, blue_unit;
    static constexpr int unit = 256;  // what constants are multiples of

    Eight(__m256i pixels, const Pick& pick_red_green, const Pick& pick_blue)
        : red_green(pick_red_green.of(pixels)),
          blue_unit(_mm256_or_si256(pick_blue.of(pixels), _mm256_set1_epi32(unit << 16))) {}

    __m256i sum(__m256i first, __m256i second) const {
        return _mm256_add_epi32(_mm256_madd_epi16(red_green, first), _mm256_madd_epi16(blue_unit, second));
    }

    // The factor of green is too large for a word: red + 65536 * green is added, which is the register itself.
    __m256i y() const {
        using C = JpegColorWeights;
        constexpr int constant = (C::half - (128 << C::point)) / unit;
        const __m256i rest = sum(factors(C::y_red - 1, C::y_green - 65536), factors(C::y_blue, constant));
        return _mm256_srai_epi32(_mm256_add_epi32(rest, red_green), C::point);
    }
    __m256i not_cb() const {
        using C = JpegColorWeights;
        return _mm256_srai_epi32(sum(factors(C::cb_red, C::cb_green), factors(-C::half, -C::half / unit)), C::point);
    }
    __m256i not_cr() const {
        using C = JpegColorWeights;
        return _mm256_srai_epi32(sum(factors(-C::half, C::cr_green), factors(C::cr_blue, -C::half / unit)), C::point);
    }
};

// Reads nothing after the last color, not even a fourth byte.
template <int pixel>
inline Sixteen convert(const uint8_t* at) {
    constexpr int second = pixel == 3 ? 4 : 1;  // where pixels start in the second register
    static constexpr Pick red_green(pixel, 0, 0, 1), blue(pixel, 0, 2, -1);
    static constexpr Pick red_green_second(pixel, second, 0, 1), blue_second(pixel, second, 2, -1);
    const Eight<pixel> a(load_halves(at, at + 8 * pixel), red_green, blue);
    const Eight<pixel> b(load_halves(at + 4 * pixel - second, at + 12 * pixel - second), red_green_second, blue_second);
    return {_mm256_packs_epi32(a.y(), b.y()), _mm256_packs_epi32(a.not_cb(), b.not_cb()),
            _mm256_packs_epi32(a.not_cr(), b.not_cr())};
}

void gray(JpegPair* luma, const uint8_t* const* rows, int count, int columns) {
    for (int x = 0; x < columns; x += jpeg_pair_row, ++luma) {
        for (int y = 0; y < count; ++y) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[y] + x));
            store(luma->rows[y], _mm256_sub_epi16(_mm256_cvtepu8_epi16(bytes), _mm256_set1_epi16(128)));
        }
    }
}

template <int pixel>
void full(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns) {
    const __m256i ones = _mm256_set1_epi16(-1);
    for (int i = 0; i < columns / jpeg_pair_row; ++i) {
        for (int y = 0; y < count; ++y) {
            const Sixteen made = convert<pixel>(rows[y] + i * jpeg_pair_row * pixel);
            store(planes.luma[i].rows[y], made.y);
            store(planes.blue[i].rows[y], _mm256_xor_si256(made.not_cb, ones));
            store(planes.red[i].rows[y], _mm256_xor_si256(made.not_cr, ones));
        }
    }
}

// Averages of 2^shift samples each, from the complements of 32 columns whose rows have been added. Rounding is larger
// by one for every second column.
template <int shift>
inline __m256i averages(__m256i left, __m256i right) {
    const __m256i ones = _mm256_set1_epi16(1);
    const __m256i mixed = _mm256_packs_epi32(_mm256_madd_epi16(left, ones), _mm256_madd_epi16(right, ones));
    const __m256i sums = _mm256_permute4x64_epi64(mixed, 0b11'01'10'00);
    constexpr int rounding = shift - 1, complements = 1 << shift;
    const __m256i constants = factors(rounding - complements, rounding + 1 - complements);
    return _mm256_srai_epi16(_mm256_sub_epi16(constants, sums), shift);
}

template <int pixel>
void half(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns) {
    for (int i = 0; i < columns / (2 * jpeg_pair_row); ++i) {
        for (int y = 0; y < count; ++y) {
            const uint8_t* at = rows[y] + i * 2 * jpeg_pair_row * pixel;
            const Sixteen left = convert<pixel>(at), right = convert<pixel>(at + jpeg_pair_row * pixel);
            store(planes.luma[2 * i].rows[y], left.y);
            store(planes.luma[2 * i + 1].rows[y], right.y);
            store(planes.blue[i].rows[y], averages<1>(left.not_cb, right.not_cb));
            store(planes.red[i].rows[y], averages<1>(left.not_cr, right.not_cr));
        }
    }
}

// Stores the luma of two rows and returns the sums of their chroma.
template <int pixel>
inline Sixteen two_rows(JpegPair& luma, int y, const uint8_t* upper, const uint8_t* lower) {
    const Sixteen a = convert<pixel>(upper), b = convert<pixel>(lower);
    store(luma.rows[y], a.y);
    store(luma.rows[y + 1], b.y);
    return {a.y, _mm256_add_epi16(a.not_cb, b.not_cb), _mm256_add_epi16(a.not_cr, b.not_cr)};
}

template <int pixel>
void quarter(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns) {
    for (int i = 0; i < columns / (2 * jpeg_pair_row); ++i) {
        const int x = i * 2 * jpeg_pair_row * pixel, middle = x + jpeg_pair_row * pixel;
        for (int y = 0; y < count; y += 2) {
            JpegPair* const luma = (y < 8 ? planes.luma : planes.lower_luma) + 2 * i;
            const Sixteen left = two_rows<pixel>(luma[0], y % 8, rows[y] + x, rows[y + 1] + x);
            const Sixteen right = two_rows<pixel>(luma[1], y % 8, rows[y] + middle, rows[y + 1] + middle);
            store(planes.blue[i].rows[y / 2], averages<2>(left.not_cb, right.not_cb));
            store(planes.red[i].rows[y / 2], averages<2>(left.not_cr, right.not_cr));
        }
    }
}

template <int pixel>
void color_of(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns,
              ChromaSampling sampling) {
    switch (sampling) {
        case ChromaSampling::full: return full<pixel>(planes, rows, count, columns);
        case ChromaSampling::half: return half<pixel>(planes, rows, count, columns);
        case ChromaSampling::quarter: return quarter<pixel>(planes, rows, count, columns);
    }
}

void color(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns, int pixel,
           ChromaSampling sampling) {
    return pixel == 3 ? color_of<3>(planes, rows, count, columns, sampling)
                      : color_of<4>(planes, rows, count, columns, sampling);
}

using Rows = __m256i[8];

// Both blocks are turned about their diagonals.
inline void transpose(Rows& rows) {
    Rows pairs, fours;
    for (int i = 0; i < 4; ++i) {
        pairs[2 * i] = _mm256_unpacklo_epi16(rows[2 * i], rows[2 * i + 1]);
        pairs[2 * i + 1] = _mm256_unpackhi_epi16(rows[2 * i], rows[2 * i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        for (int j = 0; j < 2; ++j) {
            fours[i + 2 * j] = _mm256_unpacklo_epi32(pairs[i + j], pairs[i + 2 + j]);
            fours[i + 2 * j + 1] = _mm256_unpackhi_epi32(pairs[i + j], pairs[i + 2 + j]);
        }
    }
    for (int i = 0; i < 4; ++i) {
        rows[2 * i] = _mm256_unpacklo_epi64(fours[i], fours[4 + i]);
        rows[2 * i + 1] = _mm256_unpackhi_epi64(fours[i], fours[4 + i]);
    }
}

// Words of two registers side by side, for the instruction that adds two products.
struct Beside {
    __m256i low, high;

    Beside(__m256i first, __m256i second)
        : low(_mm256_unpacklo_epi16(first, second)), high(_mm256_unpackhi_epi16(first, second)) {}
};

// One dimension of the DCT, down all columns. The first keeps two fraction bits, which the second removes.
template <bool second>
struct Dimension {
    using C = JpegCosines;
    static constexpr int shift = second ? C::point + C::kept : C::point - C::kept;

    static __m256i plain(__m256i sum) {
        if (!second) return _mm256_slli_epi16(sum, C::kept);
        return _mm256_srai_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(1 << (C::kept - 1))), C::kept);
    }

    static __m256i rounded(__m256i sum) {
        return _mm256_srai_epi32(_mm256_add_epi32(sum, _mm256_set1_epi32(1 << (shift - 1))), shift);
    }

    static __m256i products(const Beside& values, const int16_t (&by)[2]) {
        const __m256i pair = factors(by[0], by[1]);
        return _mm256_packs_epi32(rounded(_mm256_madd_epi16(values.low, pair)),
                                  rounded(_mm256_madd_epi16(values.high, pair)));
    }

    static __m256i products(const Beside& first, const Beside& last, const int16_t (&by)[4]) {
        const __m256i a = factors(by[0], by[1]), b = factors(by[2], by[3]);
        const __m256i low = _mm256_add_epi32(_mm256_madd_epi16(first.low, a), _mm256_madd_epi16(last.low, b));
        const __m256i high = _mm256_add_epi32(_mm256_madd_epi16(first.high, a), _mm256_madd_epi16(last.high, b));
        return _mm256_packs_epi32(rounded(low), rounded(high));
    }

    static void transform(Rows& rows) {
        __m256i sums[4], differences[4];
        for (int i = 0; i < 4; ++i) {
            sums[i] = _mm256_add_epi16(rows[i], rows[7 - i]);
            differences[i] = _mm256_sub_epi16(rows[i], rows[7 - i]);
        }
        const __m256i outer = _mm256_add_epi16(sums[0], sums[3]), inner = _mm256_add_epi16(sums[1], sums[2]);
        const Beside even(_mm256_sub_epi16(sums[0], sums[3]), _mm256_sub_epi16(sums[1], sums[2]));
        const Beside first(differences[0], differences[1]), last(differences[2], differences[3]);
        rows[0] = plain(_mm256_add_epi16(outer, inner));
        rows[4] = plain(_mm256_sub_epi16(outer, inner));
        rows[2] = products(even, C::even2);
        rows[6] = products(even, C::even6);
        rows[1] = products(first, last, C::odd1);
        rows[3] = products(first, last, C::odd3);
        rows[5] = products(first, last, C::odd5);
        rows[7] = products(first, last, C::odd7);
    }
};

inline __m256i quantize(__m256i values, const JpegQuantizer& by, size_t row) {
    const __m256i sums = _mm256_add_epi16(_mm256_abs_epi16(values), load(by.half[row].values));
    const __m256i high = _mm256_mulhi_epu16(sums, load(by.reciprocal[row].values));
    return _mm256_sign_epi16(_mm256_mulhi_epu16(high, load(by.scale[row].values)), values);
}

// For each quarter of the stream and each two rows of a block, as bytes: which of them goes where in the quarter.
struct StreamPicks {
    alignas(32) int8_t bytes[4][4][32];
    bool any[4][4];
};
constexpr StreamPicks stream_picks = [] {
    StreamPicks made{};
    for (auto& quarter : made.bytes) {
        for (auto& rows : quarter) {
            for (int8_t& place : rows) place = -128;
        }
    }
    for (size_t k = 0; k < 64; ++k) {
        const size_t rows = zigzag[k] / 16;
        made.any[k / 16][rows] = true;
        for (size_t lane = 0; lane < 32; lane += 16)
            made.bytes[k / 16][rows][lane + k % 16] = static_cast<int8_t>(zigzag[k] % 16);
    }
    return made;
}();

// A byte of ones for each coefficient of a quarter that is zero.
template <size_t quarter>
inline __m256i zeros_of_quarter(const __m256i (&bytes)[4]) {
    __m256i stream = _mm256_setzero_si256();
    for (size_t rows = 0; rows < 4; ++rows) {
        if (!stream_picks.any[quarter][rows]) continue;
        const __m256i pick = load(stream_picks.bytes[quarter][rows]);
        stream = _mm256_or_si256(stream, _mm256_shuffle_epi8(bytes[rows], pick));
    }
    return _mm256_cmpeq_epi8(stream, _mm256_setzero_si256());
}

inline uint64_t bits_of(__m256i lower, __m256i upper) {
    const auto low = static_cast<uint32_t>(_mm256_movemask_epi8(lower));
    const auto high = static_cast<uint32_t>(_mm256_movemask_epi8(upper));
    return low | uint64_t{high} << 32;
}

inline void find_nonzero(uint64_t (&nonzero)[2], const Rows& rows) {
    __m256i bytes[4];
    for (int i = 0; i < 4; ++i) bytes[i] = _mm256_packs_epi16(rows[2 * i], rows[2 * i + 1]);
    const __m256i a = zeros_of_quarter<0>(bytes), b = zeros_of_quarter<1>(bytes);
    const __m256i c = zeros_of_quarter<2>(bytes), d = zeros_of_quarter<3>(bytes);
    nonzero[0] = ~bits_of(_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(c, d, 0x20));
    nonzero[1] = ~bits_of(_mm256_permute2x128_si256(a, b, 0x31), _mm256_permute2x128_si256(c, d, 0x31));
}

void transform(JpegPair* pairs, uint64_t (*nonzero)[2], int count, const JpegQuantizer& quantizer) {
    for (int i = 0; i < count; ++i) {
        Rows rows;
        for (int y = 0; y < 8; ++y) rows[y] = load(pairs[i].rows[y]);
        transpose(rows);
        Dimension<false>::transform(rows);
        transpose(rows);
        Dimension<true>::transform(rows);
        for (size_t y = 0; y < 8; ++y) {
            rows[y] = quantize(rows[y], quantizer, y);
            store(pairs[i].rows[y], rows[y]);
        }
        find_nonzero(nonzero[i], rows);
    }
}

size_t stuff(uint8_t* out, const uint8_t* in, size_t size) {
    constexpr size_t at_once = 32;
    uint8_t* const start = out;
    for (const uint8_t* const end = in + size; in < end;) {
        const __m256i bytes = load(in);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), bytes);
        const auto found = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(-1))));
        const size_t here = std::min(at_once, static_cast<size_t>(end - in));
        const auto before = static_cast<size_t>(std::countr_zero(found));  // 32 where there is none
        const size_t taken = std::min(here, before + 1);
        in += taken;
        out += taken;
        if (before < here) *out++ = 0;
    }
    return static_cast<size_t>(out - start);
}

}  // namespace

constinit const JpegEncodeKernels jpeg_encode_kernels_avx2 = {gray, color, transform, write_blocks, stuff};

}  // namespace pixelmill

END_AVX2_CODE

#endif
