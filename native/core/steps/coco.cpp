// Masks of objects as images, from polygons and run lengths.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "declared/sources.h"

namespace pixelmill {

namespace {

struct Point {
    int64_t x, y;
};

constexpr double upsampling = 5;  // COCO's own rule: edges are followed on a grid five times as fine

int64_t on_fine_grid(float coordinate, int64_t side) {
    // What lies far outside only has to stay outside.
    const double limit = 4.0 * static_cast<double>(side) + 4;
    return static_cast<int64_t>(upsampling * std::clamp<double>(coordinate, -limit, limit) + 0.5);
}

// Traces an edge on the fine grid, both ends included, always from the same end whatever its direction.
template <class Visit>
void trace_edge(Point a, Point b, const Visit& visit) {
    const int64_t dx = std::abs(b.x - a.x), dy = std::abs(b.y - a.y), length = std::max(dx, dy);
    const bool flat = dx >= dy, backwards = flat ? a.x > b.x : a.y > b.y;
    if (backwards) std::swap(a, b);
    const double slope =
        length == 0 ? 0 : static_cast<double>(flat ? b.y - a.y : b.x - a.x) / static_cast<double>(length);
    for (int64_t i = 0; i <= length; ++i) {
        const int64_t t = backwards ? length - i : i;
        const auto across =
            static_cast<int64_t>(static_cast<double>(flat ? a.y : a.x) + slope * static_cast<double>(t) + 0.5);
        visit(flat ? Point{a.x + t, across} : Point{across, a.y + t});
    }
}

struct Size {
    int64_t height, width;
};

// The places, counted down the columns of the image, where a polygon begins or ends.
void add_crossings(std::vector<int64_t>& crossings, const float* vertices, int64_t count, const Size& size) {
    if (count == 0) return;
    const auto vertex = [&](int64_t i) {
        return Point{on_fine_grid(vertices[2 * (i % count)], size.width),
                     on_fine_grid(vertices[2 * (i % count) + 1], size.height)};
    };
    Point before = vertex(0);
    for (int64_t i = 0; i < count; ++i) {
        trace_edge(vertex(i), vertex(i + 1), [&](const Point& now) {
            const Point last = before;
            before = now;
            if (now.x == last.x) return;
            const double column = (static_cast<double>(now.x < last.x ? now.x : now.x - 1) + 0.5) / upsampling - 0.5;
            if (std::floor(column) != column || column < 0 || column > static_cast<double>(size.width - 1)) return;
            const double row = (static_cast<double>(std::min(now.y, last.y)) + 0.5) / upsampling - 0.5;
            const double inside = std::ceil(std::clamp(row, 0.0, static_cast<double>(size.height)));
            crossings.push_back(static_cast<int64_t>(column) * size.height + static_cast<int64_t>(inside));
        });
    }
}

class LabelImage : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const LabelImageInputs in(values);
        const Size size{in.size.integer(0), in.size.integer(1)};
        if (size.height * size.width > context.limits.pixels) {
            throw Fault(FaultKind::too_large,
                        "a mask of " + std::to_string(size.height) + " x " + std::to_string(size.width) + " pixels");
        }
        out[0] = context.allocate(0, DType::i32, std::array{size.height, size.width, int64_t{1}});
        auto* image = out[0].as<int32_t>();
        std::fill_n(image, size.height * size.width, 0);
        const auto* labels = in.labels.as<int32_t>();
        std::vector<int64_t> order(static_cast<size_t>(in.labels.elements()));
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return labels[a] < labels[b]; });
        const auto paint = [&](int64_t place, int64_t count, int32_t label) {
            for (int64_t i = place; i < place + count; ++i)
                image[i % size.height * size.width + i / size.height] = label;
        };
        for (const int64_t object : order) {
            paint_polygons(in, object, size,
                           [&](int64_t place, int64_t count) { paint(place, count, labels[object]); });
            paint_runs(in, object, [&](int64_t place, int64_t count) { paint(place, count, labels[object]); });
        }
    }

   private:
    template <class Paint>
    static void paint_polygons(const LabelImageInputs& in, int64_t object, const Size& size, const Paint& paint) {
        const auto* polygons = in.polygons.as<int32_t>();
        std::vector<int64_t> crossings;
        for (int64_t p = 0; p < in.polygons.shape[0]; ++p) {
            const int32_t* polygon = polygons + 3 * p;
            if (polygon[0] != object) continue;
            crossings.clear();
            add_crossings(crossings, in.vertices.as<float>() + 2 * polygon[1], polygon[2] - polygon[1], size);
            crossings.push_back(size.height * size.width);
            std::sort(crossings.begin(), crossings.end());
            for (size_t i = 0; i + 1 < crossings.size(); i += 2) paint(crossings[i], crossings[i + 1] - crossings[i]);
        }
    }

    template <class Paint>
    static void paint_runs(const LabelImageInputs& in, int64_t object, const Paint& paint) {
        const auto* runs = in.runs.as<int32_t>();
        const auto* counts = in.counts.as<int64_t>();
        for (int64_t r = 0; r < in.runs.shape[0]; ++r) {
            if (runs[3 * r] != object) continue;
            int64_t place = 0;
            for (int32_t i = runs[3 * r + 1]; i < runs[3 * r + 2]; ++i) {
                if ((i - runs[3 * r + 1]) % 2 == 1) paint(place, counts[i]);
                place += counts[i];
            }
        }
    }
};

class CoordinatesOfVertices : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CoordinatesOfVerticesInputs in(values);
        out[0] = context.allocate(0, DType::i32, std::array{in.polygons.shape[0], int64_t{3}});
        for (int64_t i = 0; i < in.polygons.elements(); ++i) {
            out[0].as<int32_t>()[i] = static_cast<int32_t>(in.polygons.as<int32_t>()[i] * (i % 3 == 0 ? 1 : 2));
        }
    }
};

}  // namespace

std::unique_ptr<Step> make_label_image(const LabelImageParams&) { return std::make_unique<LabelImage>(); }
std::unique_ptr<Step> make_coordinates_of_vertices(const CoordinatesOfVerticesParams&) {
    return std::make_unique<CoordinatesOfVertices>();
}

}  // namespace pixelmill
