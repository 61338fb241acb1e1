// The JPEG encoder's kernels in plain C++.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "jpeg_encode_kernels.h"
#include "jpeg_zigzag.h"

namespace pixelmill {

namespace {

#include "jpeg_entropy_writer.inl"

// What the values of a channel add to Y, in the lower half of a word, and to Cb, in the upper; and to Cr. Sums of all
// three channels are never negative. Measured on x86-64, where vectors without AVX2 take longer to gather the bytes of
// a channel than three look-ups take.
struct Parts {
    uint64_t y_and_cb;
    uint32_t cr;
};
using ChannelParts = std::array<Parts, 256>;

struct Factors {
    int64_t y, cb, cr;
};

constexpr ChannelParts parts_of(Factors each, Factors constant = {}) {
    ChannelParts parts{};
    int64_t value = 0;
    for (Parts& part : parts) {
        const int64_t y = each.y * value + constant.y, cb = each.cb * value + constant.cb;
        part = {static_cast<uint64_t>(cb * (int64_t{1} << 32) + y),
                static_cast<uint32_t>(each.cr * value + constant.cr)};
        ++value;
    }
    return parts;
}

using Color = JpegColorWeights;
// One less than a half, so that the largest value stays within eight bits.
constexpr int64_t chroma_constant = (int64_t{128} << Color::point) + Color::half - 1;
constexpr ChannelParts red_parts = parts_of({Color::y_red, -Color::cb_red, Color::half},
                                            {Color::half, chroma_constant, chroma_constant}),
                       green_parts = parts_of({Color::y_green, -Color::cb_green, -Color::cr_green}),
                       blue_parts = parts_of({Color::y_blue, Color::half, -Color::cr_blue});

inline int16_t centered(uint64_t sum) { return static_cast<int16_t>(static_cast<int>(sum) - 128); }

// Makes the samples of sixteen pixels, less 128.
template <int pixel>
inline void convert(int16_t* y, int16_t* cb, int16_t* cr, const uint8_t* at) {
    for (int x = 0; x < jpeg_pair_row; ++x, at += pixel) {
        const Parts &red = red_parts[at[0]], &green = green_parts[at[1]], &blue = blue_parts[at[2]];
        const uint64_t both = red.y_and_cb + green.y_and_cb + blue.y_and_cb;
        y[x] = centered(static_cast<uint32_t>(both) >> Color::point);
        cb[x] = centered(both >> (32 + Color::point));
        cr[x] = centered((red.cr + green.cr + blue.cr) >> Color::point);
    }
}

void gray(JpegPair* luma, const uint8_t* const* rows, int count, int columns) {
    for (int i = 0; i < columns / jpeg_pair_row; ++i) {
        for (int y = 0; y < count; ++y) {
            const uint8_t* from = rows[y] + i * jpeg_pair_row;
            for (int x = 0; x < jpeg_pair_row; ++x) luma[i].rows[y][x] = static_cast<int16_t>(from[x] - 128);
        }
    }
}

template <int pixel>
void full(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns) {
    for (int i = 0; i < columns / jpeg_pair_row; ++i) {
        for (int y = 0; y < count; ++y)
            convert<pixel>(planes.luma[i].rows[y], planes.blue[i].rows[y], planes.red[i].rows[y],
                           rows[y] + i * jpeg_pair_row * pixel);
    }
}

// Chroma of up to two rows, which is averaged.
struct Chroma {
    int16_t rows[2][jpeg_pair_row];

    // Rounding goes down and up in turns, as in libjpeg, so that it moves no color as a whole.
    template <int height>
    void average(int16_t* out) const {
        for (int x = 0; x < jpeg_pair_row / 2; ++x) {
            int sum = x % 2 + (height - 1);
            for (int y = 0; y < height; ++y) sum += rows[y][2 * x] + rows[y][2 * x + 1];
            out[x] = static_cast<int16_t>(sum >> height);
        }
    }
};

template <int pixel>
void half(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns) {
    Chroma blue, red;
    for (int i = 0; i < columns / jpeg_pair_row; ++i) {
        const int x = i % 2 * 8;
        for (int y = 0; y < count; ++y) {
            convert<pixel>(planes.luma[i].rows[y], blue.rows[0], red.rows[0], rows[y] + i * jpeg_pair_row * pixel);
            blue.average<1>(planes.blue[i / 2].rows[y] + x);
            red.average<1>(planes.red[i / 2].rows[y] + x);
        }
    }
}

template <int pixel>
void quarter(const JpegSamplePlanes& planes, const uint8_t* const* rows, int count, int columns) {
    Chroma blue, red;
    for (int i = 0; i < columns / jpeg_pair_row; ++i) {
        const int x = i % 2 * 8;
        for (int y = 0; y < count; y += 2) {
            JpegPair& luma = (y < 8 ? planes.luma : planes.lower_luma)[i];
            for (int lower = 0; lower < 2; ++lower)
                convert<pixel>(luma.rows[y % 8 + lower], blue.rows[lower], red.rows[lower],
                               rows[y + lower] + i * jpeg_pair_row * pixel);
            blue.average<2>(planes.blue[i / 2].rows[y / 2] + x);
            red.average<2>(planes.red[i / 2].rows[y / 2] + x);
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

// Both blocks are turned about their diagonals.
void transpose(JpegPair& pair) {
    for (int block = 0; block < jpeg_pair_row; block += 8) {
        for (int y = 0; y < 8; ++y) {
            for (int x = 0; x < y; ++x) std::swap(pair.rows[y][block + x], pair.rows[x][block + y]);
        }
    }
}

// Products of 16 bits by 16 bits, for which all vector units have instructions.
template <size_t terms>
inline int32_t sum_of_products(const int16_t (&factors)[terms], const int16_t (&values)[terms]) {
    int32_t sum = 0;
    for (size_t i = 0; i < terms; ++i) sum += int32_t{factors[i]} * values[i];
    return sum;
}

// One dimension of the DCT, down all columns. The first gives results with two bits behind the point, which the second
// takes away.
template <bool second>
void transform_columns(JpegPair& pair) {
    using C = JpegCosines;
    constexpr int shift = second ? C::point + C::kept : C::point - C::kept;
    const auto rounded = [](int32_t sum) { return static_cast<int16_t>((sum + (1 << (shift - 1))) >> shift); };
    const auto plain = [](int sum) {
        return static_cast<int16_t>(second ? (sum + (1 << (C::kept - 1))) >> C::kept : sum << C::kept);
    };
    for (int x = 0; x < jpeg_pair_row; ++x) {
        const auto at = [&](int y) -> int16_t& { return pair.rows[y][x]; };
        const int s0 = at(0) + at(7), s1 = at(1) + at(6), s2 = at(2) + at(5), s3 = at(3) + at(4);
        const int16_t odd[4] = {static_cast<int16_t>(at(0) - at(7)), static_cast<int16_t>(at(1) - at(6)),
                                static_cast<int16_t>(at(2) - at(5)), static_cast<int16_t>(at(3) - at(4))};
        const int16_t even[2] = {static_cast<int16_t>(s0 - s3), static_cast<int16_t>(s1 - s2)};
        at(0) = plain(s0 + s3 + (s1 + s2));
        at(4) = plain(s0 + s3 - (s1 + s2));
        at(2) = rounded(sum_of_products(C::even2, even));
        at(6) = rounded(sum_of_products(C::even6, even));
        at(1) = rounded(sum_of_products(C::odd1, odd));
        at(3) = rounded(sum_of_products(C::odd3, odd));
        at(5) = rounded(sum_of_products(C::odd5, odd));
        at(7) = rounded(sum_of_products(C::odd7, odd));
    }
}

inline uint16_t high_word(uint16_t a, uint16_t b) { return static_cast<uint16_t>(uint32_t{a} * b >> 16); }

void quantize(JpegPair& pair, const JpegQuantizer& by) {
    for (size_t y = 0; y < 8; ++y) {
        for (size_t x = 0; x < jpeg_pair_row; ++x) {
            const int16_t value = pair.rows[y][x];
            const auto sum = static_cast<uint16_t>(std::abs(value) + by.half[y].values[x]);
            const uint16_t size = high_word(high_word(sum, by.reciprocal[y].values[x]), by.scale[y].values[x]);
            pair.rows[y][x] = static_cast<int16_t>(value < 0 ? -size : size);
        }
    }
}

// For each row of a block and each set of its columns: which bits of the stream they are.
using StreamBits = std::array<std::array<uint64_t, 256>, 8>;
constexpr StreamBits stream_bits = [] {
    StreamBits made{};
    for (size_t k = 0; k < 64; ++k) {
        for (size_t columns = 0; columns < 256; ++columns)
            made[zigzag[k] / 8][columns] |= uint64_t{columns >> (zigzag[k] % 8) & 1} << k;
    }
    return made;
}();

void find_nonzero(uint64_t (&nonzero)[2], const JpegPair& pair) {
    nonzero[0] = nonzero[1] = 0;
    for (size_t y = 0; y < 8; ++y) {
        uint8_t ones[jpeg_pair_row];
        for (size_t x = 0; x < jpeg_pair_row; ++x) ones[x] = pair.rows[y][x] != 0;
        for (size_t block = 0; block < 2; ++block) {
            uint64_t bytes;
            std::memcpy(&bytes, ones + 8 * block, sizeof bytes);
            // One multiplication moves the bits of all bytes into the highest, that of the first column lowest.
            constexpr bool little = std::endian::native == std::endian::little;
            constexpr uint64_t gather = little ? 0x0102040810204080 : 0x8040201008040201;
            nonzero[block] |= stream_bits[y][bytes * gather >> 56];
        }
    }
}

// One stage after the other for all pairs: a processor that has just stored single values waits before it can load them
// as a vector.
void transform(JpegPair* pairs, uint64_t (*nonzero)[2], int count, const JpegQuantizer& quantizer) {
    for (int i = 0; i < count; ++i) transpose(pairs[i]);
    for (int i = 0; i < count; ++i) transform_columns<false>(pairs[i]);
    for (int i = 0; i < count; ++i) transpose(pairs[i]);
    for (int i = 0; i < count; ++i) transform_columns<true>(pairs[i]);
    for (int i = 0; i < count; ++i) quantize(pairs[i], quantizer);
    for (int i = 0; i < count; ++i) find_nonzero(nonzero[i], pairs[i]);
}

size_t stuff(uint8_t* out, const uint8_t* in, size_t size) {
    uint8_t* const start = out;
    for (const uint8_t* const end = in + size; in < end;) {
        const auto left = static_cast<size_t>(end - in);
        const auto* found = static_cast<const uint8_t*>(std::memchr(in, 0xFF, left));
        const size_t run = found != nullptr ? static_cast<size_t>(found - in) + 1 : left;
        std::memcpy(out, in, run);
        out += run;
        in += run;
        if (found != nullptr) *out++ = 0;
    }
    return static_cast<size_t>(out - start);
}

}  // namespace

constinit const JpegEncodeKernels jpeg_encode_kernels_base = {gray, color, transform, write_blocks, stuff};

}  // namespace pixelmill
