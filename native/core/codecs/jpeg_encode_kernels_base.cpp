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

struct Samples {
    int y, cb, cr;  // less 128
};

inline Samples samples_of(const uint8_t* pixel) {
    using C = JpegColor;
    const int red = pixel[0], green = pixel[1], blue = pixel[2];
    const int y = C::y_red * red + C::y_green * green + C::y_blue * blue + C::half;
    // One less than a half, so that the largest value stays within eight bits.
    const int cb = C::half * blue - C::cb_red * red - C::cb_green * green + C::half - 1;
    const int cr = C::half * red - C::cr_green * green - C::cr_blue * blue + C::half - 1;
    return {(y >> C::point) - 128, cb >> C::point, cr >> C::point};
}

inline int16_t& sample(JpegPair* pairs, int y, int x) { return pairs[x / jpeg_pair_row].rows[y][x % jpeg_pair_row]; }

void gray(JpegPair* luma, const uint8_t* const* rows, int count, int columns) {
    for (int y = 0; y < count; ++y) {
        for (int x = 0; x < columns; ++x) sample(luma, y, x) = static_cast<int16_t>(rows[y][x] - 128);
    }
}

void full(const JpegPlanes& planes, const uint8_t* const* rows, int count, int columns, int pixel) {
    for (int y = 0; y < count; ++y) {
        for (int x = 0; x < columns; ++x) {
            const Samples made = samples_of(rows[y] + x * pixel);
            sample(planes.luma, y, x) = static_cast<int16_t>(made.y);
            sample(planes.blue, y, x) = static_cast<int16_t>(made.cb);
            sample(planes.red, y, x) = static_cast<int16_t>(made.cr);
        }
    }
}

// Rounding of averages goes down and up in turns, as in libjpeg, so that it moves no color as a whole.
void half(const JpegPlanes& planes, const uint8_t* const* rows, int count, int columns, int pixel) {
    for (int y = 0; y < count; ++y) {
        for (int x = 0; x < columns; x += 2) {
            const Samples a = samples_of(rows[y] + x * pixel), b = samples_of(rows[y] + (x + 1) * pixel);
            const int up = x / 2 % 2;
            sample(planes.luma, y, x) = static_cast<int16_t>(a.y);
            sample(planes.luma, y, x + 1) = static_cast<int16_t>(b.y);
            sample(planes.blue, y, x / 2) = static_cast<int16_t>((a.cb + b.cb + up) >> 1);
            sample(planes.red, y, x / 2) = static_cast<int16_t>((a.cr + b.cr + up) >> 1);
        }
    }
}

void quarter(const JpegPlanes& planes, const uint8_t* const* rows, int count, int columns, int pixel) {
    for (int y = 0; y < count; y += 2) {
        JpegPair* const luma = y < 8 ? planes.luma : planes.lower_luma;
        for (int x = 0; x < columns; x += 2) {
            int cb = 1 + x / 2 % 2, cr = cb;
            for (int down = 0; down < 2; ++down) {
                for (int across = 0; across < 2; ++across) {
                    const Samples made = samples_of(rows[y + down] + (x + across) * pixel);
                    sample(luma, y % 8 + down, x + across) = static_cast<int16_t>(made.y);
                    cb += made.cb;
                    cr += made.cr;
                }
            }
            sample(planes.blue, y / 2, x / 2) = static_cast<int16_t>(cb >> 2);
            sample(planes.red, y / 2, x / 2) = static_cast<int16_t>(cr >> 2);
        }
    }
}

void color(const JpegPlanes& planes, const uint8_t* const* rows, int count, int columns, int pixel,
           ChromaSampling sampling) {
    switch (sampling) {
        case ChromaSampling::full: return full(planes, rows, count, columns, pixel);
        case ChromaSampling::half: return half(planes, rows, count, columns, pixel);
        case ChromaSampling::quarter: return quarter(planes, rows, count, columns, pixel);
    }
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

void quantize(JpegPair& pair, const JpegQuantizer& by) {
    for (size_t y = 0; y < 8; ++y) {
        for (size_t x = 0; x < jpeg_pair_row; ++x) {
            const int16_t value = pair.rows[y][x];
            const auto sum = static_cast<uint16_t>(std::abs(value) + by.half[y].values[x]);
            const auto high = static_cast<uint16_t>(uint32_t{sum} * by.reciprocal[y].values[x] >> 16);
            const auto size = static_cast<int16_t>(uint32_t{high} * by.scale[y].values[x] >> 16);
            pair.rows[y][x] = static_cast<int16_t>(value < 0 ? -size : size);
        }
    }
}

void transform(JpegPair* pairs, uint64_t (*nonzero)[2], int count, const JpegQuantizer& quantizer) {
    for (int i = 0; i < count; ++i) {
        JpegPair& pair = pairs[i];
        transpose(pair);
        transform_columns<false>(pair);
        transpose(pair);
        transform_columns<true>(pair);
        quantize(pair, quantizer);
        for (int block = 0; block < 2; ++block) {
            const int16_t* values = pair.rows[0] + 8 * block;
            uint64_t found = 0;
            for (size_t k = 0; k < 64; ++k) found |= uint64_t{values[pair_zigzag[k]] != 0} << k;
            nonzero[i][block] = found;
        }
    }
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
