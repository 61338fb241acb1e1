// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/random.py.
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

// Draw from a range, or from a list of values.
struct UniformParams {
    uint64_t key;
    bool wide;
};
struct UniformInputs {
    const Value &range, &choices, &shape;
    explicit UniformInputs(std::span<const Value> in)
        : range(in[0]), choices(in[1]), shape(in[2]) {}
};
std::unique_ptr<Step> make_uniform(const UniformParams& params);

// Draw from a normal distribution.
struct NormalParams {
    uint64_t key;
};
struct NormalInputs {
    const Value &mean, &stddev, &shape;
    explicit NormalInputs(std::span<const Value> in)
        : mean(in[0]), stddev(in[1]), shape(in[2]) {}
};
std::unique_ptr<Step> make_normal(const NormalParams& params);

// Draw 0 or 1.
struct CoinFlipParams {
    uint64_t key;
};
struct CoinFlipInputs {
    const Value &probability, &shape;
    explicit CoinFlipInputs(std::span<const Value> in)
        : probability(in[0]), shape(in[1]) {}
};
std::unique_ptr<Step> make_coin_flip(const CoinFlipParams& params);

// Draw from a list along its first axis, or a number below a count.
struct ChoiceParams {
    uint64_t key;
};
struct ChoiceInputs {
    const Value &choices, &weights, &shape;
    explicit ChoiceInputs(std::span<const Value> in)
        : choices(in[0]), weights(in[1]), shape(in[2]) {}
};
std::unique_ptr<Step> make_choice(const ChoiceParams& params);

// Draw from a beta distribution.
struct BetaParams {
    uint64_t key;
    bool wide;
};
struct BetaInputs {
    const Value &alpha, &beta, &shape;
    explicit BetaInputs(std::span<const Value> in)
        : alpha(in[0]), beta(in[1]), shape(in[2]) {}
};
std::unique_ptr<Step> make_beta(const BetaParams& params);

// Draw the window of a random resized crop: its start, and its extent.
struct RandomWindowParams {
    uint64_t key;
    std::vector<double> area;
    std::vector<double> ratio;
    int64_t attempts;
    std::string layout;
};
struct RandomWindowInputs {
    const Value &shape;
    explicit RandomWindowInputs(std::span<const Value> in)
        : shape(in[0]) {}
};
std::unique_ptr<Step> make_random_window(const RandomWindowParams& params);

// Draw a window that keeps enough of the boxes.
struct RandomBoxCropParams {
    uint64_t key;
    std::string layout;
    std::string shape_layout;
    std::vector<double> thresholds;
    std::vector<double> aspect_ratio;
    std::vector<double> scaling;
    std::optional<double> prune_threshold;
    int64_t attempts;
    int64_t total_attempts;
    bool overlap;
    bool every_box;
    bool allow_no_crop;
    bool output_indices;
};
struct RandomBoxCropInputs {
    const Value &boxes, &labels, &crop_shape, &input_shape;
    explicit RandomBoxCropInputs(std::span<const Value> in)
        : boxes(in[0]), labels(in[1]), crop_shape(in[2]), input_shape(in[3]) {}
};
std::unique_ptr<Step> make_random_box_crop(const RandomBoxCropParams& params);

// Draw a window that covers as much of a region as it can.
struct RegionCropParams {
    uint64_t key;
};
struct RegionCropInputs {
    const Value &crop_shape, &roi_start, &roi_end, &roi_shape, &in_shape;
    explicit RegionCropInputs(std::span<const Value> in)
        : crop_shape(in[0]), roi_start(in[1]), roi_end(in[2]), roi_shape(in[3]), in_shape(in[4]) {}
};
std::unique_ptr<Step> make_region_crop(const RegionCropParams& params);

// Draw an object of a mask, and return its box.
struct RandomObjectParams {
    uint64_t key;
    std::string format;
    int64_t k_largest;
    bool ignore_class;
    bool output_class;
};
struct RandomObjectInputs {
    const Value &mask, &foreground_prob, &background, &classes, &class_weights, &threshold;
    explicit RandomObjectInputs(std::span<const Value> in)
        : mask(in[0]), foreground_prob(in[1]), background(in[2]), classes(in[3]), class_weights(in[4]), threshold(in[5]) {}
};
std::unique_ptr<Step> make_random_object(const RandomObjectParams& params);

// Draw a pixel of a mask.
struct RandomPixelParams {
    uint64_t key;
};
struct RandomPixelInputs {
    const Value &mask, &foreground, &wanted, &threshold;
    explicit RandomPixelInputs(std::span<const Value> in)
        : mask(in[0]), foreground(in[1]), wanted(in[2]), threshold(in[3]) {}
};
std::unique_ptr<Step> make_random_pixel(const RandomPixelParams& params);

// Add normally distributed noise.
struct GaussianNoiseParams {
    uint64_t key;
};
struct GaussianNoiseInputs {
    const Value &data, &mean, &stddev;
    explicit GaussianNoiseInputs(std::span<const Value> in)
        : data(in[0]), mean(in[1]), stddev(in[2]) {}
};
std::unique_ptr<Step> make_gaussian_noise(const GaussianNoiseParams& params);

// Set pixels to white or black; `channel` is the channel axis: -1 for none, -2 for the last.
struct SaltAndPepperParams {
    uint64_t key;
    int64_t channel;
};
struct SaltAndPepperInputs {
    const Value &data, &prob, &salt_vs_pepper, &salt_val, &pepper_val;
    explicit SaltAndPepperInputs(std::span<const Value> in)
        : data(in[0]), prob(in[1]), salt_vs_pepper(in[2]), salt_val(in[3]), pepper_val(in[4]) {}
};
std::unique_ptr<Step> make_salt_and_pepper(const SaltAndPepperParams& params);

// Add shot noise: levels are proportional to a random number of photons.
struct ShotNoiseParams {
    uint64_t key;
};
struct ShotNoiseInputs {
    const Value &data, &factor;
    explicit ShotNoiseInputs(std::span<const Value> in)
        : data(in[0]), factor(in[1]) {}
};
std::unique_ptr<Step> make_shot_noise(const ShotNoiseParams& params);

}  // namespace pixelmill
