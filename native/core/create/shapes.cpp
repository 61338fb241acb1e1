#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "content.h"
#include "scalars.h"
#include "streams.h"
#include "texture.h"

namespace pixelmill {

namespace {

using Rgb = std::array<float, 3>;

// Outlines in a frame from -1 to 1; none is another one turned or stretched.
bool in_disc(double u, double v) { return u * u + v * v <= 0.81; }
bool in_square(double u, double v) { return std::abs(u) <= 0.75 && std::abs(v) <= 0.75; }
bool in_triangle(double u, double v) { return v <= 0.5 && 1.7320508075688772 * std::abs(u) - v <= 1; }
bool in_cross(double u, double v) {
    const double a = std::abs(u), b = std::abs(v);
    return (a <= 0.28 && b <= 0.95) || (b <= 0.28 && a <= 0.95);
}
bool in_ring(double u, double v) { return in_disc(u, v) && u * u + v * v >= 0.3; }
bool in_bar(double u, double v) { return std::abs(u) <= 0.28 && std::abs(v) <= 0.98; }
bool in_crescent(double u, double v) { return in_disc(u, v) && (u - 0.45) * (u - 0.45) + v * v > 0.5; }
bool in_corner(double u, double v) { return std::abs(u) <= 0.8 && std::abs(v) <= 0.8 && (u <= -0.25 || v >= 0.25); }
bool in_arrow(double u, double v) {
    return (v <= 0 && v >= -0.95 && std::abs(u) <= 0.8 * (v + 0.95)) || (v > 0 && v <= 0.9 && std::abs(u) <= 0.22);
}
bool in_star(double u, double v) {
    // Within at least four of the five lines that make a five-pointed star.
    constexpr double lines[5][2] = {{0, 1},
                                    {0.9510565162951535, 0.3090169943749474},
                                    {0.5877852522924731, -0.8090169943749475},
                                    {-0.5877852522924731, -0.8090169943749475},
                                    {-0.9510565162951535, 0.3090169943749474}};
    int within = 0;
    for (const auto& line : lines) within += line[0] * u + line[1] * v <= 0.3090169943749474;
    return within >= 4;
}

using Inside = bool (*)(double u, double v);
constexpr Inside outlines[] = {in_disc, in_square, in_triangle, in_star,  in_cross,
                               in_ring, in_bar,    in_crescent, in_arrow, in_corner};
constexpr auto outline_count = static_cast<int64_t>(std::size(outlines));

struct Object {
    int64_t label = 0;
    Inside inside = in_disc;
    double y = 0, x = 0, size = 1;
    Direction turn{1, 0};
    Rgb color{};
};

// Full colors of a hue from 0 to 1.
Rgb of_hue(double hue, double light, double strength) {
    Rgb rgb;
    for (int c = 0; c < 3; ++c) {
        double place = hue * 6 + (c == 0 ? 0 : c == 1 ? 4 : 2);
        place -= 6 * std::floor(place / 6);
        const double share = std::clamp(std::abs(place - 3) - 1, 0.0, 1.0);
        rgb[static_cast<size_t>(c)] = static_cast<float>(light * (1 - strength * (1 - share)));
    }
    return rgb;
}

// With more classes than outlines, colors tell the others apart.
Object any_object(Stream& stream, int64_t label, const ShapeClasses& classes, double height, double width,
                  double size) {
    const int64_t groups = (classes.classes + outline_count - 1) / outline_count;
    const int64_t group = label / outline_count;
    Object object;
    object.label = label;
    object.inside = outlines[label % outline_count];
    object.size = std::max(size * std::min(height, width), 1.0);
    object.y = stream.uniform(std::min(object.size, height / 2), std::max(height - object.size, height / 2));
    object.x = stream.uniform(std::min(object.size, width / 2), std::max(width - object.size, width / 2));
    object.turn = direction(stream.unit());
    const double hue = groups == 1
                           ? stream.unit()
                           : (static_cast<double>(group) + stream.uniform(0, 0.4)) / static_cast<double>(groups);
    const double vivid = stream.uniform(0.6, 0.95), bright = stream.uniform(190, 255);
    object.color = of_hue(hue, bright, vivid);
    return object;
}

// A dull textured ground, so that objects stand out by color.
void draw_ground(View<uint8_t> out, const ImageId& id, Stream& stream, Arena& scratch) {
    const Texture texture =
        make_texture(out.height, out.width, bulk_stream(Content::shapes, id, Purpose::rough), 0.75, scratch);
    const auto strength = static_cast<float>(stream.uniform(4, 22)), tilt = static_cast<float>(stream.uniform(-30, 30));
    const double bright = stream.uniform(40, 120), hue = stream.unit();
    const Rgb dull = of_hue(hue, bright, 0.35);
    for (int64_t y = 0; y < out.height; ++y) {
        uint8_t* to = out.at(y, 0);
        const float* rough = texture.row(y);
        const float shade = tilt * (static_cast<float>(y) / static_cast<float>(out.height) - 0.5f);
        for (int64_t x = 0; x < out.width; ++x, to += 3) {
            for (size_t c = 0; c < 3; ++c) {
                to[c] = static_cast<uint8_t>(std::clamp(dull[c] + shade + strength * rough[x], 0.0f, 255.0f));
            }
        }
    }
}

void draw_object(View<uint8_t> out, uint8_t* owner, const Object& object, uint8_t number) {
    const auto from = [](double center, double size) { return static_cast<int64_t>(std::floor(center - size)); };
    const int64_t top = std::max<int64_t>(from(object.y, object.size), 0),
                  left = std::max<int64_t>(from(object.x, object.size), 0);
    const int64_t bottom = std::min(static_cast<int64_t>(object.y + object.size) + 1, out.height);
    const int64_t right = std::min(static_cast<int64_t>(object.x + object.size) + 1, out.width);
    const double scale = 1 / object.size;
    for (int64_t y = top; y < bottom; ++y) {
        for (int64_t x = left; x < right; ++x) {
            const double dy = (static_cast<double>(y) + 0.5 - object.y) * scale,
                         dx = (static_cast<double>(x) + 0.5 - object.x) * scale;
            const double u = dx * object.turn.cosine + dy * object.turn.sine,
                         v = dy * object.turn.cosine - dx * object.turn.sine;
            if (!object.inside(u, v)) continue;
            owner[y * out.width + x] = number;
            const auto light = static_cast<float>(0.9 - 0.15 * (dy + dx));
            uint8_t* to = out.at(y, x);
            for (size_t c = 0; c < 3; ++c)
                to[c] = static_cast<uint8_t>(std::clamp(object.color[c] * light, 0.0f, 255.0f));
        }
    }
}

std::vector<ObjectBox> boxes_of(const uint8_t* owner, const std::vector<Object>& objects, int64_t height,
                                int64_t width) {
    std::vector<ObjectBox> boxes(objects.size());
    for (size_t i = 0; i < objects.size(); ++i) boxes[i] = {objects[i].label, height, width, 0, 0, 0};
    for (int64_t y = 0; y < height; ++y) {
        for (int64_t x = 0; x < width; ++x) {
            if (owner[y * width + x] == 0) continue;
            ObjectBox& box = boxes[owner[y * width + x] - 1u];
            box.top = std::min(box.top, y), box.bottom = std::max(box.bottom, y + 1);
            box.left = std::min(box.left, x), box.right = std::max(box.right, x + 1);
            ++box.pixels;
        }
    }
    std::erase_if(boxes, [](const ObjectBox& box) { return box.pixels == 0; });
    return boxes;
}

}  // namespace

std::vector<ObjectBox> draw_shapes(View<uint8_t> out, View<uint8_t> mask, const ImageId& id, int64_t label,
                                   const ShapeClasses& classes, Arena& scratch) {
    Stream stream = stream_for(Content::shapes, id, Purpose::choices);
    draw_ground(out, id, stream, scratch);
    const auto height = static_cast<double>(out.height), width = static_cast<double>(out.width);
    const int64_t count = classes.least_objects + stream.below(classes.most_objects - classes.least_objects + 1);
    std::vector<Object> objects = {any_object(stream, label, classes, height, width, stream.uniform(0.26, 0.45))};
    for (int64_t i = 1; i < count; ++i) {
        const int64_t other = stream.below(classes.classes);
        objects.push_back(any_object(stream, other, classes, height, width, stream.uniform(0.08, 0.2)));
    }
    const auto pixels = static_cast<size_t>(out.height * out.width);
    auto* owner = scratch.take<uint8_t>(pixels);
    std::memset(owner, 0, pixels);
    // The labeled object is drawn last: nothing hides it.
    for (size_t i = objects.size(); i-- > 0;) draw_object(out, owner, objects[i], static_cast<uint8_t>(i + 1));
    for (size_t i = 0; mask.data != nullptr && i < pixels; ++i) {
        mask.data[i] = owner[i] == 0 ? 0 : static_cast<uint8_t>(objects[owner[i] - 1u].label + 1);
    }
    return boxes_of(owner, objects, out.height, out.width);
}

}  // namespace pixelmill
