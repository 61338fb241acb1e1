// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/boxes.py.
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

// Mirror boxes.
struct BoxFlipParams {
    std::string layout;
};
struct BoxFlipInputs {
    const Value &boxes, &horizontal, &vertical;
    explicit BoxFlipInputs(std::span<const Value> in)
        : boxes(in[0]), horizontal(in[1]), vertical(in[2]) {}
};
std::unique_ptr<Step> make_box_flip(const BoxFlipParams& params);

// Move boxes as pasting moves their image.
struct BoxPasteParams {
    bool ltrb;
};
struct BoxPasteInputs {
    const Value &boxes, &ratio, &paste_x, &paste_y;
    explicit BoxPasteInputs(std::span<const Value> in)
        : boxes(in[0]), ratio(in[1]), paste_x(in[2]), paste_y(in[3]) {}
};
std::unique_ptr<Step> make_box_paste(const BoxPasteParams& params);

// Rotate boxes with their image. If labels are given, the labels of the remaining boxes are the second output.
struct BoxRotateParams {
    std::string layout;
    bool normalized;
    bool keep_size;
    std::string mode;
    double remove_threshold;
    std::string shape_layout;
};
struct BoxRotateInputs {
    const Value &boxes, &labels, &angle, &input_shape, &size;
    explicit BoxRotateInputs(std::span<const Value> in)
        : boxes(in[0]), labels(in[1]), angle(in[2]), input_shape(in[3]), size(in[4]) {}
};
std::unique_ptr<Step> make_box_rotate(const BoxRotateParams& params);

// Assign a box (left, top, right, bottom) to every anchor of a detector; return the boxes and their labels.
struct BoxEncoderParams {
    std::vector<double> anchors;
    double criteria;
    bool offset;
    double scale;
    std::vector<double> means;
    std::vector<double> stds;
};
struct BoxEncoderInputs {
    const Value &boxes, &labels;
    explicit BoxEncoderInputs(std::span<const Value> in)
        : boxes(in[0]), labels(in[1]) {}
};
std::unique_ptr<Step> make_box_encoder(const BoxEncoderParams& params);

// Select masks and return their polygons and vertices; a polygon is a mask id, its first and its end vertex.
struct SelectMasksParams {
    bool reindex_masks;
};
struct SelectMasksInputs {
    const Value &mask_ids, &polygons, &vertices;
    explicit SelectMasksInputs(std::span<const Value> in)
        : mask_ids(in[0]), polygons(in[1]), vertices(in[2]) {}
};
std::unique_ptr<Step> make_select_masks(const SelectMasksParams& params);

}  // namespace pixelmill
