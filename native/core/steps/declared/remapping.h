// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/remapping.py.
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

// Warp an image by a 3 x 3 matrix, which maps places of the result to places of the source if `inverse`.
struct WarpPerspectiveParams {
    std::string layout;
    Filter interp_type;
    std::string border;
    std::vector<double> fill_value;
    bool inverse;
    bool centered;
};
struct WarpPerspectiveInputs {
    const Value &image, &matrix, &size;
    explicit WarpPerspectiveInputs(std::span<const Value> in)
        : image(in[0]), matrix(in[1]), size(in[2]) {}
};
std::unique_ptr<Step> make_warp_perspective(const WarpPerspectiveParams& params);

// Take each pixel of the result from the place that two maps name.
struct RemapParams {
    std::string layout;
    Filter interp_type;
    bool centered;
};
struct RemapInputs {
    const Value &image, &map_x, &map_y;
    explicit RemapInputs(std::span<const Value> in)
        : image(in[0]), map_x(in[1]), map_y(in[2]) {}
};
std::unique_ptr<Step> make_remap(const RemapParams& params);

// Replace pixels by the largest of their neighborhood.
struct DilateParams {
    std::string layout;
    int64_t iterations;
    std::string border;
};
struct DilateInputs {
    const Value &image, &mask_size, &anchor;
    explicit DilateInputs(std::span<const Value> in)
        : image(in[0]), mask_size(in[1]), anchor(in[2]) {}
};
std::unique_ptr<Step> make_dilate(const DilateParams& params);

// Replace pixels by the smallest of their neighborhood.
struct ErodeParams {
    std::string layout;
    int64_t iterations;
    std::string border;
};
struct ErodeInputs {
    const Value &image, &mask_size, &anchor;
    explicit ErodeInputs(std::span<const Value> in)
        : image(in[0]), mask_size(in[1]), anchor(in[2]) {}
};
std::unique_ptr<Step> make_erode(const ErodeParams& params);

// Take the frames of a sequence in another order.
struct RearrangeFramesParams {
};
struct RearrangeFramesInputs {
    const Value &data, &new_order;
    explicit RearrangeFramesInputs(std::span<const Value> in)
        : data(in[0]), new_order(in[1]) {}
};
std::unique_ptr<Step> make_rearrange_frames(const RearrangeFramesParams& params);

}  // namespace pixelmill
