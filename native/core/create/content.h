// What a made image shows. Pixels depend on the arguments alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "../arena.h"
#include "../view.h"

namespace pixelmill {

enum class Content : uint8_t { noise, photo, shapes, gradient };
std::optional<Content> content_named(std::string_view name);

struct ImageId {
    uint64_t seed = 0, index = 0;
};

// The classes that `shapes` draws, and how many objects an image shows.
struct ShapeClasses {
    int64_t classes = 10;
    int64_t least_objects = 1, most_objects = 1;
};

// A labelled object: the rectangle of its visible pixels, and how many there are.
struct ObjectBox {
    int64_t label = 0, top = 0, left = 0, bottom = 0, right = 0;  // bottom and right are one past the last
    int64_t pixels = 0;
};

// All write packed red, green and blue. `mask`, where it has data, gets 0 for the ground and the label + 1 of the
// object.
void draw_noise(View<uint8_t> out, const ImageId& id);
void draw_noise_rows(View<uint8_t> out, const ImageId& id, int64_t first);  // row `first`, a multiple of 16, and on
void draw_gradient(View<uint8_t> out, const ImageId& id);
void draw_photo(View<uint8_t> out, const ImageId& id, Arena& scratch);
std::vector<ObjectBox> draw_shapes(View<uint8_t> out, View<uint8_t> mask, const ImageId& id, int64_t label,
                                   const ShapeClasses& classes, Arena& scratch);

}  // namespace pixelmill
