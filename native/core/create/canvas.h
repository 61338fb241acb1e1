// What photo-like images are painted on: three planes of real numbers, surfaces with texture, shapes with soft edges.
#pragma once

#include <cstdint>

#include "scalars.h"
#include "texture.h"

namespace pixelmill {

// Brightness, warm against cold, green against purple. Photographs vary less in the last two.
struct Color {
    float light = 0, warm = 0, green = 0;
};

Color blend(const Color& a, const Color& b, double share_of_b);

// A color, how strongly its brightness and tint vary, and how light falls on it.
struct Surface {
    Color color;
    float smooth = 0, rough = 0, tint = 0;
    float shade_y = 0, shade_x = 0;  // change of brightness per pixel from the center
};

// An ellipse (squarings 1) to nearly a rectangle (3) with a center, half axes and a slant.
struct Blob {
    double y = 0, x = 0, half_height = 1, half_width = 1;
    Direction slant{1, 0};
    int squarings = 1;
    double edge = 1;    // pixels from clear to full
    double wobble = 0;  // how far texture moves the outline, in parts of the size
    double ragged = 0;  // the same by the finer texture, as leaves and fur do
    double opacity = 1;
};

class Canvas {
   public:
    Canvas(int64_t height, int64_t width, const Texture& smooth, const Texture& rough, const Texture& tint,
           Arena& scratch);

    int64_t height, width;
    float *light, *warm, *green;
    Texture smooth, rough, tint;
    float* opacity;  // a row

    // Blends `surface` over columns [left, right) of a row by `opacity`, with texture from (from_y, from_x) on.
    void paint_row(int64_t y, int64_t left, int64_t right, const Surface& surface, double center_y, double center_x,
                   int64_t from_y, int64_t from_x);
    void paint(const Blob& blob, const Surface& surface, Stream& stream);
    void paint_box(double top, double left, double bottom, double right, const Surface& surface, Stream& stream,
                   double opacity = 1);
    // Blurs a row range with a short symmetric kernel, as a lens does.
    void soften(float amount, Arena& scratch);
};

}  // namespace pixelmill
