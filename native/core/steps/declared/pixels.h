// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/pixels.py.
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

// Scale and shift levels.
struct BrightnessContrastParams {
    std::string name;
    std::string layout;
    std::optional<DType> dtype;
};
struct BrightnessContrastInputs {
    const Value &image, &brightness, &brightness_shift, &contrast, &contrast_center;
    explicit BrightnessContrastInputs(std::span<const Value> in)
        : image(in[0]), brightness(in[1]), brightness_shift(in[2]), contrast(in[3]), contrast_center(in[4]) {}
};
std::unique_ptr<Step> make_brightness_contrast(const BrightnessContrastParams& params);

// Rotate hues, and scale saturation, value, brightness and contrast.
struct ColorTwistParams {
    std::string name;
    std::string layout;
    std::optional<DType> dtype;
};
struct ColorTwistInputs {
    const Value &image, &hue, &saturation, &hsv_value, &brightness, &contrast;
    explicit ColorTwistInputs(std::span<const Value> in)
        : image(in[0]), hue(in[1]), saturation(in[2]), hsv_value(in[3]), brightness(in[4]), contrast(in[5]) {}
};
std::unique_ptr<Step> make_color_twist(const ColorTwistParams& params);

// Convert from one color space to another.
struct ColorSpaceParams {
    std::string layout;
    std::string source;
    std::string target;
};
struct ColorSpaceInputs {
    const Value &image;
    explicit ColorSpaceInputs(std::span<const Value> in)
        : image(in[0]) {}
};
std::unique_ptr<Step> make_color_space(const ColorSpaceParams& params);

// Blur with a Gaussian along the spatial axes.
struct GaussianBlurParams {
    std::string layout;
    std::optional<DType> dtype;
};
struct GaussianBlurInputs {
    const Value &image, &sigma, &window_size;
    explicit GaussianBlurInputs(std::span<const Value> in)
        : image(in[0]), sigma(in[1]), window_size(in[2]) {}
};
std::unique_ptr<Step> make_gaussian_blur(const GaussianBlurParams& params);

// Sum the second derivatives along the spatial axes.
struct LaplacianParams {
    std::string layout;
    std::optional<DType> dtype;
    bool normalized;
};
struct LaplacianInputs {
    const Value &image, &window_size, &smoothing_size, &scale;
    explicit LaplacianInputs(std::span<const Value> in)
        : image(in[0]), window_size(in[1]), smoothing_size(in[2]), scale(in[3]) {}
};
std::unique_ptr<Step> make_laplacian(const LaplacianParams& params);

// Correlate with a filter that is an input.
struct FilterParams {
    std::string layout;
    std::optional<DType> dtype;
    std::string border;
    bool valid;
};
struct FilterInputs {
    const Value &image, &filter, &fill_value, &anchor;
    explicit FilterInputs(std::span<const Value> in)
        : image(in[0]), filter(in[1]), fill_value(in[2]), anchor(in[3]) {}
};
std::unique_ptr<Step> make_filter(const FilterParams& params);

// Replace pixels by the median of their neighborhood.
struct MedianBlurParams {
    std::string layout;
};
struct MedianBlurInputs {
    const Value &image, &window_size;
    explicit MedianBlurInputs(std::span<const Value> in)
        : image(in[0]), window_size(in[1]) {}
};
std::unique_ptr<Step> make_median_blur(const MedianBlurParams& params);

// Equalize the histogram of each channel.
struct EqualizeParams {
    std::string layout;
};
struct EqualizeInputs {
    const Value &image;
    explicit EqualizeInputs(std::span<const Value> in)
        : image(in[0]) {}
};
std::unique_ptr<Step> make_equalize(const EqualizeParams& params);

// Equalize the histogram tile by tile, with limited contrast (CLAHE).
struct ClaheParams {
    int64_t tiles_x;
    int64_t tiles_y;
    double clip_limit;
    bool luma_only;
};
struct ClaheInputs {
    const Value &image;
    explicit ClaheInputs(std::span<const Value> in)
        : image(in[0]) {}
};
std::unique_ptr<Step> make_clahe(const ClaheParams& params);

// Distort an image as if on a sphere.
struct SphereParams {
    std::string layout;
    Filter interp_type;
    double fill_value;
};
struct SphereInputs {
    const Value &image, &mask;
    explicit SphereInputs(std::span<const Value> in)
        : image(in[0]), mask(in[1]) {}
};
std::unique_ptr<Step> make_sphere(const SphereParams& params);

// Distort an image as if under water.
struct WaterParams {
    std::string layout;
    Filter interp_type;
    double fill_value;
    double ampl_x;
    double freq_x;
    double phase_x;
    double ampl_y;
    double freq_y;
    double phase_y;
};
struct WaterInputs {
    const Value &image, &mask;
    explicit WaterInputs(std::span<const Value> in)
        : image(in[0]), mask(in[1]) {}
};
std::unique_ptr<Step> make_water(const WaterParams& params);

// Paste an image onto a larger canvas.
struct PasteParams {
};
struct PasteInputs {
    const Value &image, &fill_value, &ratio, &paste_x, &paste_y, &min_canvas_size;
    explicit PasteInputs(std::span<const Value> in)
        : image(in[0]), fill_value(in[1]), ratio(in[2]), paste_x(in[3]), paste_y(in[4]), min_canvas_size(in[5]) {}
};
std::unique_ptr<Step> make_paste(const PasteParams& params);

// Paste parts of images onto a canvas; later ones cover earlier ones.
struct MultiPasteParams {
    std::optional<DType> dtype;
};
struct MultiPasteInputs {
    const Value &output_size, &in_anchors, &in_anchors_rel, &shapes, &shapes_rel, &out_anchors, &out_anchors_rel;
    std::span<const Value> images;
    explicit MultiPasteInputs(std::span<const Value> in)
        : output_size(in[0]), in_anchors(in[1]), in_anchors_rel(in[2]), shapes(in[3]), shapes_rel(in[4]), out_anchors(in[5]), out_anchors_rel(in[6]), images(in.subspan(7)) {}
};
std::unique_ptr<Step> make_multi_paste(const MultiPasteParams& params);

// Fill rectangles.
struct EraseParams {
    std::string layout;
    std::vector<int64_t> axes;
    bool normalized_anchor;
    bool normalized_shape;
    bool centered_anchor;
};
struct EraseInputs {
    const Value &data, &anchor, &shape, &fill_value;
    explicit EraseInputs(std::span<const Value> in)
        : data(in[0]), anchor(in[1]), shape(in[2]), fill_value(in[3]) {}
};
std::unique_ptr<Step> make_erase(const EraseParams& params);

// Black out the squares of a grid.
struct GridMaskParams {
};
struct GridMaskInputs {
    const Value &image, &tile, &ratio, &angle, &shift_x, &shift_y;
    explicit GridMaskInputs(std::span<const Value> in)
        : image(in[0]), tile(in[1]), ratio(in[2]), angle(in[3]), shift_x(in[4]), shift_y(in[5]) {}
};
std::unique_ptr<Step> make_grid_mask(const GridMaskParams& params);

// Paste a window of another image into an image; also return the fraction that is unchanged.
struct CutPasteParams {
    std::string layout;
};
struct CutPasteInputs {
    const Value &image, &other, &fraction, &center;
    explicit CutPasteInputs(std::span<const Value> in)
        : image(in[0]), other(in[1]), fraction(in[2]), center(in[3]) {}
};
std::unique_ptr<Step> make_cut_paste(const CutPasteParams& params);

}  // namespace pixelmill
