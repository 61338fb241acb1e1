#include <algorithm>
#include <cmath>

#include "scenes.h"

namespace pixelmill {

namespace {

// A thing with its shadow, lit from one side for all things of an image.
void paint_thing(Canvas& canvas, Stream& stream, Blob blob, const Surface& surface, const Direction& lamp) {
    const double size = std::min(blob.half_height, blob.half_width);
    Blob shadow = blob;
    shadow.y -= 0.25 * size * lamp.sine;
    shadow.x -= 0.25 * size * lamp.cosine;
    shadow.edge = 0.35 * size + 1;
    shadow.opacity = 0.55;
    canvas.paint(shadow, Surface{{12, 0, 0}}, stream);
    canvas.paint(blob, surface, stream);
    if (happens(stream, 0.25)) {  // gloss
        Blob gloss = blob;
        gloss.half_height *= 0.25;
        gloss.half_width *= 0.25;
        gloss.y += 0.4 * blob.half_height * lamp.sine;
        gloss.x += 0.4 * blob.half_width * lamp.cosine;
        gloss.edge = 0.3 * size + 1;
        gloss.wobble = gloss.ragged = 0;
        gloss.opacity = stream.uniform(0.2, 0.8);
        canvas.paint(gloss, Surface{{245, 0, 0}}, stream);
    }
}

void paint_stripes(Canvas& canvas, Stream& stream, double top, double left, double bottom, double right, double period,
                   const Surface& surface) {
    for (double y = top + period; y < bottom; y += period) {
        canvas.paint_box(y, left, y + std::max(0.12 * period, 1.0), right, surface, stream, 0.6);
    }
}

void paint_windows(Canvas& canvas, Stream& stream, double top, double left, double bottom, double right) {
    const auto height = static_cast<double>(canvas.height);
    const double tall = height * stream.uniform(0.05, 0.16), wide = tall * stream.uniform(0.5, 1.3);
    const double gap_y = tall * stream.uniform(0.3, 1), gap_x = wide * stream.uniform(0.3, 1);
    const Color glass = blend({40, -15, 0}, any_color(stream, 0.6), 0.4);
    const Surface frame = any_surface(stream, any_color(stream, 0.5), 3);
    for (double y = top + gap_y; y + tall < bottom; y += tall + gap_y) {
        for (double x = left + gap_x; x + wide < right; x += wide + gap_x) {
            const double rim = std::max(0.06 * wide, 1.0);
            canvas.paint_box(y - rim, x - rim, y + tall + rim, x + wide + rim, frame, stream);
            Surface pane = any_surface(stream, blend(glass, {200, -15, 0}, stream.unit() * stream.unit()), 14);
            pane.shade_y = static_cast<float>(stream.uniform(-70, 20) / tall);
            canvas.paint_box(y, x, y + tall, x + wide, pane, stream);
            if (wide > 6)
                canvas.paint_box(y, x + 0.5 * wide - 0.5 * rim, y + tall, x + 0.5 * wide + 0.5 * rim, frame, stream);
        }
    }
}

}  // namespace

void paint_close_up(Canvas& canvas, Stream& stream) {
    const auto height = static_cast<double>(canvas.height), width = static_cast<double>(canvas.width);
    const double extent = std::max(height, width);
    const Color theme = any_color(stream, 1.2);
    const double rough = happens(stream, 0.75) ? 22 : 6;
    Surface ground = any_surface(stream, blend(theme, any_color(stream), 0.6), rough);
    ground.shade_y = static_cast<float>(stream.uniform(-80, 80) / height);
    ground.shade_x = static_cast<float>(stream.uniform(-80, 80) / width);
    canvas.paint_box(0, 0, height, width, ground, stream);
    const int64_t blurred = 3 + stream.below(10);
    for (int64_t i = 0; i < blurred; ++i) {
        Blob blob{stream.uniform(0, height), stream.uniform(0, width), extent * stream.uniform(0.05, 0.3),
                  extent * stream.uniform(0.05, 0.3), direction(stream.unit())};
        blob.edge = 0.12 * extent;
        blob.opacity = stream.uniform(0.4, 1);
        Surface surface{blend(theme, any_color(stream), 0.6)};
        surface.smooth = 4;
        surface.rough = 0.6f * ground.rough;
        canvas.paint(blob, surface, stream);
    }
    const Direction lamp = direction(stream.uniform(0.55, 0.95));  // from above
    const int64_t things = 6 + stream.below(happens(stream, 0.4) ? 14 : 90);
    const double typical = extent * (things < 16 ? 0.05 : 0.025), roughness = varied(stream, 17, 0.4);
    for (int64_t i = 0; i < things; ++i) {
        // Sizes of things follow a power law: few large, many small.
        const double size = std::min(typical / std::sqrt(stream.unit() + 1e-3), 0.32 * extent) + 1;
        Blob blob{stream.uniform(0, height),     stream.uniform(0, width),
                  size * stream.uniform(0.2, 1), size,
                  direction(stream.unit()),      1 + static_cast<int>(stream.below(2))};
        blob.wobble = happens(stream, 0.5) ? stream.uniform(0, 0.35) : 0;
        blob.ragged = happens(stream, 0.4) ? stream.uniform(0, 0.4) : 0;
        blob.edge = stream.uniform(0.8, 2.5);
        const double part = stream.uniform(0.2, 1);
        Surface surface = any_surface(stream, blend(theme, any_color(stream, 1.3), part), roughness);
        const double lit = stream.uniform(20, 60) / std::max(blob.half_height, 2.0);
        surface.shade_y = static_cast<float>(lit * lamp.sine);
        surface.shade_x = static_cast<float>(lit * lamp.cosine);
        paint_thing(canvas, stream, blob, surface, lamp);
    }
}

void paint_street(Canvas& canvas, Stream& stream) {
    const auto height = static_cast<double>(canvas.height), width = static_cast<double>(canvas.width);
    const double foot = height * stream.uniform(0.65, 0.95);
    Color haze;
    paint_sky(canvas, stream, foot, &haze);
    for (double left = -0.1 * width; left < width;) {
        const double right = left + width * stream.uniform(0.2, 0.7), top = height * stream.uniform(-0.3, 0.45);
        Surface wall = any_surface(stream, blend(any_color(stream, 0.7), {150, 15, 0}, 0.3), 9);
        wall.shade_x = static_cast<float>(stream.uniform(-40, 40) / width);
        canvas.paint_box(top, left, foot, right, wall, stream);
        if (happens(stream, 0.5)) {
            Surface lines = wall;
            lines.color.light *= 0.7f;
            paint_stripes(canvas, stream, top, left, foot, right, height * stream.uniform(0.015, 0.06), lines);
        }
        paint_windows(canvas, stream, top, left, foot, right);
        left = right;
    }
    Surface road = any_surface(stream, any_color(stream, 0.3), 14);
    road.shade_y = static_cast<float>(stream.uniform(-60, 60) / height);
    canvas.paint_box(foot, 0, height, width, road, stream);
    const int64_t things = 2 + stream.below(8);
    for (int64_t i = 0; i < things; ++i) {
        const double size = height * stream.uniform(0.03, 0.16), y = foot + stream.uniform(-0.5, 1) * size;
        Blob blob{y, stream.uniform(0, width), size, size * stream.uniform(0.3, 2), {1, 0}, 2};
        Surface surface = any_surface(stream, any_color(stream, 1.4), 8);
        surface.shade_y = static_cast<float>(-50 / size);
        paint_thing(canvas, stream, blob, surface, {-0.5, -0.85});
    }
}

}  // namespace pixelmill
