#include "scenes.h"

#include <algorithm>
#include <cmath>

namespace pixelmill {

Color any_color(Stream& stream, double tint) {
    const auto light = static_cast<float>(stream.uniform(25, 215));
    const auto warm = static_cast<float>(tint * (28 * bell(stream) + 12)),
               green = static_cast<float>(tint * 20 * bell(stream));
    return {light, warm, green};
}

// Many surfaces are nearly smooth, few are rough.
Surface any_surface(Stream& stream, const Color& color, double roughness) {
    Surface surface{color};
    const double strength = std::min(varied(stream, 1.6 * roughness, 0.6), 42.0), fine = stream.uniform(0.3, 1);
    surface.rough = static_cast<float>(strength * fine);
    surface.smooth = static_cast<float>(strength * (1.2 - fine));
    surface.tint = static_cast<float>(0.25 * strength);
    return surface;
}

void paint_sky(Canvas& canvas, Stream& stream, double horizon, Color* at_horizon) {
    const double evening = stream.unit() * stream.unit();
    const Color top{static_cast<float>(stream.uniform(90, 190) * (1 - 0.4 * evening)),
                    static_cast<float>(stream.uniform(-75, -15) * (1 - evening)),
                    static_cast<float>(stream.uniform(-8, 8))};
    const Color low{static_cast<float>(stream.uniform(180, 240)), static_cast<float>(top.warm * 0.3 + 90 * evening),
                    static_cast<float>(-10 * evening)};
    const Color cloud{static_cast<float>(stream.uniform(205, 250)), static_cast<float>(25 * evening), 0};
    const auto cover = static_cast<float>(stream.uniform(-1.8, 0.9)),
               crisp = static_cast<float>(stream.uniform(0.5, 1.3));
    for (int64_t y = 0; y < canvas.height; ++y) {
        const Color sky = blend(top, low, std::min(static_cast<double>(y) / std::max(horizon, 1.0), 1.0));
        float *light = canvas.light + y * canvas.width, *warm = canvas.warm + y * canvas.width;
        float* green = canvas.green + y * canvas.width;
        const float *coarse = canvas.smooth.row(y), *fine = canvas.rough.row(y);
        for (int64_t x = 0; x < canvas.width; ++x) {
            const float a = std::clamp((coarse[x] + cover + 0.12f * fine[x]) * crisp, 0.0f, 1.0f);
            const float body = cloud.light - 22.0f * std::max(coarse[x], 0.0f);
            light[x] = sky.light + a * (body - sky.light);
            warm[x] = sky.warm + a * (cloud.warm - sky.warm);
            green[x] = sky.green + a * (cloud.green - sky.green);
        }
    }
    *at_horizon = low;
}

namespace {

// A layer of hills: everything below a line that the texture draws, lit from the side.
void paint_ridge(Canvas& canvas, Stream& stream, double base, double amplitude, double spikes, const Surface& surface) {
    const int64_t line = stream.below(canvas.height), from_x = 0;
    const float *coarse = canvas.smooth.row(line), *fine = canvas.rough.row(line);
    const auto relief = static_cast<float>(stream.uniform(-1, 1) * 1.5 * surface.rough);
    for (int64_t y = std::max<int64_t>(static_cast<int64_t>(base - 4 * amplitude), 0); y < canvas.height; ++y) {
        for (int64_t x = 0; x < canvas.width; ++x) {
            const auto height = static_cast<float>(base - amplitude * coarse[x] - spikes * fine[x]);
            canvas.opacity[x] = std::clamp(static_cast<float>(y) - height + 0.5f, 0.0f, 1.0f);
        }
        canvas.paint_row(y, 0, canvas.width, surface, base, 0.5 * static_cast<double>(canvas.width), y, from_x);
        const float* at = canvas.smooth.row(y);
        float* light = canvas.light + y * canvas.width;
        for (int64_t x = 2; x + 2 < canvas.width; ++x)
            light[x] += canvas.opacity[x] * relief * (at[x + 2] - at[x - 2]) * 4;
    }
}

// A floor seen at a slant: texture grows towards the viewer.
void paint_floor(Canvas& canvas, Stream& stream, double horizon, const Surface& surface) {
    const double depth = static_cast<double>(canvas.height) - horizon;
    const auto first = std::max<int64_t>(static_cast<int64_t>(std::ceil(horizon)), 0);
    const int64_t shift = stream.below(canvas.height);
    for (int64_t y = first; y < canvas.height; ++y) {
        const double near = (static_cast<double>(y) - horizon + 1) / (depth + 1), stretch = 0.25 + 1.5 * near;
        const auto v = static_cast<int64_t>(static_cast<double>(canvas.height) / (0.15 + near)) + shift + y / 2;
        const int64_t from = v % canvas.height;
        const float *fine = canvas.rough.row(from), *coarse = canvas.smooth.row(y), *colors = canvas.tint.row(from);
        float *light = canvas.light + y * canvas.width, *warm = canvas.warm + y * canvas.width;
        float* green = canvas.green + y * canvas.width;
        const auto strength = static_cast<float>((0.35 + near) * surface.rough);
        const auto step = static_cast<float>(1 / stretch);
        const float base = surface.color.light + surface.shade_y * static_cast<float>(static_cast<double>(y) - horizon);
        for (int64_t x = 0; x < canvas.width; ++x) {
            const int64_t i = static_cast<int64_t>(static_cast<float>(x) * step) % canvas.width;
            light[x] = base + strength * fine[i] + surface.smooth * coarse[x];
            warm[x] = surface.color.warm + surface.tint * colors[i];
            green[x] = surface.color.green - 0.4f * surface.tint * colors[i];
        }
    }
}

// The scene above the shore, upside down, darker, broken by waves.
void paint_water(Canvas& canvas, Stream& stream, double shore) {
    const auto first = std::clamp<int64_t>(static_cast<int64_t>(shore), 1, canvas.height);
    const auto waves = static_cast<float>(stream.uniform(1, 7)), glance = static_cast<float>(stream.uniform(0.55, 0.9));
    const auto ripple = static_cast<float>(stream.uniform(2, 12));
    for (int64_t y = first; y < canvas.height; ++y) {
        const float *coarse = canvas.smooth.row(y), *fine = canvas.rough.row(y);
        const double near = static_cast<double>(y - first) / static_cast<double>(canvas.height);
        for (int64_t x = 0; x < canvas.width; ++x) {
            const float moved = waves * fine[x] * static_cast<float>(0.3 + 2 * near);
            const int64_t from_y = std::clamp<int64_t>(2 * first - y - 1 + static_cast<int64_t>(moved), 0, first - 1);
            const int64_t to = y * canvas.width + x, from = from_y * canvas.width + x;
            canvas.light[to] =
                canvas.light[from] * glance + ripple * fine[x] * static_cast<float>(0.3 + near) - 4 * coarse[x];
            canvas.warm[to] = canvas.warm[from] * 0.8f - 8;
            canvas.green[to] = canvas.green[from] * 0.8f + 3;
        }
    }
}

void paint_bush(Canvas& canvas, Stream& stream, double y, double x, double size, const Color& leaves) {
    const Blob shadow{
        y + 0.75 * size, x + 0.5 * size, 0.35 * size, 1.3 * size, {1, 0}, 1, 0.25 * size + 1, 0.1, 0, 0.5};
    canvas.paint(shadow, Surface{{15, 0, 0}}, stream);
    Surface surface = any_surface(stream, leaves, 22);
    surface.rough = std::max(surface.rough, 22.0f);
    surface.shade_y = static_cast<float>(-45 / size);
    surface.shade_x = static_cast<float>(-25 / size);
    const int64_t parts = 1 + stream.below(4);
    for (int64_t i = 0; i < parts; ++i) {
        Blob blob{y + 0.3 * size * bell(stream), x + 0.5 * size * bell(stream), 0.8 * size,
                  size * stream.uniform(0.5, 1.1)};
        blob.wobble = stream.uniform(0.15, 0.4);
        blob.ragged = stream.uniform(0.1, 0.45);
        canvas.paint(blob, surface, stream);
    }
}

void paint_trunk(Canvas& canvas, Stream& stream, double foot, double x, double size, const Color& leaves) {
    Surface bark = any_surface(stream, {static_cast<float>(stream.uniform(30, 100)), 18, 0}, 12);
    bark.shade_x = static_cast<float>(-300 / size);
    canvas.paint_box(foot - 2.2 * size, x - 0.07 * size, foot, x + 0.07 * size, bark, stream);
    for (int i = 0; i < 4; ++i) {
        paint_bush(canvas, stream, foot - (1.4 + 0.4 * i) * size, x + 0.3 * size * bell(stream), 0.55 * size, leaves);
    }
}

}  // namespace

void paint_landscape(Canvas& canvas, Stream& stream) {
    const auto height = static_cast<double>(canvas.height), width = static_cast<double>(canvas.width);
    const double horizon = height * stream.uniform(0.08, 0.55);
    Color haze;
    paint_sky(canvas, stream, horizon, &haze);
    const Color land{static_cast<float>(stream.uniform(40, 120)), static_cast<float>(stream.uniform(-10, 35)),
                     static_cast<float>(stream.uniform(-5, 45))};
    const int64_t ridges = stream.below(4);
    for (int64_t i = 0; i < ridges; ++i) {
        const double near = static_cast<double>(i + 1) / static_cast<double>(ridges + 1);
        Surface hills = any_surface(stream, blend(haze, land, 0.3 + 0.6 * near), 14 * near + 2);
        hills.shade_y = static_cast<float>(10 * bell(stream) / height);
        const double rough = stream.uniform(0, 0.012) * height, high = height * stream.uniform(0.01, 0.07);
        paint_ridge(canvas, stream, horizon - height * 0.12 * (1 - near), high, rough, hills);
    }
    const bool water = happens(stream, 0.3);
    if (water) {
        paint_water(canvas, stream, horizon);
    } else {
        Surface ground = any_surface(stream, blend(land, any_color(stream, 0.7), 0.5), 24);
        ground.rough = std::max(ground.rough, 16.0f);
        ground.shade_y = static_cast<float>(stream.uniform(-50, 50) / height);
        paint_floor(canvas, stream, horizon, ground);
    }
    const Color leaves{static_cast<float>(stream.uniform(45, 110)), static_cast<float>(stream.uniform(0, 30)),
                       static_cast<float>(stream.uniform(10, 60))};
    const int64_t things = 2 + stream.below(water ? 5 : 26);
    double foot = horizon;
    for (int64_t i = 0; i < things; ++i) {
        foot += (height - foot) * stream.uniform(0, 0.25);
        const double size = (0.02 + 0.3 * (foot - horizon) / height) * height * stream.uniform(0.4, 1.3) + 1;
        const double part = stream.uniform(0, 0.35);
        const Color other = any_color(stream);
        const Color shown = blend(leaves, other, part);
        const double x = stream.uniform(0, width);
        if (happens(stream, 0.2)) {
            paint_trunk(canvas, stream, foot, x, size, shown);
        } else {
            paint_bush(canvas, stream, foot - 0.4 * size, x, size, shown);
        }
    }
}

}  // namespace pixelmill
