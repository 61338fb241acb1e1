#include "canvas.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pixelmill {

namespace {

int64_t whole(double x) { return static_cast<int64_t>(std::floor(x)); }

// Where the texture of a part starts, so that the part lies within it.
int64_t start_of(Stream& stream, int64_t extent, int64_t part) { return stream.below(extent - part + 1); }

void soften_rows(float* plane, float* row, int64_t height, int64_t width, float side) {
    const float middle = 1 - 2 * side;
    for (int64_t y = 0; y < height; ++y) {
        float* at = plane + y * width;
        std::memcpy(row, at, static_cast<size_t>(width) * sizeof(float));
        for (int64_t x = 1; x + 1 < width; ++x) at[x] = middle * row[x] + side * (row[x - 1] + row[x + 1]);
    }
}

void soften_columns(float* plane, float* above, float* here, int64_t height, int64_t width, float side) {
    const float middle = 1 - 2 * side;
    const size_t bytes = static_cast<size_t>(width) * sizeof(float);
    std::memcpy(above, plane, bytes);
    for (int64_t y = 1; y + 1 < height; ++y) {
        float* at = plane + y * width;
        std::memcpy(here, at, bytes);
        const float* below = at + width;
        for (int64_t x = 0; x < width; ++x) at[x] = middle * here[x] + side * (above[x] + below[x]);
        std::swap(above, here);
    }
}

}  // namespace

Color blend(const Color& a, const Color& b, double share_of_b) {
    const auto t = static_cast<float>(share_of_b);
    return {a.light + (b.light - a.light) * t, a.warm + (b.warm - a.warm) * t, a.green + (b.green - a.green) * t};
}

Canvas::Canvas(int64_t height, int64_t width, const Texture& smooth, const Texture& rough, const Texture& tint,
               Arena& scratch)
    : height(height), width(width), smooth(smooth), rough(rough), tint(tint) {
    const auto pixels = static_cast<size_t>(height * width);
    for (float** plane : {&light, &warm, &green}) {
        *plane = scratch.take<float>(pixels);
        std::memset(*plane, 0, pixels * sizeof(float));
    }
    opacity = scratch.take<float>(static_cast<size_t>(width));
}

void Canvas::paint_row(int64_t y, int64_t left, int64_t right, const Surface& surface, double center_y, double center_x,
                       int64_t from_y, int64_t from_x) {
    const float* a = opacity;
    const float *fine = rough.row(from_y) + from_x, *coarse = smooth.row(from_y) + from_x;
    const float* colors = tint.row(from_y) + from_x;
    float *to_light = light + y * width, *to_warm = warm + y * width, *to_green = green + y * width;
    const auto x_light = static_cast<float>(surface.shade_x);
    const float base = surface.color.light + surface.shade_y * static_cast<float>(static_cast<double>(y) - center_y);
    const auto from_center = static_cast<float>(center_x);
    for (int64_t x = left; x < right; ++x) {
        const int64_t i = x - left;
        const float lit = base + x_light * (static_cast<float>(x) - from_center) + surface.rough * fine[i] +
                          surface.smooth * coarse[i];
        to_light[x] += a[x] * (lit - to_light[x]);
        to_warm[x] += a[x] * (surface.color.warm + surface.tint * colors[i] - to_warm[x]);
        to_green[x] += a[x] * (surface.color.green - 0.4f * surface.tint * colors[i] - to_green[x]);
    }
}

void Canvas::paint(const Blob& blob, const Surface& surface, Stream& stream) {
    const double reach =
        1.2 * std::max(blob.half_height, blob.half_width) * (1 + blob.wobble + blob.ragged) + blob.edge + 1;
    const int64_t top = std::clamp<int64_t>(whole(blob.y - reach), 0, height);
    const int64_t bottom = std::clamp<int64_t>(whole(blob.y + reach) + 1, 0, height);
    const int64_t left = std::clamp<int64_t>(whole(blob.x - reach), 0, width);
    const int64_t right = std::clamp<int64_t>(whole(blob.x + reach) + 1, 0, width);
    if (top >= bottom || left >= right) return;
    const int64_t from_y = start_of(stream, height, bottom - top), from_x = start_of(stream, width, right - left);
    const double squeeze = 1 << (blob.squarings - 1);
    const auto sharpness = static_cast<float>(std::min(blob.half_height, blob.half_width) / (2 * squeeze * blob.edge));
    const auto cosine = static_cast<float>(blob.slant.cosine), sine = static_cast<float>(blob.slant.sine);
    const auto per_width = static_cast<float>(1 / blob.half_width),
               per_height = static_cast<float>(1 / blob.half_height);
    const auto most = static_cast<float>(blob.opacity), wobble = static_cast<float>(blob.wobble);
    const auto ragged = static_cast<float>(blob.ragged);
    for (int64_t y = top; y < bottom; ++y) {
        const auto dy = static_cast<float>(static_cast<double>(y) - blob.y);
        const float *coarse = smooth.row(from_y + y - top) + from_x, *fine = rough.row(from_y + y - top) + from_x;
        float highest = 0;
        for (int64_t x = left; x < right; ++x) {
            const auto dx = static_cast<float>(static_cast<double>(x) - blob.x);
            float along = (dx * cosine + dy * sine) * per_width, across = (dy * cosine - dx * sine) * per_height;
            for (int i = 0; i < blob.squarings; ++i) along *= along, across *= across;
            const float inside =
                (1.0f - along - across + wobble * coarse[x - left] + ragged * fine[x - left]) * sharpness + 0.5f;
            opacity[x] = most * std::clamp(inside, 0.0f, 1.0f);
            highest = std::max(highest, opacity[x]);
        }
        if (highest > 0) paint_row(y, left, right, surface, blob.y, blob.x, from_y + y - top, from_x);
    }
}

void Canvas::paint_box(double top, double left, double bottom, double right, const Surface& surface, Stream& stream,
                       double most) {
    const int64_t y0 = std::clamp<int64_t>(whole(top), 0, height),
                  y1 = std::clamp<int64_t>(whole(bottom) + 1, 0, height);
    const int64_t x0 = std::clamp<int64_t>(whole(left), 0, width), x1 = std::clamp<int64_t>(whole(right) + 1, 0, width);
    if (y0 >= y1 || x0 >= x1) return;
    const int64_t from_y = start_of(stream, height, y1 - y0), from_x = start_of(stream, width, x1 - x0);
    for (int64_t y = y0; y < y1; ++y) {
        const auto row = static_cast<double>(y);
        const double covered = std::clamp(std::min(row + 1, bottom) - std::max(row, top), 0.0, 1.0) * most;
        for (int64_t x = x0; x < x1; ++x) {
            const auto column = static_cast<double>(x);
            const double here = std::clamp(std::min(column + 1, right) - std::max(column, left), 0.0, 1.0);
            opacity[x] = static_cast<float>(covered * here);
        }
        paint_row(y, x0, x1, surface, (top + bottom) / 2, (left + right) / 2, from_y + y - y0, from_x);
    }
}

void Canvas::soften(float amount, Arena& scratch) {
    auto* spare = scratch.take<float>(static_cast<size_t>(width));
    for (float* plane : {light, warm, green}) {
        soften_rows(plane, opacity, height, width, amount);
        soften_columns(plane, opacity, spare, height, width, amount);
    }
}

}  // namespace pixelmill
