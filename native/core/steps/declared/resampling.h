// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/resampling.py.
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

// Compute the geometry of a resize.
struct ResizeGeometryParams {
    std::string layout;
    std::string mode;
    bool subpixel_scale;
    bool roi_relative;
};
struct ResizeGeometryInputs {
    const Value &shape, &size, &resize_z, &resize_y, &resize_x, &resize_shorter, &resize_longer, &max_size, &roi_start, &roi_end;
    explicit ResizeGeometryInputs(std::span<const Value> in)
        : shape(in[0]), size(in[1]), resize_z(in[2]), resize_y(in[3]), resize_x(in[4]), resize_shorter(in[5]), resize_longer(in[6]), max_size(in[7]), roi_start(in[8]), roi_end(in[9]) {}
};
std::unique_ptr<Step> make_resize_geometry(const ResizeGeometryParams& params);

// Compute the geometry that resamples a window to a size.
struct WindowGeometryParams {
    std::string layout;
};
struct WindowGeometryInputs {
    const Value &start, &extent, &shape, &size;
    explicit WindowGeometryInputs(std::span<const Value> in)
        : start(in[0]), extent(in[1]), shape(in[2]), size(in[3]) {}
};
std::unique_ptr<Step> make_window_geometry(const WindowGeometryParams& params);

// Restrict a geometry to a window of its output.
struct RestrictGeometryParams {
    std::string name;
};
struct RestrictGeometryInputs {
    const Value &geometry, &start, &extent;
    explicit RestrictGeometryInputs(std::span<const Value> in)
        : geometry(in[0]), start(in[1]), extent(in[2]) {}
};
std::unique_ptr<Step> make_restrict_geometry(const RestrictGeometryParams& params);

// Replace the output of a geometry by a window, which may extend beyond it, and mirror the window.
struct ProjectGeometryParams {
};
struct ProjectGeometryInputs {
    const Value &geometry, &start, &extent, &mirror;
    explicit ProjectGeometryInputs(std::span<const Value> in)
        : geometry(in[0]), start(in[1]), extent(in[2]), mirror(in[3]) {}
};
std::unique_ptr<Step> make_project_geometry(const ProjectGeometryParams& params);

// Mirror the output of a geometry.
struct FlipGeometryParams {
};
struct FlipGeometryInputs {
    const Value &geometry, &horizontal, &vertical, &depthwise;
    explicit FlipGeometryInputs(std::span<const Value> in)
        : geometry(in[0]), horizontal(in[1]), vertical(in[2]), depthwise(in[3]) {}
};
std::unique_ptr<Step> make_flip_geometry(const FlipGeometryParams& params);

// Resample an image by a geometry, and normalize the result if a normalization was fused into it.
struct ResampleParams {
    std::string layout;
    Filter filter_min;
    Filter filter_mag;
    bool antialias;
    std::optional<DType> dtype;
    bool normalize;
    std::string out_layout;
    bool pad_channels;
};
struct ResampleInputs {
    const Value &image, &geometry, &mean, &std, &scale, &shift, &sample_filter_min, &sample_filter_mag;
    explicit ResampleInputs(std::span<const Value> in)
        : image(in[0]), geometry(in[1]), mean(in[2]), std(in[3]), scale(in[4]), shift(in[5]), sample_filter_min(in[6]), sample_filter_mag(in[7]) {}
};
std::unique_ptr<Step> make_resample(const ResampleParams& params);

// Compute the geometry of every axis of an array.
struct TensorGeometryParams {
    std::vector<int64_t> axes;
    std::string mode;
    std::string rounding;
    bool subpixel_scale;
    bool roi_relative;
};
struct TensorGeometryInputs {
    const Value &shape, &sizes, &scales, &alignment, &roi_start, &roi_end, &max_size;
    explicit TensorGeometryInputs(std::span<const Value> in)
        : shape(in[0]), sizes(in[1]), scales(in[2]), alignment(in[3]), roi_start(in[4]), roi_end(in[5]), max_size(in[6]) {}
};
std::unique_ptr<Step> make_tensor_geometry(const TensorGeometryParams& params);

// Reshape an array to images or volumes; also return the geometry of their axes.
struct TensorImageParams {
    int64_t spatial;
};
struct TensorImageInputs {
    const Value &data, &geometry;
    explicit TensorImageInputs(std::span<const Value> in)
        : data(in[0]), geometry(in[1]) {}
};
std::unique_ptr<Step> make_tensor_image(const TensorImageParams& params);

// Reshape resampled images back to the axes of the array.
struct TensorBackParams {
};
struct TensorBackInputs {
    const Value &image, &geometry;
    explicit TensorBackInputs(std::span<const Value> in)
        : image(in[0]), geometry(in[1]) {}
};
std::unique_ptr<Step> make_tensor_back(const TensorBackParams& params);

}  // namespace pixelmill
