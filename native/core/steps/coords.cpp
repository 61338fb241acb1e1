// Points: rows of coordinates, moved by a matrix or mirrored.
#include <algorithm>
#include <array>

#include "../kernels/convert.h"
#include "../kernels/copy.h"
#include "../kernels/pointwise.h"
#include "declared/warping.h"

namespace pixelmill {

namespace {

constexpr int most_coordinates = 16;

// `rows` x `columns` numbers and a shift; 0 for a number that is known only when it runs.
template <int rows_, int columns_>
void move_points(float* out, const float* in, int64_t points, const float* matrix, const float* shift, int rows,
                 int columns) {
    const int height = rows_ > 0 ? rows_ : rows, width = columns_ > 0 ? columns_ : columns;
    for (int64_t p = 0; p < points; ++p, in += width, out += height) {
        for (int i = 0; i < height; ++i) {
            float sum = 0;
            for (int j = 0; j < width; ++j) sum += matrix[i * width + j] * in[j];
            out[i] = sum + shift[i];
        }
    }
}

// M holds T as its last column where `fused` is set.
class CoordTransform : public Step {
   public:
    explicit CoordTransform(const CoordTransformParams& params) : dtype_(params.dtype), fused_(params.fused) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CoordTransformInputs in(values);
        const Value& x = in.points;
        if (x.ndim < 2)
            throw Fault(FaultKind::argument, "coord_transform: points must be rows of a table, got " + describe(x));
        const int64_t width = x.shape[x.ndim - 1];
        if (width > most_coordinates)
            throw Fault(FaultKind::argument, "coord_transform: points of " + std::to_string(width) + " coordinates");
        const auto columns = static_cast<int>(width);
        const int rows = rows_of(in.matrix, columns);
        float matrix[most_coordinates * most_coordinates], shift[most_coordinates];
        read(matrix, shift, in, rows, columns);
        Extents shape = x.shape;
        shape[x.ndim - 1] = rows;
        const std::span<const int64_t> extents{shape.data(), static_cast<size_t>(x.ndim)};
        const bool direct = dtype_ == DType::f32;
        const Value moved = direct ? context.allocate(0, DType::f32, extents) : context.scratch(DType::f32, extents);
        Value points = x;
        if (x.dtype != DType::f32 || !x.contiguous()) {
            points = context.scratch(DType::f32, {x.shape.data(), static_cast<size_t>(x.ndim)});
            convert_elements(points, x);
        }
        const int64_t count = width == 0 ? 0 : x.elements() / width;
        auto* move = rows == 2 && columns == 2   ? move_points<2, 2>
                     : rows == 3 && columns == 3 ? move_points<3, 3>
                                                 : move_points<0, 0>;
        move(moved.as<float>(), points.as<float>(), count, matrix, shift, rows, columns);
        out[0] = moved;
        if (direct) return;
        out[0] = context.allocate(0, dtype_, extents);
        convert_elements(out[0], moved);
    }

   private:
    int rows_of(const Value& matrix, int columns) const {
        if (!matrix.present() || matrix.elements() == 1) return columns;
        const int64_t width = columns + (fused_ ? 1 : 0), rows = matrix.elements() / width;
        const bool fits = matrix.ndim == 2 ? matrix.shape[1] == width : matrix.elements() % width == 0;
        if (!fits || rows < 1 || rows > most_coordinates) {
            throw Fault(FaultKind::argument, std::string("coord_transform: ") + (fused_ ? "MT" : "M") + " must have " +
                                                 std::to_string(width) + " columns, got " + describe(matrix));
        }
        return static_cast<int>(rows);
    }

    void read(float* matrix, float* shift, const CoordTransformInputs& in, int rows, int columns) const {
        const Value &m = in.matrix, &t = in.offset;
        const bool whole = m.present() && m.elements() != 1;
        const float diagonal = m.present() ? static_cast<float>(m.number()) : 1.0f;
        const int64_t width = columns + (fused_ ? 1 : 0);
        const int64_t down = m.ndim == 2 ? m.stride[0] : width, across = m.ndim == 2 ? m.stride[1] : 1;
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                matrix[i * columns + j] = whole    ? static_cast<float>(m.number(i * down + j * across))
                                          : i == j ? diagonal
                                                   : 0.0f;
            }
            shift[i] = whole && fused_ ? static_cast<float>(m.number(i * down + columns * across)) : 0.0f;
        }
        if (!t.present()) return;
        if (t.elements() != 1 && t.elements() != rows) {
            throw Fault(FaultKind::argument,
                        "coord_transform: T must be one number or " + std::to_string(rows) + ", got " + describe(t));
        }
        for (int i = 0; i < rows; ++i) shift[i] = static_cast<float>(t.number(t.elements() == 1 ? 0 : i));
    }

    DType dtype_;
    bool fused_;
};

class CoordFlip : public Step {
   public:
    explicit CoordFlip(const CoordFlipParams& params) : layout_(params.layout) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const CoordFlipInputs in(values);
        const Value& x = in.points;
        const int64_t width = x.ndim == 2 ? x.shape[1] : 0;
        const std::string layout =
            layout_.empty() ? std::string("xyz").substr(0, static_cast<size_t>(std::min<int64_t>(width, 3))) : layout_;
        if (x.ndim != 2 || width != static_cast<int64_t>(layout.size()) || x.dtype != DType::f32) {
            throw Fault(FaultKind::argument,
                        "coord_flip: points must be rows of 1 to 3 floats, as many as the layout \"" + layout_ +
                            "\" has letters; got " + describe(x));
        }
        const Value* const turns[] = {&in.flip_x, &in.flip_y, &in.flip_z};
        const Value* const centers[] = {&in.center_x, &in.center_y, &in.center_z};
        std::array<bool, 3> flips{};
        std::array<float, 3> sum{};
        for (size_t d = 0; d < layout.size(); ++d) {
            const size_t which = std::string("xyz").find(layout[d]);
            flips[d] = turns[which]->number() != 0;
            sum[d] = 2.0f * static_cast<float>(centers[which]->number());
        }
        out[0] = context.allocate(0, DType::f32, std::array{x.shape[0], width});
        copy_elements(out[0], x);
        for (int64_t d = 0; d < width; ++d) {
            if (!flips[static_cast<size_t>(d)]) continue;
            auto* at = out[0].as<float>() + d;
            for (int64_t i = 0; i < x.shape[0]; ++i, at += width) *at = sum[static_cast<size_t>(d)] - *at;
        }
    }

   private:
    std::string layout_;
};

}  // namespace

std::unique_ptr<Step> make_coord_transform(const CoordTransformParams& params) {
    return std::make_unique<CoordTransform>(params);
}
std::unique_ptr<Step> make_coord_flip(const CoordFlipParams& params) { return std::make_unique<CoordFlip>(params); }

}  // namespace pixelmill
