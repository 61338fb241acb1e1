#include "histogram.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "convolve.h"
#include "levels.h"
#include "simd.h"

namespace pixelmill {

namespace {

using Counts = std::array<int32_t, 256>;
using Table = LevelTable;

// Neighbors are counted apart: often they are equal, and then one count would wait for the other.
void count_row(Counts (&counts)[4], const uint8_t* row, int64_t width, int64_t step) {
    int64_t x = 0;
    for (; x + 4 <= width; x += 4) {
        ++counts[0][row[x * step]];
        ++counts[1][row[(x + 1) * step]];
        ++counts[2][row[(x + 2) * step]];
        ++counts[3][row[(x + 3) * step]];
    }
    for (; x < width; ++x) ++counts[0][row[x * step]];
}

Counts sum_of(const Counts (&parts)[4]) {
    Counts counts;
    for (size_t i = 0; i < 256; ++i) counts[i] = parts[0][i] + parts[1][i] + parts[2][i] + parts[3][i];
    return counts;
}

// From 0 to 255, half to even: a float of 2^23 or more has no fraction bits, so the addition rounds.
uint8_t rounded(float x) { return static_cast<uint8_t>(std::bit_cast<uint32_t>(std::min(x, 255.0f) + 0x1p23f)); }

// An image with one level is left unchanged.
Table equalizing(const Counts& counts, int64_t pixels) {
    Table table{};
    size_t first = 0;
    while (counts[first] == 0) ++first;
    if (counts[first] == pixels) {
        table[first] = static_cast<uint8_t>(first);
        return table;
    }
    const float scale = 255.0f / static_cast<float>(pixels - counts[first]);
    int64_t sum = 0;
    for (size_t i = first + 1; i < 256; ++i) {
        sum += counts[i];
        table[i] = rounded(static_cast<float>(sum) * scale);
    }
    return table;
}

void look_up_row(uint8_t* out, const uint8_t* in, int64_t width, int64_t to, int64_t from, const Table& table) {
    for (int64_t x = 0; x < width; ++x) out[x * to] = table[in[x * from]];
}

// Packed pixels of three channels, four at a time; the counts of each channel as in count_row.
void count_threes(Counts (&counts)[3][4], const uint8_t* row, int64_t width) {
    int64_t x = 0;
    for (; x + 4 <= width; x += 4, row += 12) {
        for (int k = 0; k < 12; ++k) ++counts[k % 3][k / 3][row[k]];
    }
    for (; x < width; ++x, row += 3) {
        for (int c = 0; c < 3; ++c) ++counts[c][0][row[c]];
    }
}

// What passes the limit is dealt out to all levels evenly, the rest of it to every n-th.
void clip(Counts& counts, int32_t limit) {
    int32_t clipped = 0;
    for (int32_t& count : counts) {
        clipped += std::max(count - limit, 0);
        count = std::min(count, limit);
    }
    const int32_t share = clipped / 256;
    int32_t rest = clipped - share * 256;
    for (int32_t& count : counts) count += share;
    if (rest == 0) return;
    const int32_t step = std::max(256 / rest, 1);
    for (int32_t i = 0; i < 256 && rest > 0; i += step, --rest) ++counts[static_cast<size_t>(i)];
}

struct Grid {
    int64_t tile_height, tile_width;
    const Table* tables;  // down rows of `across` tiles
};

// Extents that the tiles do not divide are enlarged by mirroring; then both are, as in OpenCV.
Grid tables_of_tiles(View<const uint8_t> in, const Tiles& tiles, Arena& arena) {
    const bool whole = in.width % tiles.across == 0 && in.height % tiles.down == 0;
    const int64_t width = whole ? in.width : in.width + tiles.across - in.width % tiles.across;
    const int64_t height = whole ? in.height : in.height + tiles.down - in.height % tiles.down;
    auto* tables = arena.take<Table>(static_cast<size_t>(tiles.down * tiles.across));
    const Grid grid{height / tiles.down, width / tiles.across, tables};
    const auto pixels = static_cast<int32_t>(grid.tile_height * grid.tile_width);
    const float scale = 255.0f / static_cast<float>(pixels);
    const auto limit = static_cast<int32_t>(static_cast<double>(tiles.clip_limit) * pixels / 256);
    for (int64_t tile = 0; tile < tiles.down * tiles.across; ++tile) {
        const int64_t top = tile / tiles.across * grid.tile_height, left = tile % tiles.across * grid.tile_width;
        Counts parts[4] = {};
        for (int64_t y = top; y < top + grid.tile_height; ++y) {
            const uint8_t* row = in.at(border_index(y, in.height, Border::reflect_101), 0);
            const int64_t inside = std::clamp<int64_t>(in.width - left, 0, grid.tile_width);
            count_row(parts, row + left * in.pixel, inside, in.pixel);
            for (int64_t x = left + inside; x < left + grid.tile_width; ++x) {
                ++parts[0][row[border_index(x, in.width, Border::reflect_101) * in.pixel]];
            }
        }
        Counts counts = sum_of(parts);
        if (tiles.clip_limit > 0) clip(counts, std::max(limit, 1));
        int32_t sum = 0;
        for (size_t i = 0; i < 256; ++i) tables[tile][i] = rounded(static_cast<float>(sum += counts[i]) * scale);
    }
    return grid;
}

// Between which two tiles a place lies, 0 before the first, and how near to the second.
struct Between {
    int64_t gap;
    float share;
    int64_t first() const { return std::max<int64_t>(gap - 1, 0); }
    int64_t second(int64_t tiles) const { return std::min(gap, tiles - 1); }
};

Between between(int64_t at, int64_t extent) {
    const float place = static_cast<float>(at) * (1.0f / static_cast<float>(extent)) - 0.5f;
    const float below = std::floor(place);
    return {static_cast<int64_t>(below) + 1, place - below};
}

// The four levels that a level becomes in the tiles around a gap: upper left, upper right, lower left, lower right.
using Corners = std::array<uint32_t, 256>;

void corners_of(Corners* corners, const Grid& grid, const Between& rows, const Tiles& tiles) {
    const Table* upper = grid.tables + rows.first() * tiles.across;
    const Table* lower = grid.tables + rows.second(tiles.down) * tiles.across;
    for (int64_t gap = 0; gap <= tiles.across; ++gap) {
        const Between columns{gap, 0};
        const int64_t left = columns.first(), right = columns.second(tiles.across);
        for (size_t i = 0; i < 256; ++i) {
            corners[gap][i] = uint32_t{upper[left][i]} | uint32_t{upper[right][i]} << 8 |
                              uint32_t{lower[left][i]} << 16 | uint32_t{lower[right][i]} << 24;
        }
    }
}

}  // namespace

#define KERNELS "histogram.inl"
#include "both_levels.inl"

namespace {

void equalize_threes(View<uint8_t> out, View<const uint8_t> in) {
    Counts parts[3][4] = {};
    for (int64_t y = 0; y < in.height; ++y) count_threes(parts, in.at(y, 0), in.width);
    Table tables[3];
    for (int c = 0; c < 3; ++c) tables[c] = equalizing(sum_of(parts[c]), in.height * in.width);
    for (int64_t y = 0; y < in.height; ++y) look_up_colors(out.at(y, 0), in.at(y, 0), in.width, tables);
}

}  // namespace

void equalize(View<uint8_t> out, View<const uint8_t> in) {
    const auto packed = [](const auto& view) { return view.channel == 1 && view.pixel == 3; };
    if (in.channels == 3 && packed(out) && packed(in)) return equalize_threes(out, in);
    for (int64_t c = 0; c < in.channels; ++c) {
        Counts parts[4] = {};
        for (int64_t y = 0; y < in.height; ++y) count_row(parts, in.at(y, 0) + c * in.channel, in.width, in.pixel);
        const Table table = equalizing(sum_of(parts), in.height * in.width);
        for (int64_t y = 0; y < in.height; ++y) {
            look_up_row(out.at(y, 0) + c * out.channel, in.at(y, 0) + c * in.channel, in.width, out.pixel, in.pixel,
                        table);
        }
    }
}

void equalize_tiles(View<uint8_t> out, View<const uint8_t> in, const Tiles& tiles, Arena& arena) {
    const auto blend = AT_THIS_LEVEL(blend);
    const Grid grid = tables_of_tiles(in, tiles, arena);
    auto* corners = arena.take<Corners>(static_cast<size_t>(tiles.across + 1));
    auto* shares = arena.take<float>(static_cast<size_t>(in.width));
    auto* ends = arena.take<int64_t>(static_cast<size_t>(tiles.across + 1));  // of the columns in each gap
    auto* levels = arena.take<uint32_t>(static_cast<size_t>(in.width));
    auto* line = arena.take<uint8_t>(static_cast<size_t>(in.width));
    std::fill_n(ends, tiles.across + 1, int64_t{0});
    for (int64_t x = 0; x < in.width; ++x) {
        const Between columns = between(x, grid.tile_width);
        shares[x] = columns.share;
        ends[std::min(columns.gap, tiles.across)] = x + 1;
    }
    int64_t known = -1;
    for (int64_t y = 0; y < in.height; ++y) {
        const Between rows = between(y, grid.tile_height);
        if (rows.gap != known) corners_of(corners, grid, rows, tiles);
        known = rows.gap;
        const uint8_t* from = in.at(y, 0);
        for (int64_t gap = 0, x = 0; gap <= tiles.across; ++gap) {
            for (; x < ends[gap]; ++x) levels[x] = corners[gap][from[x * in.pixel]];
        }
        uint8_t* to = out.pixel == 1 ? out.at(y, 0) : line;
        blend(to, levels, shares, rows.share, in.width);
        for (int64_t x = 0; x < in.width && to == line; ++x) out.at(y, x)[0] = line[x];
    }
}

}  // namespace pixelmill
