// Moves of images: each is a matrix and a canvas, and a chain of them is one placement. Pixels are not touched.
#include "placement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "../kernels/axis.h"
#include "declared/placement.h"
#include "moves.h"

namespace pixelmill {

const Placement& placement_of(const Value& value) {
    if (value.dtype != DType::f64 || value.elements() != placement_numbers || !value.contiguous())
        throw std::logic_error("a placement is " + std::to_string(placement_numbers) + " float64");
    return *value.as<Placement>();
}

Matrix3 product(const Matrix3& a, const Matrix3& b) {
    Matrix3 c{};
    for (size_t row = 0; row < 3; ++row) {
        for (size_t column = 0; column < 3; ++column) {
            for (size_t k = 0; k < 3; ++k) c[row * 3 + column] += a[row * 3 + k] * b[k * 3 + column];
        }
    }
    return c;
}

Matrix3 inverse(const Matrix3& m) {
    const Matrix3 cofactors = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                               m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                               m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    const double determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6];
    Matrix3 result{};
    if (determinant == 0) return result;
    for (size_t i = 0; i < 9; ++i) result[i] = cofactors[i] / determinant;
    return result;
}

Point mapped(const Matrix3& m, Point at) {
    const double divisor = m[6] * at.x + m[7] * at.y + m[8], scale = divisor == 0 ? 0 : 1 / divisor;
    return {(m[0] * at.x + m[1] * at.y + m[2]) * scale, (m[3] * at.x + m[4] * at.y + m[5]) * scale};
}

namespace {

// Sutherland and Hodgman, for a polygon that is convex.
class Clipper {
   public:
    explicit Clipper(const Placement& from) : points_(from.polygon, from.polygon + static_cast<int>(from.corners)) {}

    void map(const Matrix3& matrix) {
        for (Point& point : points_) point = mapped(matrix, point);
    }

    // Returns whether anything was taken off.
    bool cut_to(double height, double width) {
        const size_t before = points_.size();
        bool inside = true;
        for (const Point& p : points_) inside &= p.x >= 0 && p.y >= 0 && p.x <= width && p.y <= height;
        if (inside) return false;
        keep([](Point p) { return p.x; });
        keep([&](Point p) { return width - p.x; });
        keep([](Point p) { return p.y; });
        keep([&](Point p) { return height - p.y; });
        return before > 0;
    }

    void store(Placement& to) const {
        if (points_.size() > most_corners)
            throw Fault(FaultKind::argument, "an image is cut off at too many edges; use fewer geometric steps");
        to.corners = static_cast<double>(points_.size());
        std::copy(points_.begin(), points_.end(), to.polygon);
    }

   private:
    template <class Distance>
    void keep(Distance&& distance) {
        std::vector<Point> kept;
        for (size_t i = 0; i < points_.size(); ++i) {
            const Point here = points_[i], there = points_[(i + 1) % points_.size()];
            const double d = distance(here), e = distance(there);
            if (d >= 0) kept.push_back(here);
            if ((d >= 0) != (e >= 0)) {
                const double t = d / (d - e);
                kept.push_back({here.x + (there.x - here.x) * t, here.y + (there.y - here.y) * t});
            }
        }
        points_ = std::move(kept);
    }

    std::vector<Point> points_;
};

Placement& put_placement(Context& context, std::span<Value> out) {
    const int64_t count = placement_numbers;
    out[0] = context.allocate(0, DType::f64, {&count, 1});
    return *out[0].as<Placement>();
}

class StartPlacement : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const StartPlacementInputs in(values);
        if (in.shape.elements() < 2) throw Fault(FaultKind::argument, "an image needs rows and columns");
        Placement& made = put_placement(context, out);
        std::memset(&made, 0, sizeof made);
        made.matrix = identity;
        made.height = made.source_height = static_cast<double>(in.shape.integer(0));
        made.width = made.source_width = static_cast<double>(in.shape.integer(1));
        if (made.height < 1 || made.width < 1) throw Fault(FaultKind::argument, "an image without pixels cannot move");
        made.corners = 4;
        made.polygon[1].x = made.polygon[2].x = made.width;
        made.polygon[2].y = made.polygon[3].y = made.height;
    }
};

class MovePlacement : public Step {
   public:
    explicit MovePlacement(const MovePlacementParams& params) : name_(params.move), move_(move_named(params.move)) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const MovePlacementInputs in(values);
        const Placement& from = placement_of(in.placement);
        Moved moved{identity, {from.height, from.width}};
        if (!in.active.present() || in.active.number() != 0) moved = move_(moved.canvas, Numbers(in.numbers, name_));
        check(context, moved.canvas);
        Placement& made = put_placement(context, out);
        made = from;
        made.matrix = product(moved.matrix, from.matrix);
        made.height = moved.canvas.height;
        made.width = moved.canvas.width;
        if (moved.matrix != identity || made.height != from.height || made.width != from.width) {
            Clipper clipper(from);
            clipper.map(moved.matrix);
            made.cut = from.cut != 0 || from.clipped != 0;
            made.clipped = clipper.cut_to(made.height, made.width);
            clipper.store(made);
        }
        const int64_t count = 11;
        out[1] = context.allocate(1, DType::f64, {&count, 1});
        auto* numbers = out[1].as<double>();
        std::copy(moved.matrix.begin(), moved.matrix.end(), numbers);
        numbers[9] = moved.canvas.height;
        numbers[10] = moved.canvas.width;
    }

   private:
    void check(const Context& context, Canvas canvas) const {
        if (!(canvas.height >= 1 && canvas.width >= 1)) {
            throw Fault(FaultKind::argument, name_ + ": the result has no pixels");
        }
        const auto most = static_cast<double>(context.limits.side);
        if (canvas.height > most || canvas.width > most ||
            canvas.height * canvas.width > static_cast<double>(context.limits.pixels)) {
            throw Fault(FaultKind::too_large, name_ + ": an image of " + std::to_string(canvas.height) + " x " +
                                                  std::to_string(canvas.width) + " is above the limit of " +
                                                  std::to_string(context.limits.pixels) + " pixels");
        }
    }

    std::string name_;
    Move* move_;
};

class PlacementShape : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const Placement& from = placement_of(PlacementShapeInputs(values).placement);
        const int64_t count = 2;
        out[0] = context.allocate(0, DType::i64, {&count, 1});
        out[0].as<int64_t>()[0] = static_cast<int64_t>(from.height);
        out[0].as<int64_t>()[1] = static_cast<int64_t>(from.width);
    }
};

// The part of the source under the canvas, at the largest scale that the placement has anywhere along its edge.
class PlacementGeometry : public Step {
   public:
    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const PlacementGeometryInputs in(values);
        const Placement& from = placement_of(in.placement);
        Point low{0, 0}, high{from.source_width, from.source_height};
        const Matrix3 back = inverse(from.matrix);
        const bool affine = back[6] == 0 && back[7] == 0 && back[8] != 0;
        double scale = 1;
        if (affine && !in.field.present()) {
            narrow(low, high, from, back);
            scale = largest_scale(from.matrix);
            if (!(scale < 1e6)) scale = 1;  // so does what is not a number
        }
        const int64_t shape[2] = {2, 8};
        out[0] = context.allocate(0, DType::f64, shape);
        auto* axes = out[0].as<Axis>();
        const auto axis = [&](double first, double last, double source) {
            const double length = std::max(1.0, std::ceil((last - first) * scale));
            return Axis{first, last, length, 0, length, 0, source, 0};
        };
        axes[0] = axis(low.y, high.y, from.source_height);
        axes[1] = axis(low.x, high.x, from.source_width);
    }

   private:
    // Two pixels are blended, vector code reads a little further, and the running sums of coordinates are not exact.
    static void narrow(Point& low, Point& high, const Placement& from, const Matrix3& back) {
        Point least{1e300, 1e300}, most{-1e300, -1e300};
        for (const Point corner : {Point{0, 0}, {from.width, 0}, {from.width, from.height}, {0, from.height}}) {
            const Point at = mapped(back, corner);
            least = {std::min(least.x, at.x), std::min(least.y, at.y)};
            most = {std::max(most.x, at.x), std::max(most.y, at.y)};
        }
        if (!(std::abs(least.x) + std::abs(least.y) + std::abs(most.x) + std::abs(most.y) < 1e15)) return;
        // A scaled decode has pixels of up to eight, and a large reduction averages pixels first: what that repeats at
        // an edge must lie outside of what is read.
        const double reduction = std::sqrt(std::abs(back[0] * back[4] - back[1] * back[3])) / std::abs(back[8]) +
                                 std::abs(back[0]) + std::abs(back[1]) + std::abs(back[3]) + std::abs(back[4]);
        const auto inside = [&](double& first, double& last, double least, double most, double size) {
            const double margin = 16 + 4 * std::ceil(reduction) + size * 0x1p-13;
            first = std::clamp(std::floor(least) - margin, 0.0, std::max(size - 2 * margin, 0.0));
            last = std::clamp(std::ceil(most) + margin, std::min(first + 2 * margin, size), size);
        };
        inside(low.x, high.x, least.x, most.x, from.source_width);
        inside(low.y, high.y, least.y, most.y, from.source_height);
    }

    static double largest_scale(const Matrix3& m) {
        const double a = m[0] / m[8], b = m[1] / m[8], c = m[3] / m[8], d = m[4] / m[8];
        const double sum = a * a + b * b + c * c + d * d, area = a * d - b * c;
        return std::sqrt(std::max(0.0, (sum + std::sqrt(std::max(0.0, sum * sum - 4 * area * area))) / 2));
    }
};

}  // namespace

std::unique_ptr<Step> make_start_placement(const StartPlacementParams&) { return std::make_unique<StartPlacement>(); }
std::unique_ptr<Step> make_move_placement(const MovePlacementParams& params) {
    return std::make_unique<MovePlacement>(params);
}
std::unique_ptr<Step> make_placement_shape(const PlacementShapeParams&) { return std::make_unique<PlacementShape>(); }
std::unique_ptr<Step> make_placement_geometry(const PlacementGeometryParams&) {
    return std::make_unique<PlacementGeometry>();
}

}  // namespace pixelmill
