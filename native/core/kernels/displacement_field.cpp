#include "displacement_field.h"

#include <algorithm>
#include <cmath>

#include "places.h"

namespace pixelmill {

namespace {

constexpr int64_t strip = 64;  // places that are looked at together

struct Support {
    int32_t nodes[4];
    float weights[4];
};

// The nodes that decide about a pixel: two of four count if it is linear. Nodes at the edge are repeated.
Support support(int64_t at, int64_t extent, int64_t count, bool smooth) {
    const double place = (static_cast<double>(at) + 0.5) / static_cast<double>(extent) * static_cast<double>(count - 1);
    const auto first = std::clamp<int64_t>(static_cast<int64_t>(place), 0, count - 2);
    const auto t = static_cast<float>(place - static_cast<double>(first));
    Support made{};
    for (int64_t k = 0; k < 4; ++k) {
        made.nodes[k] = static_cast<int32_t>(std::clamp<int64_t>(first - 1 + k, 0, count - 1));
    }
    const float u = t * t, v = u * t;
    if (smooth) {
        made.weights[0] = 0.5f * (-v + 2 * u - t);
        made.weights[1] = 0.5f * (3 * v - 5 * u + 2);
        made.weights[2] = 0.5f * (-3 * v + 4 * u + t);
        made.weights[3] = 0.5f * (v - u);
    } else {
        made.weights[1] = 1 - t;
        made.weights[2] = t;
    }
    return made;
}

}  // namespace

DisplacedPlaces::DisplacedPlaces(const FieldNodes& nodes, const std::array<double, 9>& matrix,
                                 const ConvexPolygon& polygon, int64_t height, int64_t width, Arena& arena)
    : nodes_(nodes),
      matrix_(matrix),
      polygon_(polygon),
      height_(height),
      width_(width),
      line_(arena.take<float>(static_cast<size_t>(2 * nodes.columns))),
      cells_(arena.take<Cell>(static_cast<size_t>(nodes.columns))),
      weights_(arena.take<float>(static_cast<size_t>(4 * width))) {
    Cell* cell = cells_;
    for (int64_t x = 0; x < width; ++x) {
        const Support made = support(x, width, nodes.columns, nodes.smooth);
        if (x > 0 && made.nodes[1] != cell->nodes[1]) ++cell;
        cell->end = x + 1;
        std::copy_n(made.nodes, 4, cell->nodes);
        for (int64_t k = 0; k < 4; ++k) weights_[k * width + x] = made.weights[k];
    }
    double area = 0;
    for (int i = 0; i < polygon.count; ++i) {
        const double *a = polygon.points + 2 * i, *b = polygon.points + 2 * ((i + 1) % polygon.count);
        area += a[0] * b[1] - a[1] * b[0];
    }
    turns_left_ = area < 0;
}

// Twice the area of the triangle of a place and an edge; negative where the place is outside.
double DisplacedPlaces::inside_edge(int number, double x, double y) const {
    const double *a = polygon_.points + 2 * number, *b = polygon_.points + 2 * ((number + 1) % polygon_.count);
    const double side = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
    return turns_left_ ? -side : side;
}

bool DisplacedPlaces::is_inside(double x, double y) const {
    for (int i = 0; i < polygon_.count; ++i) {
        if (inside_edge(i, x, y) < -1e-6) return false;
    }
    return true;
}

// Most strips lie on one side of every edge. If the corners of a box around a strip do, all of its places do.
void DisplacedPlaces::keep_inside(float* x, float* y, int64_t count) const {
    constexpr double unsure = 1e-3;  // far more than the rounding of an area
    const PlaceBox box = place_passes().box(x, y, count);
    bool all = true;
    const double left = static_cast<double>(box.low_x) + 0.5, right = static_cast<double>(box.high_x) + 0.5,
                 top = static_cast<double>(box.low_y) + 0.5, bottom = static_cast<double>(box.high_y) + 0.5;
    for (int i = 0; i < polygon_.count; ++i) {
        const auto [low, high] = std::minmax({inside_edge(i, left, top), inside_edge(i, right, top),
                                              inside_edge(i, left, bottom), inside_edge(i, right, bottom)});
        if (high < -unsure) {
            std::fill_n(x, count, nowhere);
            std::fill_n(y, count, nowhere);
            return;
        }
        all = all && low > unsure;
    }
    for (int64_t i = 0; !all && i < count; ++i) {
        if (!is_inside(static_cast<double>(x[i]) + 0.5, static_cast<double>(y[i]) + 0.5)) x[i] = y[i] = nowhere;
    }
}

void DisplacedPlaces::row(float* x, float* y, int64_t at, int64_t width) const {
    const Support made = support(at, height_, nodes_.rows, nodes_.smooth);
    const int64_t length = 2 * nodes_.columns;
    for (int64_t i = 0; i < length; ++i) {
        float sum = 0;
        for (int k = 0; k < 4; ++k) sum += made.weights[k] * nodes_.data[made.nodes[k] * length + i];
        line_[i] = sum;
    }
    const PlacePasses& passes = place_passes();
    // The pixels of a cell look at the same nodes, so that the loop over them is one of vectors.
    const Cell* cell = cells_;
    for (int64_t first = 0; first < width; first = cell++->end) {
        float across[4], down[4];
        for (int k = 0; k < 4; ++k) {
            across[k] = line_[2 * cell->nodes[k]] * static_cast<float>(width_);
            down[k] = line_[2 * cell->nodes[k] + 1] * static_cast<float>(height_);
        }
        const float* weights = weights_ + first;
        const int64_t count = cell->end - first;
        passes.displace(x + first, weights, width_, across, static_cast<float>(first), 1, count);
        passes.displace(y + first, weights, width_, down, static_cast<float>(at), 0, count);
    }
    for (int64_t first = 0; polygon_.count > 0 && first < width; first += strip)
        keep_inside(x + first, y + first, std::min(strip, width - first));
    map_row(x, y, width);
}

void DisplacedPlaces::map_row(float* x, float* y, int64_t width) const {
    const auto& m = matrix_;
    const bool affine = m[6] == 0 && m[7] == 0 && m[8] == 1;
    const PlacePasses& passes = place_passes();
    (affine && polygon_.count == 0 ? passes.move : passes.project)(x, y, m.data(), width);
}

}  // namespace pixelmill
