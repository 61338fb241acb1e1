#include "color.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convert.h"
#include "elementwise.h"
#include "four_bytes.h"
#include "levels.h"
#include "simd.h"
#include "stream.h"

namespace pixelmill {

#define KERNELS "color.inl"
#include "both_levels.inl"

const ColorRows& color_rows() { return AT_THIS_LEVEL(color_rows); }

namespace {

// One row of any type and strides as packed floats.
void load_row(float* out, const Raster& in, int64_t y) {
    if (in.pixel == in.channels && in.channel == 1)
        return conversion(DType::f32, in.dtype)(out, in.at(y, 0), nullptr, nullptr, in.width * in.channels, 0);
    with_type(in.dtype, [&](auto zero) {
        const auto* from = reinterpret_cast<const decltype(zero)*>(in.at(y, 0));
        for (int64_t x = 0; x < in.width; ++x) {
            for (int64_t c = 0; c < in.channels; ++c) *out++ = convert<float>(from[x * in.pixel + c * in.channel]);
        }
    });
}

void store_row(const Raster& out, int64_t y, const float* in) {
    conversion(out.dtype, DType::f32)(out.at(y, 0), in, nullptr, nullptr, out.width * out.channels, 0);
}

// Calls `body(out, four-byte pixels)` for each row of an image of bytes; other strides go through a copy.
template <class Body>
void for_each_row(const Raster& out, const Raster& in, Arena& arena, Body&& body) {
    Raster source = in;
    if (!FourByteRows::fit(in)) {
        source.data = arena.take(static_cast<size_t>(in.height * in.width * 3));
        source.row = in.width * 3;
        source.pixel = 3;
        source.channel = 1;
        auto* to = reinterpret_cast<uint8_t*>(source.data);
        for (int64_t y = 0; y < in.height; ++y) {
            for (int64_t x = 0; x < in.width; ++x) {
                for (int64_t c = 0; c < 3; ++c) *to++ = static_cast<uint8_t>(*in.at(y, x, c));
            }
        }
    }
    const FourByteRows rows(source, arena);
    const PixelRows& pixels = pixel_rows();
    for (int64_t y = 0; y < out.height; ++y) body(reinterpret_cast<uint8_t*>(out.at(y, 0)), rows.row(pixels, y));
}

int place_of(DType dtype) {
    switch (dtype) {
        case DType::u8: return 0;
        case DType::i16: return 1;
        case DType::i32: return 2;
        default: return 3;
    }
}

LevelTable all_levels() {
    LevelTable levels;
    for (size_t i = 0; i < 256; ++i) levels[i] = static_cast<uint8_t>(i);
    return levels;
}

#if PIXELMILL_WIDE_TABLES

// Whether sums of bytes stay so small that integers hold them, which then cut them to the range of bytes.
bool is_moderate(const ColorMatrix& matrix) {
    for (int i = 0; i < 3; ++i) {
        float most = std::abs(matrix.offset[i]);
        for (float weight : matrix.weight[i]) most += 255 * std::abs(weight);
        if (!(most < 0x1p30f)) return false;
    }
    return true;
}

// Sixteen pixels of three bytes in AVX-512. The upper 16 bytes of `pixels` hold 0x4b and zeros: a byte in the low end
// of 0x4b000000 is the float 2^23 + byte, and a fused (2^23 + byte) * weight - 2^23 * weight is byte * weight, rounded
// once, which saves a conversion.
struct WideColors {
    __m512 weight[3][3], shift[3][3], offset[3];
};

WIDE_TABLES_CODE inline WideColors wide_colors(const ColorMatrix& matrix) {
    WideColors colors;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            colors.weight[i][j] = _mm512_set1_ps(matrix.weight[i][j]);
            colors.shift[i][j] = _mm512_set1_ps(-0x1p23f * matrix.weight[i][j]);
        }
        colors.offset[i] = _mm512_set1_ps(matrix.offset[i]);
    }
    return colors;
}

// One channel of sixteen pixels, rounded; negative where it is below 0.
template <bool has_offset>
WIDE_TABLES_CODE inline __m512i sixteen_levels(const WideColors& colors, int i, const __m512 (&pixel)[3]) {
    __m512 sum = _mm512_fmadd_ps(pixel[0], colors.weight[i][0], colors.shift[i][0]);
    sum = _mm512_add_ps(sum, _mm512_fmadd_ps(pixel[1], colors.weight[i][1], colors.shift[i][1]));
    sum = _mm512_add_ps(sum, _mm512_fmadd_ps(pixel[2], colors.weight[i][2], colors.shift[i][2]));
    if constexpr (has_offset) sum = _mm512_add_ps(sum, colors.offset[i]);
    return _mm512_cvttps_epi32(_mm512_add_ps(sum, _mm512_set1_ps(0.5f)));
}

// Where the bytes of pixels come from: those of a channel spread to floats, and the three registers of a result.
template <bool gray>
struct WidePlaces {
    alignas(64) uint8_t channel[3][64]{}, filling[64]{}, result[3][64]{};

    constexpr WidePlaces() {
        filling[48] = 0x4b;
        for (int i = 0; i < 64; ++i) {
            for (int c = 0; c < 3; ++c)
                channel[c][i] = static_cast<uint8_t>(i % 4 == 0 ? i / 4 * 3 + c : i % 4 == 3 ? 48 : 49);
        }
        for (int i = 0; i < 192; ++i) {
            // Packing leaves four pixels in each quarter: of each channel, or of four registers of grays. Register k of
            // a result has bytes of the colored registers k and k + 1.
            const int from = i / 48, pixel = i / 3 % 16, four = gray ? from : i % 3;
            const int second = !gray && from > i / 64 ? 64 : 0;
            result[i / 64][i % 64] = static_cast<uint8_t>(pixel / 4 * 16 + four * 4 + pixel % 4 + second);
        }
    }
};

// The channels of sixteen pixels one beside the other, or their grays as 32 bits. A gray matrix has three equal rows.
template <bool gray, bool has_offset>
WIDE_TABLES_CODE inline __m512i sixteen_pixels(const uint8_t* in, const WidePlaces<gray>& places,
                                               const WideColors& colors) {
    const __m512i bytes = _mm512_mask_loadu_epi8(_mm512_load_si512(places.filling), 0xffff'ffff'ffff, in);
    const __m512 pixel[3] = {_mm512_castsi512_ps(_mm512_permutexvar_epi8(_mm512_load_si512(places.channel[0]), bytes)),
                             _mm512_castsi512_ps(_mm512_permutexvar_epi8(_mm512_load_si512(places.channel[1]), bytes)),
                             _mm512_castsi512_ps(_mm512_permutexvar_epi8(_mm512_load_si512(places.channel[2]), bytes))};
    const __m512i red = sixteen_levels<has_offset>(colors, 0, pixel);
    if constexpr (gray) return red;
    const __m512i green = sixteen_levels<has_offset>(colors, 1, pixel),
                  blue = sixteen_levels<has_offset>(colors, 2, pixel);
    return _mm512_packus_epi16(_mm512_packs_epi32(red, green), _mm512_packs_epi32(blue, blue));
}

// Returns how many pixels were made.
template <bool past_caches, bool gray, bool has_offset>
WIDE_TABLES_CODE int64_t mix_colors_wide(uint8_t* out, const uint8_t* in, int64_t pixels, const ColorMatrix& matrix) {
    static constexpr WidePlaces<gray> places;
    const WideColors colors = wide_colors(matrix);
    const __m512i result[3] = {_mm512_load_si512(places.result[0]), _mm512_load_si512(places.result[1]),
                               _mm512_load_si512(places.result[2])};
    int64_t x = 0;
    for (; x + 64 <= pixels; x += 64) {
        const uint8_t* from = in + 3 * x;
        __m512i made[4] = {sixteen_pixels<gray, has_offset>(from, places, colors),
                           sixteen_pixels<gray, has_offset>(from + 48, places, colors),
                           sixteen_pixels<gray, has_offset>(from + 96, places, colors),
                           sixteen_pixels<gray, has_offset>(from + 144, places, colors)};
        if constexpr (gray)
            made[0] = _mm512_packus_epi16(_mm512_packs_epi32(made[0], made[1]), _mm512_packs_epi32(made[2], made[3]));
        for (int k = 0; k < 3; ++k) {
            const __m512i line = gray ? _mm512_permutexvar_epi8(result[k], made[0])
                                      : _mm512_permutex2var_epi8(made[k], result[k], made[k + 1]);
            if constexpr (past_caches) {
                _mm_prefetch(reinterpret_cast<const char*>(from + 4096 + 64 * k), _MM_HINT_T0);
                _mm512_stream_si512(reinterpret_cast<__m512i*>(out + 3 * x + 64 * k), line);
            } else {
                _mm512_storeu_si512(out + 3 * x + 64 * k, line);
            }
        }
    }
    return x;
}

// Each byte three times.
struct TripledBytes {
    alignas(64) uint8_t place[3][64]{};

    constexpr TripledBytes() {
        for (int i = 0; i < 192; ++i) place[i / 64][i % 64] = static_cast<uint8_t>(i / 3);
    }
};

WIDE_TABLES_CODE int64_t triple_wide(uint8_t* out, const uint8_t* in, int64_t pixels) {
    static constexpr TripledBytes bytes;
    int64_t x = 0;
    for (; x + 64 <= pixels; x += 64) {
        const __m512i grays = _mm512_loadu_si512(in + x);
        for (int k = 0; k < 3; ++k) {
            const __m512i order = _mm512_load_si512(bytes.place[k]);
            _mm512_storeu_si512(out + 3 * x + 64 * k, _mm512_permutexvar_epi8(order, grays));
        }
    }
    return x;
}

bool has_offset(const ColorMatrix& matrix) {
    return std::any_of(std::begin(matrix.offset), std::end(matrix.offset), [](float offset) { return offset != 0; });
}

bool is_gray(const ColorMatrix& matrix) {
    const auto same = [&](int i) {
        return std::memcmp(matrix.weight[0], matrix.weight[i], sizeof matrix.weight[0]) == 0 &&
               matrix.offset[0] == matrix.offset[i];
    };
    return same(1) && same(2);
}

#endif

// As many pixels as there are registers for, past the caches or not.
template <bool past_caches>
int64_t mix_whole_lines([[maybe_unused]] uint8_t* out, [[maybe_unused]] const uint8_t* in,
                        [[maybe_unused]] int64_t pixels, [[maybe_unused]] const ColorMatrix& matrix) {
#if PIXELMILL_WIDE_TABLES
    if (uses_wide_tables() && is_moderate(matrix)) {
        constexpr decltype(&mix_colors_wide<false, false, false>) passes[2][2] = {
            {mix_colors_wide<past_caches, false, false>, mix_colors_wide<past_caches, false, true>},
            {mix_colors_wide<past_caches, true, false>, mix_colors_wide<past_caches, true, true>}};
        return passes[is_gray(matrix)][has_offset(matrix)](out, in, pixels, matrix);
    }
#endif
    return 0;
}

void mix_colors(uint8_t* out, const uint8_t* in, int64_t pixels, const ColorMatrix& matrix) {
    const int64_t x = mix_whole_lines<false>(out, in, pixels, matrix);
    color_rows().packed_bytes(out + 3 * x, in + 3 * x, pixels - x, matrix);
}

void spread(uint8_t* out, const uint8_t* in, int64_t pixels, int neutral) {
    int64_t x = 0;
#if PIXELMILL_WIDE_TABLES
    if (uses_wide_tables() && neutral < 0) x = triple_wide(out, in, pixels);
#endif
    color_rows().spread(out + 3 * x, in + x, pixels - x, neutral);
}

// Whether each channel depends on itself alone.
bool is_diagonal(const ColorMatrix& matrix) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            if ((i != j && matrix.weight[i][j] != 0) || !std::isfinite(matrix.weight[i][j])) return false;
        }
    }
    return true;
}

std::array<LevelTable, 3> tables_of(const ColorMatrix& matrix) {
    const LevelTable levels = all_levels();
    std::array<LevelTable, 3> tables;
    const auto pass = color_rows().multiply_add[0][0];
    for (size_t c = 0; c < 3; ++c) pass(tables[c].data(), levels.data(), 256, matrix.weight[c][c], matrix.offset[c]);
    return tables;
}

}  // namespace

void transform_colors(const Raster& out, const Raster& in, const ColorMatrix& matrix, bool past_caches, Arena& arena) {
    if (in.height == 0 || in.width == 0) return;
    const ColorRows& rows = color_rows();
    if (in.dtype == DType::u8 && out.dtype == DType::u8) {
        if (in.pixel == 3 && in.channel == 1 && in.channels == 3) {
            const bool by_tables = uses_wide_tables() && is_diagonal(matrix);
            const std::array<LevelTable, 3> tables = by_tables ? tables_of(matrix) : std::array<LevelTable, 3>{};
            const bool whole = in.row == 3 * in.width;  // one long row
            const int64_t height = whole ? 1 : in.height, width = whole ? in.height * in.width : in.width;
            const auto mix = [&](uint8_t* to, const uint8_t* from, int64_t count) {
                by_tables ? look_up_colors(to, from, count, tables.data()) : mix_colors(to, from, count, matrix);
            };
            const auto lines = [&](uint8_t* to, const uint8_t* from, int64_t count) {
                return by_tables ? 0 : mix_whole_lines<true>(to, from, count, matrix);
            };
            ResultStream stream(out.data, past_caches);
            for (int64_t y = 0; y < height; ++y)
                stream.put(reinterpret_cast<const uint8_t*>(in.at(y, 0)), width, 3, 3, mix, lines);
            return stream.end();
        }
        return for_each_row(out, in, arena,
                            [&](uint8_t* to, const uint8_t* from) { rows.bytes(to, from, in.width, matrix); });
    }
    const bool direct = in.dtype == DType::f32 && in.pixel == 3 && in.channel == 1;
    auto* from = arena.take<float>(static_cast<size_t>(3 * in.width));
    auto* to = arena.take<float>(static_cast<size_t>(3 * in.width));
    for (int64_t y = 0; y < in.height; ++y) {
        if (!direct) load_row(from, in, y);
        float* result = out.dtype == DType::f32 ? reinterpret_cast<float*>(out.at(y, 0)) : to;
        rows.floats(result, direct ? reinterpret_cast<const float*>(in.at(y, 0)) : from, in.width, matrix);
        if (result == to) store_row(out, y, to);
    }
}

void to_gray(const Raster& out, const Raster& in, bool reversed, Arena& arena) {
    if (in.height == 0 || in.width == 0) return;
    const ColorRows& rows = color_rows();
    for_each_row(out, in, arena, [&](uint8_t* to, const uint8_t* from) { rows.gray(to, from, in.width, reversed); });
}

void reverse_channels(const Raster& out, const Raster& in, Arena& arena) {
    if (in.height == 0 || in.width == 0) return;
    const ColorRows& rows = color_rows();
    if (in.pixel == 3 && in.channel == 1) {
        for (int64_t y = 0; y < in.height; ++y) {
            const auto* from = reinterpret_cast<const uint8_t*>(in.at(y, 0));
            rows.reversed(reinterpret_cast<uint8_t*>(out.at(y, 0)), from, in.width, 3);
        }
        return;
    }
    for_each_row(out, in, arena, [&](uint8_t* to, const uint8_t* from) { rows.reversed(to, from, in.width, 4); });
}

void spread_gray(const Raster& out, const Raster& in, const uint8_t* table, int neutral, Arena& arena) {
    auto* line = arena.take<uint8_t>(static_cast<size_t>(in.width));
    const bool direct = table == nullptr && in.pixel == 1;
    for (int64_t y = 0; y < in.height; ++y) {
        const auto* from = reinterpret_cast<const uint8_t*>(in.at(y, 0));
        for (int64_t x = 0; x < in.width && !direct; ++x) {
            const uint8_t level = from[x * in.pixel];
            line[x] = table == nullptr ? level : table[level];
        }
        spread(reinterpret_cast<uint8_t*>(out.at(y, 0)), direct ? from : line, in.width, neutral);
    }
}

MultiplyAdd::MultiplyAdd(DType made, DType read, float factor, float addend, int64_t count)
    : pass_(color_rows().multiply_add[place_of(made)][place_of(read)]),
      factor_(factor),
      addend_(addend),
      by_table_(read == DType::u8 && made == DType::u8 && uses_wide_tables() && count >= 1024) {
    if (by_table_) pass_(table_.data(), all_levels().data(), 256, factor, addend);
}

void MultiplyAdd::operator()(uint8_t* out, const uint8_t* in, int64_t count) const {
    if (by_table_) return look_up(out, in, count, table_.data());
    pass_(out, in, count, factor_, addend_);
}

int64_t MultiplyAdd::lines(uint8_t* out, const uint8_t* in, int64_t count) const {
    return by_table_ ? look_up_lines(out, in, count, table_.data()) : 0;
}

}  // namespace pixelmill
