#include "levels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "convolve.h"
#include "simd.h"

namespace pixelmill {

#define KERNELS "levels.inl"
#include "both_levels.inl"

const LevelPasses& level_passes() { return AT_THIS_LEVEL(passes); }

namespace {

#if PIXELMILL_WIDE_TABLES

// A table of 256 bytes in four registers.
struct WideTable {
    __m512i part[4];
};

WIDE_TABLES_CODE inline WideTable wide_table(const uint8_t* table) {
    return {{_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64), _mm512_loadu_si512(table + 128),
             _mm512_loadu_si512(table + 192)}};
}

WIDE_TABLES_CODE inline __m512i look_up_64(const WideTable& table, __m512i bytes) {
    asm("" : "+v"(bytes));  // in a register: GCC would load them from memory three times
    const __m512i dark = _mm512_permutex2var_epi8(table.part[0], bytes, table.part[1]);
    const __m512i bright = _mm512_permutex2var_epi8(table.part[2], bytes, table.part[3]);
    return _mm512_mask_mov_epi8(dark, _mm512_movepi8_mask(bytes), bright);
}

WIDE_TABLES_CODE void look_up_wide(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* given) {
    const WideTable table = wide_table(given);
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) _mm512_storeu_si512(out + i, look_up_64(table, _mm512_loadu_si512(in + i)));
    if (i == count) return;
    const __mmask64 rest = ~uint64_t{0} >> (64 - (count - i));
    _mm512_mask_storeu_epi8(out + i, rest, look_up_64(table, _mm512_maskz_loadu_epi8(rest, in + i)));
}

WIDE_TABLES_CODE int64_t look_up_lines_wide(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* given) {
    const WideTable table = wide_table(given);
    int64_t i = 0;
    for (; i + 64 <= count; i += 64) {
        const __m512i made = look_up_64(table, _mm512_loadu_si512(in + i));
        _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i), made);
    }
    return i;
}

// 192 bytes are 64 pixels: each register looks up all three tables, and takes every third byte of each.
WIDE_TABLES_CODE int64_t look_up_colors_wide(uint8_t* out, const uint8_t* in, int64_t pixels, const LevelTable* given) {
    const WideTable tables[3] = {wide_table(given[0].data()), wide_table(given[1].data()), wide_table(given[2].data())};
    constexpr uint64_t every_third = 0x9249249249249249;
    int64_t x = 0;
    for (; x + 64 <= pixels; x += 64) {
        for (int k = 0; k < 3; ++k) {
            // Byte i of register k is of channel (64 * k + i) % 3, which is (k + i) % 3.
            const __m512i bytes = _mm512_loadu_si512(in + 3 * x + 64 * k);
            __m512i made = look_up_64(tables[k % 3], bytes);
            made = _mm512_mask_mov_epi8(made, every_third << 1, look_up_64(tables[(k + 1) % 3], bytes));
            made = _mm512_mask_mov_epi8(made, every_third << 2, look_up_64(tables[(k + 2) % 3], bytes));
            _mm512_storeu_si512(out + 3 * x + 64 * k, made);
        }
    }
    return x;
}

#endif

// Eight bytes in a register, to be written together: single stores would hold up loads from memory whose addresses end
// alike.
template <int first>
uint64_t look_up_eight(const uint8_t* in, const LevelTable* tables) {
    const auto one = [&]<int k>(std::integral_constant<int, k>) {
        constexpr int shift = std::endian::native == std::endian::little ? 8 * k : 56 - 8 * k;
        return uint64_t{tables[(first + k) % 3][in[k]]} << shift;
    };
    return [&]<int... k>(std::integer_sequence<int, k...>) {
        return (one(std::integral_constant<int, k>{}) | ...);
    }(std::make_integer_sequence<int, 8>{});
}

}  // namespace

void look_up(uint8_t* out, const uint8_t* in, int64_t count, const uint8_t* table) {
#if PIXELMILL_WIDE_TABLES
    if (uses_wide_tables()) return look_up_wide(out, in, count, table);
#endif
    level_passes().look_up(out, in, count, table);
}

int64_t look_up_lines([[maybe_unused]] uint8_t* out, [[maybe_unused]] const uint8_t* in, [[maybe_unused]] int64_t count,
                      [[maybe_unused]] const uint8_t* table) {
#if PIXELMILL_WIDE_TABLES
    if (uses_wide_tables()) return look_up_lines_wide(out, in, count, table);
#endif
    return 0;
}

void look_up_colors(uint8_t* out, const uint8_t* in, int64_t pixels, const LevelTable* tables) {
    int64_t x = 0;
#if PIXELMILL_WIDE_TABLES
    if (uses_wide_tables()) x = look_up_colors_wide(out, in, pixels, tables);
#endif
    for (; x + 8 <= pixels; x += 8) {
        const uint64_t words[3] = {look_up_eight<0>(in + 3 * x, tables), look_up_eight<8>(in + 3 * x + 8, tables),
                                   look_up_eight<16>(in + 3 * x + 16, tables)};
        std::memcpy(out + 3 * x, words, sizeof words);
    }
    for (int64_t i = 3 * x; i < 3 * pixels; ++i) out[i] = tables[i % 3][in[i]];
}

std::optional<Divisor> Divisor::of(int64_t count) {
    if (count < 2 || count > 256) return std::nullopt;
    const auto by = static_cast<uint32_t>(count);
    const int shift = std::bit_width(by - 1) - 1;
    const uint32_t scale = uint32_t{1} << (16 + shift), factor = (scale + by - 1) / by;
    const uint32_t most = 255 * by + by / 2;  // of what is divided
    // What the factor is too large by must not reach the next whole number.
    if (factor > 0xffff || most > 0xffff || uint64_t{factor * by - scale} * most >= scale) return std::nullopt;
    return Divisor{static_cast<uint16_t>(by / 2), static_cast<uint16_t>(factor), shift};
}

namespace {

// Windows of few pixels: sums of columns fit 16 bits, and a division is a multiplication.
void small_box_mean(const Raster& out, const Raster& in, int64_t height, int64_t width, Divisor by, Arena& arena) {
    const LevelPasses& kernels = level_passes();
    const int64_t length = in.width * in.channels, reach = height / 2, margin = width / 2 * in.channels;
    auto* memory = arena.take<uint16_t>(static_cast<size_t>(length + 2 * margin));
    auto* none = arena.take<uint8_t>(static_cast<size_t>(length));
    uint16_t* sums = memory + margin;
    std::fill_n(sums, length, uint16_t{0});
    std::fill_n(none, length, uint8_t{0});
    const auto row = [&](int64_t y) {
        return reinterpret_cast<const uint8_t*>(in.at(border_index(y, in.height, Border::reflect_101), 0));
    };
    for (int64_t y = -reach; y < in.height + reach; ++y) {
        kernels.slide_bytes(sums, row(y), y > reach ? row(y - height) : none, length);
        if (y < reach) continue;
        for (int64_t x = 1; x <= width / 2; ++x) {
            const int64_t left = border_index(-x, in.width, Border::reflect_101),
                          right = border_index(in.width - 1 + x, in.width, Border::reflect_101);
            std::copy_n(sums + left * in.channels, in.channels, sums - x * in.channels);
            std::copy_n(sums + right * in.channels, in.channels, sums + length + (x - 1) * in.channels);
        }
        kernels.mean_of_sums(reinterpret_cast<uint8_t*>(out.at(y - reach, 0)), memory, length, width, in.channels, by);
    }
}

// Sums of `extent` neighbors along a row; `line` has room for the row and what is reflected at both ends.
void sum_row(int32_t* sums, const uint8_t* row, uint8_t* line, int64_t width, int64_t channels, int64_t extent) {
    const int64_t reach = extent / 2;
    for (int64_t i = -reach; i < width + reach; ++i) {
        const bool inside = i >= 0 && i < width;
        const int64_t from = inside ? i : border_index(i, width, Border::reflect_101);
        if (inside) {
            std::copy_n(row, width * channels, line + reach * channels);
            i = width - 1;
            continue;
        }
        std::copy_n(row + from * channels, channels, line + (i + reach) * channels);
    }
    for (int64_t c = 0; c < channels; ++c) {
        int32_t sum = 0;
        for (int64_t k = 0; k < extent; ++k) sum += line[k * channels + c];
        sums[c] = sum;
    }
    for (int64_t i = channels; i < width * channels; ++i)
        sums[i] = sums[i - channels] + line[i + (extent - 1) * channels] - line[i - channels];
}

}  // namespace

void box_mean(const Raster& out, const Raster& in, int64_t height, int64_t width, Arena& arena) {
    if (const std::optional<Divisor> by = Divisor::of(height * width))
        return small_box_mean(out, in, height, width, *by, arena);
    const LevelPasses& kernels = level_passes();
    const int64_t length = in.width * in.channels, reach = height / 2;
    auto* line = arena.take<uint8_t>(static_cast<size_t>((in.width + width) * in.channels));
    auto* rows = arena.take<int32_t>(static_cast<size_t>((height + 1) * length));  // a ring of the last rows
    auto* sums = arena.take<int32_t>(static_cast<size_t>(length));
    std::fill_n(sums, length, 0);
    std::fill_n(rows, (height + 1) * length, 0);
    const float factor = 1.0f / static_cast<float>(height * width);
    for (int64_t y = -reach; y < in.height + reach; ++y) {
        const int64_t from = y >= 0 && y < in.height ? y : border_index(y, in.height, Border::reflect_101);
        const int64_t step = y + reach;
        int32_t* now = rows + step % (height + 1) * length;
        sum_row(now, reinterpret_cast<const uint8_t*>(in.at(from, 0)), line, in.width, in.channels, width);
        int32_t* old = rows + (step + 1) % (height + 1) * length;  // the row that leaves the window, zeros at first
        kernels.slide(sums, now, old, length);
        if (y >= reach) kernels.scaled(reinterpret_cast<uint8_t*>(out.at(y - reach, 0)), sums, length, factor);
    }
}

}  // namespace pixelmill
