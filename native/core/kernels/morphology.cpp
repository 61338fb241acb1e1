#include "morphology.h"

#include <algorithm>
#include <limits>

namespace pixelmill {

namespace {

template <class T>
struct Larger {
    static T neutral() { return std::numeric_limits<T>::lowest(); }
    static T of(T a, T b) { return a < b ? b : a; }
};

template <class T>
struct Smaller {
    static T neutral() { return std::numeric_limits<T>::max(); }
    static T of(T a, T b) { return b < a ? b : a; }
};

// A rectangle is a row of a column: extremes down the columns first, then along each row. Both passes combine whole
// rows element by element, which compilers vectorize, so a window of n x m costs n + m passes over memory in cache.
template <class T, template <class> class Extreme>
void extremes(const Raster& out, const Raster& in, const Neighborhood& window, Arena& arena) {
    const int64_t channels = in.channels, length = in.width * channels;
    const int64_t padded = length + (window.width - 1) * channels;
    T* line = arena.take<T>(static_cast<size_t>(padded));
    for (int64_t y = 0; y < out.height; ++y) {
        T* middle = line + window.anchor_x * channels;
        std::fill_n(middle, length, Extreme<T>::neutral());
        for (int64_t k = 0; k < window.height; ++k) {
            const int64_t row = border_index(y + k - window.anchor_y, in.height, window.border);
            if (row < 0) continue;
            const T* from = reinterpret_cast<const T*>(in.data) + row * in.row;
            for (int64_t i = 0; i < length; ++i) middle[i] = Extreme<T>::of(middle[i], from[i]);
        }
        const auto extend = [&](int64_t column) {
            const int64_t source = border_index(column, in.width, window.border);
            for (int64_t c = 0; c < channels; ++c) {
                middle[column * channels + c] = source < 0 ? Extreme<T>::neutral() : middle[source * channels + c];
            }
        };
        for (int64_t column = -window.anchor_x; column < 0; ++column) extend(column);
        for (int64_t column = in.width; column < in.width + window.width - 1 - window.anchor_x; ++column)
            extend(column);
        T* to = reinterpret_cast<T*>(out.at(y, 0));
        std::copy_n(line, length, to);
        for (int64_t k = 1; k < window.width; ++k) {
            const T* from = line + k * channels;
            for (int64_t i = 0; i < length; ++i) to[i] = Extreme<T>::of(to[i], from[i]);
        }
    }
}

template <template <class> class Extreme>
void with_element_type(const Raster& out, const Raster& in, const Neighborhood& window, Arena& arena) {
    switch (in.dtype) {
        case DType::u8: return extremes<uint8_t, Extreme>(out, in, window, arena);
        case DType::u16: return extremes<uint16_t, Extreme>(out, in, window, arena);
        case DType::i16: return extremes<int16_t, Extreme>(out, in, window, arena);
        default: return extremes<float, Extreme>(out, in, window, arena);
    }
}

}  // namespace

void dilate(const Raster& out, const Raster& in, const Neighborhood& neighborhood, Arena& arena) {
    with_element_type<Larger>(out, in, neighborhood, arena);
}

void erode(const Raster& out, const Raster& in, const Neighborhood& neighborhood, Arena& arena) {
    with_element_type<Smaller>(out, in, neighborhood, arena);
}

}  // namespace pixelmill
