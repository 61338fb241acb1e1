// Every move of an image by name: which matrix and canvas its arguments mean.
#include "moves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <vector>

#include "affine.h"

namespace pixelmill {

namespace {

Matrix3 shifted(double x, double y) { return {1, 0, x, 0, 1, y, 0, 0, 1}; }
Matrix3 scaled(double x, double y) { return {x, 0, 0, 0, y, 0, 0, 0, 1}; }

double whole(double number) { return std::floor(number + 0.5); }
double at_least_one(double number) { return std::max(1.0, whole(number)); }

// Stretched to a size, or as large as fits into it (not_larger), or as small as covers it (not_smaller).
Moved resize(Canvas from, const Numbers& n) {
    Canvas to{n[0], n[1]};
    const auto mode = static_cast<int>(n[2]);
    const bool enlarges = n[3] != 0;
    if (to.height < 0 || to.width < 0 || to.height + to.width <= 0)
        throw Fault(FaultKind::argument, "resize: size must be a height and a width, one of which may be 0");
    double y = to.height / from.height, x = to.width / from.width;
    if (to.height == 0 || to.width == 0 || mode != 0) {
        const double common = to.height == 0 ? x : to.width == 0 ? y : mode == 1 ? std::min(x, y) : std::max(x, y);
        x = y = enlarges ? common : std::min(common, 1.0);
    }
    to = {at_least_one(from.height * y), at_least_one(from.width * x)};
    return {scaled(to.width / from.width, to.height / from.height), to};
}

Moved rescale(Canvas from, const Numbers& n) {
    const double factor = n.positive(0, "factor");
    const Canvas to{at_least_one(from.height * factor), at_least_one(from.width * factor)};
    return {scaled(to.width / from.width, to.height / from.height), to};
}

// As large as fits into a canvas, on a part of it.
Moved letterbox(Canvas from, const Numbers& n) {
    const Canvas to{n.positive(0, "the height"), n.positive(1, "the width")};
    double scale = std::min(to.height / from.height, to.width / from.width);
    if (n[4] == 0) scale = std::min(scale, 1.0);
    const double height = std::min(at_least_one(from.height * scale), to.height);
    const double width = std::min(at_least_one(from.width * scale), to.width);
    const double top = whole((to.height - height) * n[2]), left = whole((to.width - width) * n[3]);
    return {product(shifted(left, top), scaled(width / from.width, height / from.height)), to};
}

Moved pad(Canvas from, const Numbers& n) {
    return {shifted(n[1], n[0]), {from.height + n[0] + n[2], from.width + n[1] + n[3]}};
}

// At least a size, and a multiple of a number.
Moved pad_to(Canvas from, const Numbers& n) {
    const auto extent = [](double now, double least, double multiple) {
        const double wanted = std::max(now, least);
        return multiple > 1 ? std::ceil(wanted / multiple) * multiple : wanted;
    };
    const Canvas to{extent(from.height, n[0], n[2]), extent(from.width, n[1], n[3])};
    return {shifted(whole((to.width - from.width) * n[5]), whole((to.height - from.height) * n[4])), to};
}

Moved window(double top, double left, Canvas to) { return {shifted(-left, -top), to}; }

Moved crop(Canvas from, const Numbers& n) {
    const Canvas to{std::min(from.height, n.positive(0, "the height")),
                    std::min(from.width, n.positive(1, "the width"))};
    return window(std::floor(n[2] * (from.height - to.height)), std::floor(n[3] * (from.width - to.width)), to);
}

Moved crop_part(Canvas from, const Numbers& n) {
    const Canvas to{std::min(from.height, at_least_one(from.height * n.positive(0, "the fraction"))),
                    std::min(from.width, at_least_one(from.width * n.positive(1, "the fraction")))};
    return window(std::floor(n[2] * (from.height - to.height)), std::floor(n[3] * (from.width - to.width)), to);
}

Moved crop_window(Canvas, const Numbers& n) {
    return window(n[0], n[1], {n.positive(2, "the height"), n.positive(3, "the width")});
}

Moved flip(Canvas from, const Numbers& n) {
    Matrix3 m = identity;
    if (n[0] != 0) m = {-1, 0, from.width, 0, 1, 0, 0, 0, 1};
    if (n[1] != 0) m = product({1, 0, 0, 0, -1, from.height, 0, 0, 1}, m);
    return {m, from};
}

// Quarters of a turn, counterclockwise.
Moved rotate90(Canvas from, const Numbers& n) {
    const auto times = ((static_cast<int64_t>(whole(n[0])) % 4) + 4) % 4;
    if (times == 1) return {{0, 1, 0, -1, 0, from.width, 0, 0, 1}, {from.width, from.height}};
    if (times == 2) return {{-1, 0, from.width, 0, -1, from.height, 0, 0, 1}, from};
    if (times == 3) return {{0, -1, from.height, 1, 0, 0, 0, 0, 1}, {from.width, from.height}};
    return {identity, from};
}

Moved transpose(Canvas from, const Numbers&) { return {{0, 1, 0, 1, 0, 0, 0, 0, 1}, {from.width, from.height}}; }

Matrix3 turned(double degrees) {
    const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
    return {c, s, 0, -s, c, 0, 0, 0, 1};
}

// What `matrix` does about the middle of the image, with the result in the middle of the canvas.
Moved centered(Canvas from, Canvas to, const Matrix3& matrix, double x = 0, double y = 0) {
    return {product(shifted(to.width / 2 + x, to.height / 2 + y),
                    product(matrix, shifted(-from.width / 2, -from.height / 2))),
            to};
}

Moved rotate(Canvas from, const Numbers& n) {
    if (n[1] != 0) return centered(from, from, turned(n[0]));
    const int64_t source[2] = {static_cast<int64_t>(from.width), static_cast<int64_t>(from.height)};
    int64_t size[2];
    rotated_canvas(size, source, -n[0] * std::numbers::pi / 180);
    return centered(from, {static_cast<double>(size[1]), static_cast<double>(size[0])}, turned(n[0]));
}

// Scaled, sheared, rotated and shifted, in this order.
Moved affine(Canvas from, const Numbers& n) {
    const auto slope = [&](size_t index) {
        if (std::abs(n[index]) < 89) return std::tan(n[index] * std::numbers::pi / 180);
        throw Fault(FaultKind::argument, "affine: shear must be from -89 to 89 degrees");
    };
    const Matrix3 sheared = {1, slope(3), 0, slope(4), 1, 0, 0, 0, 1};
    const Matrix3 stretched = scaled(n.positive(1, "scale"), n.positive(2, "scale"));
    const Matrix3 all = product(turned(n[0]), product(sheared, stretched));
    return centered(from, from, all, n[5] * from.width, n[6] * from.height);
}

// A part of the image, or a larger canvas, at the size of the image.
Moved zoom(Canvas from, const Numbers& n) {
    const double factor = n.positive(0, "factor");
    return {
        product(shifted(n[2] * from.width * (1 - factor), n[1] * from.height * (1 - factor)), scaled(factor, factor)),
        from};
}

Moved expand(Canvas from, const Numbers& n) {
    if (n[0] < 1) throw Fault(FaultKind::argument, "expand: ratio must be at least 1, got " + std::to_string(n[0]));
    const Canvas to{whole(from.height * n[0]), whole(from.width * n[0])};
    return {shifted(whole((to.width - from.width) * n[2]), whole((to.height - from.height) * n[1])), to};
}

// The map of the unit square to four corners: top left, top right, bottom right, bottom left.
Matrix3 square_to(const Point* p) {
    const double x = p[0].x - p[1].x + p[2].x - p[3].x, y = p[0].y - p[1].y + p[2].y - p[3].y;
    const double ax = p[1].x - p[2].x, bx = p[3].x - p[2].x, ay = p[1].y - p[2].y, by = p[3].y - p[2].y;
    const double below = ax * by - bx * ay;
    if (below == 0) throw Fault(FaultKind::argument, "perspective: three corners lie on one line");
    const double g = (x * by - bx * y) / below, h = (ax * y - x * ay) / below;
    return {p[1].x - p[0].x + g * p[1].x,
            p[3].x - p[0].x + h * p[3].x,
            p[0].x,
            p[1].y - p[0].y + g * p[1].y,
            p[3].y - p[0].y + h * p[3].y,
            p[0].y,
            g,
            h,
            1};
}

// Four places of the image, given by how far they lie from its corners, become the corners of the canvas.
Moved perspective(Canvas from, const Numbers& n) {
    constexpr Point corners[4] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    Point places[4];
    for (size_t i = 0; i < 4; ++i) {
        for (size_t axis = 0; axis < 2; ++axis) {
            if (std::abs(n[2 * i + axis]) >= 0.5)
                throw Fault(FaultKind::argument, "perspective: corners must move by less than half of the image");
        }
        places[i] = {(corners[i].x + n[2 * i]) * from.width, (corners[i].y + n[2 * i + 1]) * from.height};
    }
    return {product(scaled(from.width, from.height), inverse(square_to(places))), from};
}

}  // namespace

Move* move_named(const std::string& name) {
    static const std::map<std::string, Move*> all = {
        {"resize", resize}, {"rescale", rescale},   {"letterbox", letterbox}, {"pad", pad},
        {"pad_to", pad_to}, {"crop", crop},         {"crop_part", crop_part}, {"window", crop_window},
        {"flip", flip},     {"rotate90", rotate90}, {"transpose", transpose}, {"rotate", rotate},
        {"affine", affine}, {"zoom", zoom},         {"expand", expand},       {"perspective", perspective},
    };
    return all.at(name);
}

}  // namespace pixelmill
