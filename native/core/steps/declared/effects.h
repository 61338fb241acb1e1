// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/effects.py.
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

// Replace each level of an image of bytes by that of a table, which a curve and its numbers define.
struct LevelsParams {
    std::string curve;
};
struct LevelsInputs {
    const Value &image;
    std::span<const Value> numbers;
    explicit LevelsInputs(std::span<const Value> in)
        : image(in[0]), numbers(in.subspan(1)) {}
};
std::unique_ptr<Step> make_levels(const LevelsParams& params);

// Change brightness, contrast, saturation and hue in the order that `order` lists, as one matrix.
struct ColorJitterParams {
};
struct ColorJitterInputs {
    const Value &image, &brightness, &contrast, &saturation, &hue, &order;
    explicit ColorJitterInputs(std::span<const Value> in)
        : image(in[0]), brightness(in[1]), contrast(in[2]), saturation(in[3]), hue(in[4]), order(in[5]) {}
};
std::unique_ptr<Step> make_color_jitter(const ColorJitterParams& params);

// Multiply the colors of pixels by a 3 x 3 matrix and add three numbers, which a mix and its numbers define.
struct MixChannelsParams {
    std::string mix;
};
struct MixChannelsInputs {
    const Value &image, &numbers;
    explicit MixChannelsInputs(std::span<const Value> in)
        : image(in[0]), numbers(in[1]) {}
};
std::unique_ptr<Step> make_mix_channels(const MixChannelsParams& params);

// Fill random rectangles. Their count, and height and width or area and aspect ratio, are ranges.
struct HolesParams {
    uint64_t key;
    bool by_area;
    std::string name;
};
struct HolesInputs {
    const Value &image, &count, &first, &second, &fill_value;
    explicit HolesInputs(std::span<const Value> in)
        : image(in[0]), count(in[1]), first(in[2]), second(in[3]), fill_value(in[4]) {}
};
std::unique_ptr<Step> make_holes(const HolesParams& params);

// Add noise of a sensor: to the brightness of pixels in proportion to it, and to each color where one is given.
struct SensorNoiseParams {
    uint64_t key;
    std::string name;
};
struct SensorNoiseInputs {
    const Value &image, &luma, &color;
    explicit SensorNoiseInputs(std::span<const Value> in)
        : image(in[0]), luma(in[1]), color(in[2]) {}
};
std::unique_ptr<Step> make_sensor_noise(const SensorNoiseParams& params);

// Replace pixels by the mean of a square around them.
struct BoxBlurParams {
};
struct BoxBlurInputs {
    const Value &image, &size;
    explicit BoxBlurInputs(std::span<const Value> in)
        : image(in[0]), size(in[1]) {}
};
std::unique_ptr<Step> make_box_blur(const BoxBlurParams& params);

// Return the weights of a filter.
struct FilterKernelParams {
    std::string shape;
};
struct FilterKernelInputs {
    std::span<const Value> numbers;
    explicit FilterKernelInputs(std::span<const Value> in)
        : numbers(in.subspan(0)) {}
};
std::unique_ptr<Step> make_filter_kernel(const FilterKernelParams& params);

// Average an image with copies of it that are zoomed in by up to a factor.
struct ZoomBlurParams {
    int64_t samples;
};
struct ZoomBlurInputs {
    const Value &image, &factor;
    explicit ZoomBlurInputs(std::span<const Value> in)
        : image(in[0]), factor(in[1]) {}
};
std::unique_ptr<Step> make_zoom_blur(const ZoomBlurParams& params);

// Take each pixel from a random neighbor.
struct ScatterPixelsParams {
    uint64_t key;
};
struct ScatterPixelsInputs {
    const Value &image, &distance;
    explicit ScatterPixelsInputs(std::span<const Value> in)
        : image(in[0]), distance(in[1]) {}
};
std::unique_ptr<Step> make_scatter_pixels(const ScatterPixelsParams& params);

// Fill random segments of similar pixels with their mean color.
struct FillSuperpixelsParams {
    uint64_t key;
};
struct FillSuperpixelsInputs {
    const Value &image, &segments, &probability;
    explicit FillSuperpixelsInputs(std::span<const Value> in)
        : image(in[0]), segments(in[1]), probability(in[2]) {}
};
std::unique_ptr<Step> make_fill_superpixels(const FillSuperpixelsParams& params);

// Draw an effect into an image of bytes.
struct WeatherParams {
    uint64_t key;
    std::string effect;
};
struct WeatherInputs {
    const Value &image;
    std::span<const Value> numbers;
    explicit WeatherInputs(std::span<const Value> in)
        : image(in[0]), numbers(in.subspan(1)) {}
};
std::unique_ptr<Step> make_weather(const WeatherParams& params);

}  // namespace pixelmill
