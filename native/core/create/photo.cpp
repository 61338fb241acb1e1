#include <algorithm>
#include <cmath>

#include "canvas.h"
#include "content.h"
#include "scenes.h"
#include "streams.h"

namespace pixelmill {

namespace {

// Lens and sensor: blur, corners that are darker, exposure, noise that dark parts show less of, eight bits.
void develop(View<uint8_t> out, Canvas& canvas, Stream& stream, const StreamId& sensor, Arena& scratch) {
    if (happens(stream, 0.4)) canvas.soften(static_cast<float>(stream.uniform(0.04, 0.14)), scratch);
    const auto exposure = static_cast<float>(varied(stream, 1.15, 0.18));
    const auto black = static_cast<float>(stream.uniform(-36, 4));
    const auto vignette = static_cast<float>(stream.uniform(0, 0.35));
    const auto grain = static_cast<float>(std::min(varied(stream, 1.3, 0.5), 6.0));
    auto* noise = scratch.take<float>(static_cast<size_t>(2 * out.width + 16));
    const float half_y = 0.5f * static_cast<float>(out.height), half_x = 0.5f * static_cast<float>(out.width);
    uint32_t block = 0;
    for (int64_t y = 0; y < out.height; ++y) {
        block = white_noise(noise, 2 * out.width, sensor, block);
        const float *light = canvas.light + y * out.width, *warm = canvas.warm + y * out.width;
        const float *green = canvas.green + y * out.width, *colors = noise + out.width;
        const float dy = (static_cast<float>(y) - half_y) / half_y;
        uint8_t* to = out.at(y, 0);
        for (int64_t x = 0; x < out.width; ++x, to += 3) {
            const float dx = (static_cast<float>(x) - half_x) / half_x;
            const float falloff = exposure * (1.0f - vignette * 0.5f * (dx * dx + dy * dy));
            const float value = black + falloff * light[x];
            const float shown = value + grain * (0.5f + 0.004f * std::clamp(value, 0.0f, 255.0f)) * noise[x] + 0.5f;
            const float a = warm[x] * falloff + 0.5f * grain * colors[x], b = green[x] * falloff;
            to[0] = static_cast<uint8_t>(std::clamp(shown + 0.6f * a - 0.3f * b, 0.0f, 255.0f));
            to[1] = static_cast<uint8_t>(std::clamp(shown + 0.3f * b, 0.0f, 255.0f));
            to[2] = static_cast<uint8_t>(std::clamp(shown - 0.8f * a - 0.3f * b, 0.0f, 255.0f));
        }
    }
}

}  // namespace

void draw_photo(View<uint8_t> out, const ImageId& id, Arena& scratch) {
    Stream stream = stream_for(Content::photo, id, Purpose::choices);
    const auto texture = [&](Purpose purpose, double gain) {
        return make_texture(out.height, out.width, bulk_stream(Content::photo, id, purpose), gain, scratch);
    };
    const Texture smooth = texture(Purpose::smooth, stream.uniform(0.45, 0.6));
    const Texture rough = texture(Purpose::rough, stream.uniform(0.95, 1.25));
    Canvas canvas(out.height, out.width, smooth, rough, texture(Purpose::tint, 0.7), scratch);
    const double scene = stream.unit();
    if (scene < 0.4) {
        paint_landscape(canvas, stream);
    } else if (scene < 0.8) {
        paint_close_up(canvas, stream);
    } else {
        paint_street(canvas, stream);
    }
    develop(out, canvas, stream, bulk_stream(Content::photo, id, Purpose::sensor), scratch);
}

}  // namespace pixelmill
