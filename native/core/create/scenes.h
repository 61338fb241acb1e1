// The scenes of photo-like images. Each covers the whole canvas.
#pragma once

#include "canvas.h"

namespace pixelmill {

void paint_landscape(Canvas& canvas, Stream& stream);  // sky, ridges behind each other, ground or water, bushes
void paint_close_up(Canvas& canvas, Stream& stream);   // things that hide each other before a blurred ground
void paint_street(Canvas& canvas, Stream& stream);     // walls with windows under a sky

// What the scenes share.
Color any_color(Stream& stream, double tint = 1);
Surface any_surface(Stream& stream, const Color& color, double roughness);
void paint_sky(Canvas& canvas, Stream& stream, double horizon, Color* at_horizon);

}  // namespace pixelmill
