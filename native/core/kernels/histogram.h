// Levels spread by how often they occur: over the whole image, or tile by tile with limited contrast. As OpenCV.
#pragma once

#include <cstdint>

#include "../arena.h"
#include "../view.h"

namespace pixelmill {

// Each channel on its own. Any strides; `out` may be `in`.
void equalize(View<uint8_t> out, View<const uint8_t> in);

struct Tiles {
    int64_t down = 8, across = 8;
    float clip_limit = 2;  // how often a level may occur, in parts of the mean of all levels; 0 for no limit
};

// One channel: `channels` of the views is ignored. `out` may be `in`.
void equalize_tiles(View<uint8_t> out, View<const uint8_t> in, const Tiles& tiles, Arena& arena);

}  // namespace pixelmill
