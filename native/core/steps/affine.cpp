#include "affine.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pixelmill {

float radians(float degrees) { return degrees * static_cast<float>(std::numbers::pi / 180.0); }

AffineMap read_map(const Value& value, const std::string& name) {
    AffineMap map;
    const int64_t count = value.elements();
    if ((count != 6 && count != 12) || value.ndim > 2) {
        throw Fault(FaultKind::argument, name + ": a matrix must be 2 x 3 or 3 x 4 numbers, got " + describe(value));
    }
    map.axes = count == 6 ? 2 : 3;
    const int64_t columns = map.axes + 1;
    const int64_t down = value.ndim == 2 ? value.stride[0] : columns, across = value.ndim == 2 ? value.stride[1] : 1;
    if (value.ndim == 2 && (value.shape[0] != map.axes || value.shape[1] != columns)) {
        throw Fault(FaultKind::argument, name + ": a matrix must be 2 x 3 or 3 x 4 numbers, got " + describe(value));
    }
    for (int i = 0; i < map.axes; ++i) {
        for (int64_t j = 0; j < columns; ++j) map.at[i][j] = static_cast<float>(value.number(i * down + j * across));
    }
    return map;
}

namespace {

[[noreturn]] void singular() {
    throw Fault(FaultKind::argument,
                "warp_affine: the matrix maps everything to a line or a point, so it cannot be inverted");
}

// Gauss and Jordan, with the fused multiplications and additions that DALI uses for three axes.
void invert3(float (&a)[3][3], float (&b)[3][3]) {
    for (int v = 0; v < 3; ++v) {
        int largest = v;
        for (int i = v + 1; i < 3; ++i) {
            if (std::fabs(a[i][v]) > std::fabs(a[largest][v])) largest = i;
        }
        if (!(std::fabs(a[largest][v]) > 0)) singular();
        if (largest != v) {
            std::swap(a[v], a[largest]);
            std::swap(b[v], b[largest]);
        }
        const float scale = 1 / a[v][v];
        for (int j = 0; j < 3; ++j) {
            a[v][j] *= scale;
            b[v][j] *= scale;
        }
        for (int i = 0; i < 3; ++i) {
            if (i == v) continue;
            const float factor = -a[i][v];
            for (int j = 0; j < 3; ++j) {
                a[i][j] = std::fma(factor, a[v][j], a[i][j]);
                b[i][j] = std::fma(factor, b[v][j], b[i][j]);
            }
        }
    }
}

}  // namespace

AffineMap inverted(const AffineMap& map) {
    AffineMap back;
    back.axes = map.axes;
    if (map.axes == 2) {
        const float determinant = map.at[0][0] * map.at[1][1] - map.at[0][1] * map.at[1][0];
        if (determinant == 0) singular();
        back.at[0][0] = map.at[1][1] / determinant;
        back.at[0][1] = -map.at[0][1] / determinant;
        back.at[1][0] = -map.at[1][0] / determinant;
        back.at[1][1] = map.at[0][0] / determinant;
    } else {
        float a[3][3], b[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
        for (int i = 0; i < 3; ++i) std::copy_n(map.at[i], 3, a[i]);
        invert3(a, b);
        for (int i = 0; i < 3; ++i) std::copy_n(b[i], 3, back.at[i]);
    }
    for (int i = 0; i < map.axes; ++i) {
        float shift = 0;
        for (int j = 0; j < map.axes; ++j) shift += -back.at[i][j] * map.at[j][map.axes];
        back.at[i][map.axes] = shift;
    }
    return back;
}

void read_size(int64_t* size, const Value& value, int axes, const std::string& name) {
    if (value.elements() != axes) {
        throw Fault(FaultKind::argument,
                    name + ": size needs " + std::to_string(axes) + " numbers, got " + describe(value));
    }
    for (int a = 0; a < axes; ++a) {
        const double extent = value.number(axes - 1 - a);
        if (!(extent >= 0 && extent < 0x1p31)) {
            throw Fault(FaultKind::argument, name + ": size must be positive, got " + std::to_string(extent));
        }
        size[a] = static_cast<int64_t>(extent);
    }
}

void check_canvas(const Context& context, const int64_t* size, int axes, const std::string& name) {
    double pixels = 1;
    for (int a = 0; a < axes; ++a) pixels *= static_cast<double>(size[a]);
    if (pixels > static_cast<double>(context.limits.pixels)) {
        throw Fault(FaultKind::too_large, name + ": a result of " + std::to_string(pixels) +
                                              " pixels passes the limit of " + std::to_string(context.limits.pixels));
    }
}

// The extents are a little too small rather than one too large, and odd where the source's are: that keeps centers on
// centers.
void rotated_canvas(int64_t* size, const int64_t* source, double angle) {
    constexpr double slack = 1e-2;
    const double c = std::fabs(std::cos(angle)), s = std::fabs(std::sin(angle));
    const auto w = static_cast<double>(source[0]), h = static_cast<double>(source[1]);
    size[0] = static_cast<int64_t>(std::ceil(c * w + s * h - slack));
    size[1] = static_cast<int64_t>(std::ceil(c * h + s * w - slack));
    const bool upright = s <= c;
    size[0] += (size[0] ^ source[upright ? 0 : 1]) & 1;
    size[1] += (size[1] ^ source[upright ? 1 : 0]) & 1;
}

namespace {

void turn_matrix(float (&m)[3][3], const float* axis, float angle) {
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) m[i][j] = i == j ? 1.0f : 0.0f;
    }
    if (angle == 0) return;
    const float c = std::cos(angle), s = std::sin(angle);
    const float u = axis[0], v = axis[1], w = axis[2];
    const float uu = u * u, vv = v * v, ww = w * w, uv = u * v, uw = u * w, vw = v * w;
    const float made[3][3] = {{uu + (vv + ww) * c, uv * (1 - c) - w * s, uw * (1 - c) + v * s},
                              {uv * (1 - c) + w * s, vv + (uu + ww) * c, vw * (1 - c) - u * s},
                              {uw * (1 - c) - v * s, vw * (1 - c) + u * s, ww + (uu + vv) * c}};
    for (int i = 0; i < 3; ++i) std::copy_n(made[i], 3, m[i]);
}

}  // namespace

Turn::Turn(const Value& axis, float angle) {
    if (!axis.present() || axis.elements() != 3) {
        throw Fault(FaultKind::argument, "a rotation in space needs an axis of three numbers");
    }
    float u[3], squares = 0;
    int present = 0;
    for (int i = 0; i < 3; ++i) {
        u[i] = static_cast<float>(axis.number(i));
        squares += u[i] * u[i];
        present += u[i] != 0 ? 1 : 0;
    }
    if (!(squares > 0) || !std::isfinite(squares))
        throw Fault(FaultKind::argument, "the axis of a rotation must have a length");
    for (float& part : u) part = present == 1 ? static_cast<float>((part > 0) - (part < 0)) : part / std::sqrt(squares);
    turn_matrix(forth_, u, angle);
    turn_matrix(back_, u, -angle);
}

void Turn::canvas(int64_t* size, const int64_t* source) const {
    constexpr float slack = 1e-2f;
    for (int i = 0; i < 3; ++i) {
        float extent = 0;
        int strongest = i;
        for (int j = 0; j < 3; ++j) {
            extent += std::fabs(forth_[i][j]) * static_cast<float>(source[j]);
            if (std::fabs(forth_[i][j]) > std::fabs(forth_[i][strongest])) strongest = j;
        }
        size[i] = static_cast<int64_t>(std::ceil(extent - slack));
        size[i] += (size[i] ^ source[strongest]) & 1;
    }
}

void Turn::inverse(AffineMap& map) const {
    for (int i = 0; i < 3; ++i) std::copy_n(back_[i], 3, map.at[i]);
}

}  // namespace pixelmill
