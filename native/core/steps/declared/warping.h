// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/warping.py.
// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../kernels/axis.h"
#include "../../step.h"

namespace pixelmill {

// Return the map from the result of a rotation to its source, and the extents of the result.
struct RotationMapParams {
    std::string layout;
    bool keep_size;
};
struct RotationMapInputs {
    const Value &shape, &angle, &axis, &size;
    explicit RotationMapInputs(std::span<const Value> in)
        : shape(in[0]), angle(in[1]), axis(in[2]), size(in[3]) {}
};
std::unique_ptr<Step> make_rotation_map(const RotationMapParams& params);

// Invert an affine map.
struct InverseMapParams {
};
struct InverseMapInputs {
    const Value &matrix;
    explicit InverseMapInputs(std::span<const Value> in)
        : matrix(in[0]) {}
};
std::unique_ptr<Step> make_inverse_map(const InverseMapParams& params);

// Return start and extents of the part of a source that a window of a warp's result is interpolated from.
struct WarpBoxParams {
};
struct WarpBoxInputs {
    const Value &matrix, &shape, &window;
    explicit WarpBoxInputs(std::span<const Value> in)
        : matrix(in[0]), shape(in[1]), window(in[2]) {}
};
std::unique_ptr<Step> make_warp_box(const WarpBoxParams& params);

// Warp an image by the map from the result to the source.
struct WarpParams {
    std::string layout;
    std::string name;
    std::optional<DType> dtype;
    bool linear;
    std::string window_name;
};
struct WarpInputs {
    const Value &image, &matrix, &size, &fill_value, &window, &part_start, &source_shape;
    explicit WarpInputs(std::span<const Value> in)
        : image(in[0]), matrix(in[1]), size(in[2]), fill_value(in[3]), window(in[4]), part_start(in[5]), source_shape(in[6]) {}
};
std::unique_ptr<Step> make_warp(const WarpParams& params);

// Return the matrix of a translation.
struct TranslationParams {
    bool reverse_order;
};
struct TranslationInputs {
    const Value &matrix, &offset;
    explicit TranslationInputs(std::span<const Value> in)
        : matrix(in[0]), offset(in[1]) {}
};
std::unique_ptr<Step> make_translation(const TranslationParams& params);

// Return the matrix of a scaling; `ndim` is the number of axes, 0 to take it from the factors.
struct ScalingParams {
    bool reverse_order;
    int64_t ndim;
};
struct ScalingInputs {
    const Value &matrix, &scale, &center;
    explicit ScalingInputs(std::span<const Value> in)
        : matrix(in[0]), scale(in[1]), center(in[2]) {}
};
std::unique_ptr<Step> make_scaling(const ScalingParams& params);

// Return the matrix of a rotation.
struct RotationParams {
    bool reverse_order;
};
struct RotationInputs {
    const Value &matrix, &angle, &axis, &center;
    explicit RotationInputs(std::span<const Value> in)
        : matrix(in[0]), angle(in[1]), axis(in[2]), center(in[3]) {}
};
std::unique_ptr<Step> make_rotation(const RotationParams& params);

// Return the matrix of a shear.
struct ShearParams {
    bool reverse_order;
};
struct ShearInputs {
    const Value &matrix, &shear, &angles, &center;
    explicit ShearInputs(std::span<const Value> in)
        : matrix(in[0]), shear(in[1]), angles(in[2]), center(in[3]) {}
};
std::unique_ptr<Step> make_shear(const ShearParams& params);

// Return the matrix that maps one window to another.
struct CropTransformParams {
    bool reverse_order;
    bool absolute;
};
struct CropTransformInputs {
    const Value &matrix, &from_start, &from_end, &to_start, &to_end;
    explicit CropTransformInputs(std::span<const Value> in)
        : matrix(in[0]), from_start(in[1]), from_end(in[2]), to_start(in[3]), to_end(in[4]) {}
};
std::unique_ptr<Step> make_crop_transform(const CropTransformParams& params);

// Multiply matrices.
struct CombineParams {
    bool reverse_order;
};
struct CombineInputs {
    std::span<const Value> matrices;
    explicit CombineInputs(std::span<const Value> in)
        : matrices(in.subspan(0)) {}
};
std::unique_ptr<Step> make_combine(const CombineParams& params);

// Transform points by a matrix and an offset; `fused` is whether the last column of the matrix is the offset.
struct CoordTransformParams {
    DType dtype;
    bool fused;
};
struct CoordTransformInputs {
    const Value &points, &matrix, &offset;
    explicit CoordTransformInputs(std::span<const Value> in)
        : points(in[0]), matrix(in[1]), offset(in[2]) {}
};
std::unique_ptr<Step> make_coord_transform(const CoordTransformParams& params);

// Mirror points.
struct CoordFlipParams {
    std::string layout;
};
struct CoordFlipInputs {
    const Value &points, &flip_x, &flip_y, &flip_z, &center_x, &center_y, &center_z;
    explicit CoordFlipInputs(std::span<const Value> in)
        : points(in[0]), flip_x(in[1]), flip_y(in[2]), flip_z(in[3]), center_x(in[4]), center_y(in[5]), center_z(in[6]) {}
};
std::unique_ptr<Step> make_coord_flip(const CoordFlipParams& params);

}  // namespace pixelmill
