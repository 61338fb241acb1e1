// An image in memory that the caller owns. Kernels see nothing but views.
#pragma once

#include <cstdint>

namespace pixelmill {

// Strides are counted in elements and may be negative (a flip) or wider than the data (a crop, RGBX pixels).
template <class T>
struct View {
    T* data = nullptr;
    int64_t height = 0, width = 0, channels = 0;
    int64_t row = 0, pixel = 0, channel = 0;

    T* at(int64_t y, int64_t x) const { return data + y * row + x * pixel; }
    operator View<const T>() const { return {data, height, width, channels, row, pixel, channel}; }
};

// A rectangle of pixels.
struct Window {
    int64_t y = 0, x = 0, height = 0, width = 0;
    friend bool operator==(const Window&, const Window&) = default;
};

}  // namespace pixelmill
