#include "median.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "../platform/compiler.h"
#include "convert.h"
#include "convolve.h"
#include "simd.h"

namespace pixelmill {

#define KERNELS "median.inl"
#include "both_levels.inl"

#if PIXELMILL_WIDE_SUMS
BEGIN_WIDE_SUMS_CODE
namespace wide_sums {
#define AVX2_CODE 2  // AVX-512
#include "median.inl"
#undef AVX2_CODE
}  // namespace wide_sums
END_WIDE_SUMS_CODE
#endif

const Medians& medians() {
#if PIXELMILL_WIDE_SUMS
    if (uses_wide_sums()) return wide_sums::medians;
#endif
    return AT_THIS_LEVEL(medians);
}

namespace {

constexpr int64_t most_selected_bytes = 25;  // from here on counting is faster

Medians::Row<uint8_t> row_for(const Medians& medians, uint8_t) { return medians.u8; }
Medians::Row<int8_t> row_for(const Medians& medians, int8_t) { return medians.i8; }
Medians::Row<uint16_t> row_for(const Medians& medians, uint16_t) { return medians.u16; }
Medians::Row<int16_t> row_for(const Medians& medians, int16_t) { return medians.i16; }
Medians::Row<uint32_t> row_for(const Medians& medians, uint32_t) { return medians.u32; }
Medians::Row<int32_t> row_for(const Medians& medians, int32_t) { return medians.i32; }
Medians::Row<float> row_for(const Medians& medians, float) { return medians.f32; }

// Any number of values, one pixel after the other.
template <class T>
void median_by_selection(T* out, const T* const* rows, int64_t height, int64_t width, int64_t step, int64_t length,
                         T* values) {
    for (int64_t x = 0; x < length; ++x) {
        T* value = values;
        for (int64_t r = 0; r < height; ++r) {
            for (int64_t k = 0; k < width; ++k) *value++ = rows[r][x + k * step];
        }
        std::nth_element(values, values + height * width / 2, value);
        out[x] = values[height * width / 2];
    }
}

// How often every byte is in a window, and how often the bytes with equal upper halves are.
class ByteCounts {
   public:
    void add(uint8_t value, int32_t times) {
        fine_[value] += times;
        coarse_[value >> 4] += times;
    }
    // The value with `rank` smaller or equal ones before it.
    uint8_t at(int32_t rank) const {
        int group = 0;
        for (; rank >= coarse_[group]; ++group) rank -= coarse_[group];
        int value = group * 16;
        for (; rank >= fine_[value]; ++value) rank -= fine_[value];
        return static_cast<uint8_t>(value);
    }

   private:
    int32_t fine_[256] = {}, coarse_[16] = {};
};

// Bytes in large windows: the counts change by a column when the window moves on.
void median_by_counts(uint8_t* out, const uint8_t* const* rows, int64_t height, int64_t width, int64_t step,
                      int64_t length) {
    for (int64_t c = 0; c < step; ++c) {
        ByteCounts counts;
        const auto column = [&](int64_t x, int32_t times) {
            for (int64_t r = 0; r < height; ++r) counts.add(rows[r][x], times);
        };
        for (int64_t k = 0; k < width - 1; ++k) column(c + k * step, 1);
        for (int64_t x = c; x < length; x += step) {
            column(x + (width - 1) * step, 1);
            out[x] = counts.at(static_cast<int32_t>(height * width / 2));
            column(x, -1);
        }
    }
}

template <class T>
void median_image(const Raster& out, const Raster& in, int64_t height, int64_t width, Arena& arena) {
    constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(T));  // rows begin with one, for the vectors
    const int64_t length = in.width * in.channels, aside = width / 2, above = height / 2,
                  stride = (length + 2 * aside * in.channels + line - 1) / line * line;
    auto* memory = arena.take<T>(static_cast<size_t>(height * stride));
    [[maybe_unused]] auto* values = arena.take<T>(static_cast<size_t>(height * width));
    const auto** rows = arena.take<const T*>(static_cast<size_t>(height));
    const auto load = [&](int64_t y) {
        T* row = memory + (y + above) % height * stride;
        const auto* from = reinterpret_cast<const T*>(in.at(std::clamp<int64_t>(y, 0, in.height - 1), 0));
        for (int64_t x = -aside; x < in.width + aside; x += x == -1 ? in.width + 1 : 1) {
            const int64_t pixel = std::clamp<int64_t>(x, 0, in.width - 1);
            std::copy_n(from + pixel * in.channels, in.channels, row + (x + aside) * in.channels);
        }
        std::copy_n(from, length, row + aside * in.channels);
    };
    for (int64_t y = -above; y < above; ++y) load(y);
    for (int64_t y = 0; y < in.height; ++y) {
        load(y + above);
        for (int64_t r = 0; r < height; ++r) rows[r] = memory + (y + r) % height * stride;
        auto* to = reinterpret_cast<T*>(out.at(y, 0));
        if (height * width <= (std::is_same_v<T, uint8_t> ? most_selected_bytes : most_selected)) {
            row_for(medians(), T{})(to, rows, height, width, in.channels, length);
        } else if constexpr (std::is_same_v<T, uint8_t>) {
            median_by_counts(to, rows, height, width, in.channels, length);
        } else {
            median_by_selection(to, rows, height, width, in.channels, length, values);
        }
    }
}

}  // namespace

void median_blur(const Raster& out, const Raster& in, int64_t height, int64_t width, Arena& arena) {
    switch (in.dtype) {
        case DType::u8: return median_image<uint8_t>(out, in, height, width, arena);
        case DType::i8: return median_image<int8_t>(out, in, height, width, arena);
        case DType::u16: return median_image<uint16_t>(out, in, height, width, arena);
        case DType::i16: return median_image<int16_t>(out, in, height, width, arena);
        case DType::u32: return median_image<uint32_t>(out, in, height, width, arena);
        case DType::i32: return median_image<int32_t>(out, in, height, width, arena);
        default: return median_image<float>(out, in, height, width, arena);
    }
}

}  // namespace pixelmill
