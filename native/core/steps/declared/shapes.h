// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/shapes.py.
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

// Return the extents of a value.
struct ShapeParams {
};
struct ShapeInputs {
    const Value &data;
    explicit ShapeInputs(std::span<const Value> in)
        : data(in[0]) {}
};
std::unique_ptr<Step> make_shape(const ShapeParams& params);

// Join short vectors of integers.
struct JoinParams {
};
struct JoinInputs {
    std::span<const Value> parts;
    explicit JoinInputs(std::span<const Value> in)
        : parts(in.subspan(0)) {}
};
std::unique_ptr<Step> make_join(const JoinParams& params);

// Check that an argument is one number for each sample.
struct ScalarParams {
    std::string name;
};
struct ScalarInputs {
    const Value &number;
    explicit ScalarInputs(std::span<const Value> in)
        : number(in[0]) {}
};
std::unique_ptr<Step> make_scalar(const ScalarParams& params);

// Return one number of a vector.
struct ElementParams {
    int64_t index;
};
struct ElementInputs {
    const Value &vector;
    explicit ElementInputs(std::span<const Value> in)
        : vector(in[0]) {}
};
std::unique_ptr<Step> make_element(const ElementParams& params);

// Return the spatial extents of a shape.
struct SpatialShapeParams {
    std::string layout;
};
struct SpatialShapeInputs {
    const Value &shape;
    explicit SpatialShapeInputs(std::span<const Value> in)
        : shape(in[0]) {}
};
std::unique_ptr<Step> make_spatial_shape(const SpatialShapeParams& params);

// Return the shape that an image has after resampling by a geometry.
struct GeometryShapeParams {
    std::string layout;
};
struct GeometryShapeInputs {
    const Value &geometry, &shape;
    explicit GeometryShapeInputs(std::span<const Value> in)
        : geometry(in[0]), shape(in[1]) {}
};
std::unique_ptr<Step> make_geometry_shape(const GeometryShapeParams& params);

// Select one of two values; only that one is computed.
struct MergeParams {
};
struct MergeInputs {
    const Value &condition, &taken, &otherwise;
    explicit MergeInputs(std::span<const Value> in)
        : condition(in[0]), taken(in[1]), otherwise(in[2]) {}
};
std::unique_ptr<Step> make_merge(const MergeParams& params);

// Select one of many values by its number; only that one is computed.
struct ChooseParams {
};
struct ChooseInputs {
    const Value &number;
    std::span<const Value> choices;
    explicit ChooseInputs(std::span<const Value> in)
        : number(in[0]), choices(in.subspan(1)) {}
};
std::unique_ptr<Step> make_choose(const ChooseParams& params);

// Return start and extent of a window of given extents at a relative position.
struct CropWindowParams {
    std::string layout;
    std::string rounding;
};
struct CropWindowInputs {
    const Value &shape, &crop_h, &crop_w, &crop_d, &crop_pos_y, &crop_pos_x, &crop_pos_z;
    explicit CropWindowInputs(std::span<const Value> in)
        : shape(in[0]), crop_h(in[1]), crop_w(in[2]), crop_d(in[3]), crop_pos_y(in[4]), crop_pos_x(in[5]), crop_pos_z(in[6]) {}
};
std::unique_ptr<Step> make_crop_window(const CropWindowParams& params);

// Return start and extent of a window between given edges.
struct SliceWindowParams {
    std::vector<int64_t> axes;
    bool normalized_anchor;
    bool normalized_shape;
};
struct SliceWindowInputs {
    const Value &shape, &anchor, &extent, &start, &end, &rel_start, &rel_end, &window_shape, &rel_shape;
    explicit SliceWindowInputs(std::span<const Value> in)
        : shape(in[0]), anchor(in[1]), extent(in[2]), start(in[3]), end(in[4]), rel_start(in[5]), rel_end(in[6]), window_shape(in[7]), rel_shape(in[8]) {}
};
std::unique_ptr<Step> make_slice_window(const SliceWindowParams& params);

// Take a window along some axes, or all if none are named; `channels` is the channel axis, -1 for the last.
struct WindowParams {
    std::vector<int64_t> axes;
    int64_t channels;
    std::string policy;
    std::string name;
};
struct WindowInputs {
    const Value &data, &start, &extent, &fill_values;
    explicit WindowInputs(std::span<const Value> in)
        : data(in[0]), start(in[1]), extent(in[2]), fill_values(in[3]) {}
};
std::unique_ptr<Step> make_window(const WindowParams& params);

// Mirror images along spatial axes.
struct FlipParams {
    std::string layout;
};
struct FlipInputs {
    const Value &data, &horizontal, &vertical, &depthwise;
    explicit FlipInputs(std::span<const Value> in)
        : data(in[0]), horizontal(in[1]), vertical(in[2]), depthwise(in[3]) {}
};
std::unique_ptr<Step> make_flip(const FlipParams& params);

// Permute axes; without a permutation, reverse them.
struct TransposeParams {
    std::vector<int64_t> perm;
};
struct TransposeInputs {
    const Value &data;
    explicit TransposeInputs(std::span<const Value> in)
        : data(in[0]) {}
};
std::unique_ptr<Step> make_transpose(const TransposeParams& params);

// Extend values at the high end of some axes.
struct PadParams {
    std::vector<int64_t> axes;
};
struct PadInputs {
    const Value &data, &extents, &align, &fill_value;
    explicit PadInputs(std::span<const Value> in)
        : data(in[0]), extents(in[1]), align(in[2]), fill_value(in[3]) {}
};
std::unique_ptr<Step> make_pad(const PadParams& params);

// Make a value contiguous in memory.
struct ContiguousParams {
};
struct ContiguousInputs {
    const Value &data;
    explicit ContiguousInputs(std::span<const Value> in)
        : data(in[0]) {}
};
std::unique_ptr<Step> make_contiguous(const ContiguousParams& params);

// Take a part as Python's subscripts do; `bounds` are index, first, end and step of each axis.
struct SubscriptParams {
};
struct SubscriptInputs {
    const Value &data;
    std::span<const Value> bounds;
    explicit SubscriptInputs(std::span<const Value> in)
        : data(in[0]), bounds(in.subspan(1)) {}
};
std::unique_ptr<Step> make_subscript(const SubscriptParams& params);

// Insert axes of extent 1; `names` is the number of axes that have names.
struct ExpandDimsParams {
    std::vector<int64_t> axes;
    std::optional<int64_t> names;
};
struct ExpandDimsInputs {
    const Value &data;
    explicit ExpandDimsInputs(std::span<const Value> in)
        : data(in[0]) {}
};
std::unique_ptr<Step> make_expand_dims(const ExpandDimsParams& params);

// Remove axes of extent 1.
struct SqueezeParams {
    std::vector<int64_t> axes;
};
struct SqueezeInputs {
    const Value &data;
    explicit SqueezeInputs(std::span<const Value> in)
        : data(in[0]) {}
};
std::unique_ptr<Step> make_squeeze(const SqueezeParams& params);

// Reinterpret the elements in another shape, and optionally as another type.
struct ReshapeParams {
    std::string name;
    std::optional<DType> dtype;
    std::optional<int64_t> names;
};
struct ReshapeInputs {
    const Value &data, &shape, &rel_shape, &src_dims;
    explicit ReshapeInputs(std::span<const Value> in)
        : data(in[0]), shape(in[1]), rel_shape(in[2]), src_dims(in[3]) {}
};
std::unique_ptr<Step> make_reshape(const ReshapeParams& params);

// Join values along an axis, or stack them along a new one.
struct ConcatenateParams {
    int64_t axis;
    bool stacks;
    std::string name;
    std::optional<int64_t> names;
};
struct ConcatenateInputs {
    std::span<const Value> parts;
    explicit ConcatenateInputs(std::span<const Value> in)
        : parts(in.subspan(0)) {}
};
std::unique_ptr<Step> make_concatenate(const ConcatenateParams& params);

}  // namespace pixelmill
