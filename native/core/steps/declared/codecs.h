// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/codecs.py.
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

// Read the shape of an image from its header.
struct ImageShapeParams {
    std::string color;
    bool orientation;
};
struct ImageShapeInputs {
    const Value &encoded;
    explicit ImageShapeInputs(std::span<const Value> in)
        : encoded(in[0]) {}
};
std::unique_ptr<Step> make_image_shape(const ImageShapeParams& params);

// Decode an image, or a window of it.
struct DecodeParams {
    std::string color;
    std::optional<DType> dtype;
    bool orientation;
    bool padded_pixels;
    int64_t scaling;
    Filter filter_min;
    Filter filter_mag;
    bool antialias;
};
struct DecodeInputs {
    const Value &encoded, &window, &geometry;
    explicit DecodeInputs(std::span<const Value> in)
        : encoded(in[0]), window(in[1]), geometry(in[2]) {}
};
std::unique_ptr<Step> make_decode(const DecodeParams& params);

// Encode an image.
struct EncodeParams {
    std::string format;
    std::string subsampling;
    int64_t level;
};
struct EncodeInputs {
    const Value &image, &quality;
    explicit EncodeInputs(std::span<const Value> in)
        : image(in[0]), quality(in[1]) {}
};
std::unique_ptr<Step> make_encode(const EncodeParams& params);

// Add the artifacts of JPEG compression to images.
struct JpegDistortionParams {
    std::string layout;
};
struct JpegDistortionInputs {
    const Value &image, &quality;
    explicit JpegDistortionInputs(std::span<const Value> in)
        : image(in[0]), quality(in[1]) {}
};
std::unique_ptr<Step> make_jpeg_distortion(const JpegDistortionParams& params);

// Add the artifacts of WebP compression to images.
struct WebpDistortionParams {
    std::string layout;
};
struct WebpDistortionInputs {
    const Value &image, &quality;
    explicit WebpDistortionInputs(std::span<const Value> in)
        : image(in[0]), quality(in[1]) {}
};
std::unique_ptr<Step> make_webp_distortion(const WebpDistortionParams& params);

}  // namespace pixelmill
