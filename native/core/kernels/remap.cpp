#include "remap.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../platform/compiler.h"
#include "convert.h"
#include "places.h"
#include "simd.h"

namespace pixelmill {

namespace {

// Rows of packed pixels of three values.
template <class T>
struct PixelRows3 {
    const T* data;
    int64_t height, width, row;
};

struct LinearThrees {
    int64_t (*bytes)(uint8_t* out, const PixelRows3<uint8_t>& in, const float* x, const float* y, int64_t count);
    int64_t (*floats)(float* out, const PixelRows3<float>& in, const float* x, const float* y, int64_t count);
};

}  // namespace

#define KERNELS "remap.inl"
#include "both_levels.inl"

namespace {

template <class T>
int64_t linear_threes(T* out, const PixelRows3<T>& in, const float* x, const float* y, int64_t count) {
    const LinearThrees& loops = AT_THIS_LEVEL(linear_loops);
    if constexpr (std::is_same_v<T, uint8_t>) return loops.bytes(out, in, x, y, count);
    if constexpr (std::is_same_v<T, float>) return loops.floats(out, in, x, y, count);
    return 0;
}

// Places beyond this are as good as infinitely far away, and fit an int; NaN counts as such too.
float bounded(float place) { return place > -1e9f ? std::min(place, 1e9f) : -1e9f; }

// The four weights of cubic convolution with the parameter -0.75, which is what OpenCV and DALI use.
std::array<float, 4> cubic_weights(float t) {
    constexpr float a = -0.75f;
    const auto near = [](float d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
    const auto far = [](float d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
    return {far(t + 1), near(t), near(1 - t), far(2 - t)};
}

template <class T>
class PixelSource {
   public:
    PixelSource(const Raster& in, const PlaceSampling& sampling, Arena& arena)
        : in_(in), sampling_(sampling), fill_(arena.take<T>(static_cast<size_t>(in.channels))) {
        bool black = true;
        for (int64_t c = 0; c < in.channels; ++c) {
            fill_[c] = sampling.fill ? convert<T>(sampling.fill[c]) : T{};
            black &= fill_[c] == 0;
        }
        // Sums of shares of a float are not always that float.
        const bool exact = std::is_integral_v<T> || black;
        fills_ = exact && sampling.border == Border::constant && sampling.interpolation == Interpolation::linear;
    }

    void sample(T* out, float x, float y) const {
        if (fills_ && lost(x, y)) return copy_pixel(out, fill_);
        switch (sampling_.interpolation) {
            case Interpolation::nearest: return nearest(out, x, y);
            case Interpolation::linear: return linear(out, x, y);
            case Interpolation::cubic: return cubic(out, x, y);
        }
    }

   private:
    // Whether none of the four pixels around a place is one of the image.
    bool lost(float x, float y) const {
        return x < -1 || x >= static_cast<float>(in_.width) || y < -1 || y >= static_cast<float>(in_.height);
    }

    void copy_pixel(T* out, const T* from) const {
        for (int64_t c = 0; c < in_.channels; ++c) out[c] = from[c];
    }

    // The pixel at a place that may be outside of the image.
    const T* at(int64_t y, int64_t x) const {
        if (y < 0 || y >= in_.height) y = border_index(y, in_.height, sampling_.border);
        if (x < 0 || x >= in_.width) x = border_index(x, in_.width, sampling_.border);
        return y < 0 || x < 0 ? fill_ : reinterpret_cast<const T*>(in_.data) + y * in_.row + x * in_.pixel;
    }

    void nearest(T* out, float x, float y) const {
        const T* from = at(static_cast<int64_t>(std::nearbyint(y)), static_cast<int64_t>(std::nearbyint(x)));
        copy_pixel(out, from);
    }

    void linear(T* out, float x, float y) const {
        const float left = std::floor(x), top = std::floor(y), across = x - left, down = y - top;
        const auto column = static_cast<int64_t>(left), row = static_cast<int64_t>(top);
        const T *a = at(row, column), *b = at(row, column + 1), *c = at(row + 1, column), *d = at(row + 1, column + 1);
        for (int64_t i = 0; i < in_.channels; ++i) {
            const float above = static_cast<float>(a[i]) * (1 - across) + static_cast<float>(b[i]) * across;
            const float below = static_cast<float>(c[i]) * (1 - across) + static_cast<float>(d[i]) * across;
            out[i] = convert<T>(above * (1 - down) + below * down);
        }
    }

    void cubic(T* out, float x, float y) const {
        const float left = std::floor(x), top = std::floor(y);
        const auto column = static_cast<int64_t>(left) - 1, row = static_cast<int64_t>(top) - 1;
        const auto across = cubic_weights(x - left), down = cubic_weights(y - top);
        const T* pixels[4][4];
        for (int r = 0; r < 4; ++r) {
            for (int k = 0; k < 4; ++k) pixels[r][k] = at(row + r, column + k);
        }
        for (int64_t i = 0; i < in_.channels; ++i) {
            float sum = 0;
            for (int r = 0; r < 4; ++r) {
                float line = 0;
                for (int k = 0; k < 4; ++k) line += across[k] * static_cast<float>(pixels[r][k][i]);
                sum += down[r] * line;
            }
            out[i] = convert<T>(sum);
        }
    }

    const Raster& in_;
    const PlaceSampling& sampling_;
    T* fill_;
    bool fills_ = false;  // what is taken from far outside is `fill_`
};

template <class T>
void remap_as(const Raster& out, const Raster& in, const SourcePlaces& places, const PlaceSampling& sampling,
              Arena& arena) {
    const PixelSource<T> source(in, sampling, arena);
    const auto width = static_cast<size_t>(out.width);
    auto *x = arena.take<float>(width), *y = arena.take<float>(width);
    const bool threes = sampling.interpolation == Interpolation::linear && in.channels == 3 && in.pixel == 3;
    const PixelRows3<T> rows{reinterpret_cast<const T*>(in.data), in.height, in.width, in.row};
    for (int64_t row = 0; row < out.height; ++row) {
        places.row(x, y, row, out.width);
        auto* to = reinterpret_cast<T*>(out.at(row, 0));
        for (int64_t i = 0; i < out.width;) {
            if (threes) i += linear_threes(to + 3 * i, rows, x + i, y + i, out.width - i);
            for (const int64_t end = std::min<int64_t>(i + 8, out.width); i < end; ++i)
                source.sample(to + i * out.channels, bounded(x[i]), bounded(y[i]));
        }
    }
}

}  // namespace

void Perspective::row(float* x, float* y, int64_t at, int64_t width) const {
    place_passes().project_row(x, y, matrix_.data(), at, width);
}

void PlaceMaps::row(float* x, float* y, int64_t at, int64_t width) const {
    for (int64_t i = 0; i < width; ++i) {
        x[i] = x_[at * width + i] + shift_;
        y[i] = y_[at * width + i] + shift_;
    }
}

void remap(const Raster& out, const Raster& in, const SourcePlaces& places, const PlaceSampling& sampling,
           Arena& arena) {
    switch (in.dtype) {
        case DType::u8: return remap_as<uint8_t>(out, in, places, sampling, arena);
        case DType::i16: return remap_as<int16_t>(out, in, places, sampling, arena);
        case DType::u16: return remap_as<uint16_t>(out, in, places, sampling, arena);
        default: return remap_as<float>(out, in, places, sampling, arena);
    }
}

}  // namespace pixelmill
