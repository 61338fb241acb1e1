#include "color.h"

#include <cmath>
#include <cstring>

#include "convert.h"
#include "elementwise.h"
#include "four_bytes.h"
#include "levels.h"
#include "simd.h"

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

void transform_colors(const Raster& out, const Raster& in, const ColorMatrix& matrix, Arena& arena) {
    if (in.height == 0 || in.width == 0) return;
    const ColorRows& rows = color_rows();
    if (in.dtype == DType::u8 && out.dtype == DType::u8) {
        if (in.pixel == 3 && in.channel == 1 && in.channels == 3) {
            const bool by_tables = uses_wide_tables() && is_diagonal(matrix);
            const std::array<LevelTable, 3> tables = by_tables ? tables_of(matrix) : std::array<LevelTable, 3>{};
            for (int64_t y = 0; y < in.height; ++y) {
                auto* to = reinterpret_cast<uint8_t*>(out.at(y, 0));
                const auto* from = reinterpret_cast<const uint8_t*>(in.at(y, 0));
                if (by_tables) {
                    look_up_colors(to, from, in.width, tables.data());
                } else {
                    rows.packed_bytes(to, from, in.width, matrix);
                }
            }
            return;
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
    const ColorRows& rows = color_rows();
    auto* line = arena.take<uint8_t>(static_cast<size_t>(in.width));
    const bool direct = table == nullptr && in.pixel == 1;
    for (int64_t y = 0; y < in.height; ++y) {
        const auto* from = reinterpret_cast<const uint8_t*>(in.at(y, 0));
        for (int64_t x = 0; x < in.width && !direct; ++x) {
            const uint8_t level = from[x * in.pixel];
            line[x] = table == nullptr ? level : table[level];
        }
        rows.spread(reinterpret_cast<uint8_t*>(out.at(y, 0)), direct ? from : line, in.width, neutral);
    }
}

void multiply_add(const Value& out, const Value& in, float factor, float addend) {
    const auto pass = color_rows().multiply_add[place_of(out.dtype)][place_of(in.dtype)];
    if (in.dtype == DType::u8 && out.dtype == DType::u8 && uses_wide_tables() && in.elements() >= 1024) {
        const LevelTable levels = all_levels();
        LevelTable table;
        pass(table.data(), levels.data(), 256, factor, addend);
        return look_up(out.as<uint8_t>(), in.as<uint8_t>(), in.elements(), table.data());
    }
    pass(out.data, in.data, in.elements(), factor, addend);
}

}  // namespace pixelmill
