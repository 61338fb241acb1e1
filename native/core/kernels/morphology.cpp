#include "morphology.h"

#include <algorithm>
#include <limits>

#include "simd.h"

namespace pixelmill {

namespace {

template <class T>
struct ExtremeRows {
    void (*of)(T* out, const T* const* in, int rows, int64_t count);  // one to three rows
    T neutral;
};

}  // namespace

#define KERNELS "morphology.inl"
#include "both_levels.inl"

namespace {

// Folds rows into `out`, from the first to the last; a fold keeps what is there and takes two more rows a pass.
template <class T, class RowAt>
void fold(const ExtremeRows<T>& extreme, T* out, const T* first, int64_t rows, int64_t count, RowAt&& row_at) {
    const T* in[3] = {first, nullptr, nullptr};
    int held = 1;
    for (int64_t k = 0; k < rows; ++k) {
        const T* row = row_at(k);
        if (row == nullptr) continue;
        in[held++] = row;
        if (held < 3) continue;
        extreme.of(out, in, 3, count);
        in[0] = out;
        held = 1;
    }
    if (held == 2 || in[0] != out) extreme.of(out, in, held, count);
}

// A rectangle is a row of a column: extremes down the columns first, then along each row, whole rows at a time.
template <class T>
void extremes(const Raster& out, const Raster& in, const Neighborhood& window, const ExtremeRows<T>& extreme,
              Arena& arena) {
    const int64_t channels = in.channels, length = in.width * channels;
    const int64_t padded = length + (window.width - 1) * channels;
    T* line = arena.take<T>(static_cast<size_t>(padded));
    T* neutral = arena.take<T>(static_cast<size_t>(length));
    std::fill_n(neutral, length, extreme.neutral);
    T* middle = line + window.anchor_x * channels;
    for (int64_t y = 0; y < out.height; ++y) {
        fold(extreme, middle, static_cast<const T*>(neutral), window.height, length, [&](int64_t k) {
            const int64_t row = border_index(y + k - window.anchor_y, in.height, window.border);
            return row < 0 ? nullptr : reinterpret_cast<const T*>(in.data) + row * in.row;
        });
        const auto extend = [&](int64_t column) {
            const int64_t source = border_index(column, in.width, window.border);
            for (int64_t c = 0; c < channels; ++c) {
                middle[column * channels + c] = source < 0 ? extreme.neutral : middle[source * channels + c];
            }
        };
        for (int64_t column = -window.anchor_x; column < 0; ++column) extend(column);
        for (int64_t column = in.width; column < in.width + window.width - 1 - window.anchor_x; ++column)
            extend(column);
        fold(extreme, reinterpret_cast<T*>(out.at(y, 0)), static_cast<const T*>(line), window.width - 1, length,
             [&](int64_t k) { return line + (k + 1) * channels; });
    }
}

}  // namespace

void dilate(const Raster& out, const Raster& in, const Neighborhood& window, Arena& arena) {
    switch (in.dtype) {
        case DType::u8: return extremes(out, in, window, AT_THIS_LEVEL(larger<uint8_t>), arena);
        case DType::u16: return extremes(out, in, window, AT_THIS_LEVEL(larger<uint16_t>), arena);
        case DType::i16: return extremes(out, in, window, AT_THIS_LEVEL(larger<int16_t>), arena);
        default: return extremes(out, in, window, AT_THIS_LEVEL(larger<float>), arena);
    }
}

void erode(const Raster& out, const Raster& in, const Neighborhood& window, Arena& arena) {
    switch (in.dtype) {
        case DType::u8: return extremes(out, in, window, AT_THIS_LEVEL(smaller<uint8_t>), arena);
        case DType::u16: return extremes(out, in, window, AT_THIS_LEVEL(smaller<uint16_t>), arena);
        case DType::i16: return extremes(out, in, window, AT_THIS_LEVEL(smaller<int16_t>), arena);
        default: return extremes(out, in, window, AT_THIS_LEVEL(smaller<float>), arena);
    }
}

}  // namespace pixelmill
