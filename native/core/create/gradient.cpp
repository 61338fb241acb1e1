#include <array>

#include "content.h"
#include "scalars.h"
#include "streams.h"

namespace pixelmill {

// Four corners of random colors, blended, and a soft light on them.
void draw_gradient(View<uint8_t> out, const ImageId& id) {
    Stream stream = stream_for(Content::gradient, id, Purpose::choices);
    std::array<float, 12> corner;
    for (float& color : corner) color = static_cast<float>(stream.uniform(0, 255));
    const auto light_y = static_cast<float>(stream.unit()), light_x = static_cast<float>(stream.unit());
    const auto light = static_cast<float>(stream.uniform(-90, 90));
    const float step_y = 1.0f / static_cast<float>(std::max<int64_t>(out.height - 1, 1));
    const float step_x = 1.0f / static_cast<float>(std::max<int64_t>(out.width - 1, 1));
    for (int64_t row = 0; row < out.height; ++row) {
        const float y = static_cast<float>(row) * step_y, from_light = (y - light_y) * (y - light_y);
        float left[3], slope[3];
        for (int c = 0; c < 3; ++c) {
            left[c] = corner[c] + (corner[6 + c] - corner[c]) * y + 0.5f;
            slope[c] = corner[3 + c] + (corner[9 + c] - corner[3 + c]) * y + 0.5f - left[c];
        }
        uint8_t* to = out.at(row, 0);
        for (int64_t column = 0; column < out.width; ++column, to += 3) {
            const float x = static_cast<float>(column) * step_x;
            const float lit = light * (1.0f - 2.0f * (from_light + (x - light_x) * (x - light_x)));
            for (int c = 0; c < 3; ++c) {
                to[c] = static_cast<uint8_t>(std::clamp(left[c] + slope[c] * x + lit, 0.0f, 255.0f));
            }
        }
    }
}

}  // namespace pixelmill
