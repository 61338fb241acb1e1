// Parameters, which are read once, and inputs, which each sample has, of the steps of steps/placement.py.
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

// Return the placement of an image that nothing has moved.
struct StartPlacementParams {
};
struct StartPlacementInputs {
    const Value &shape;
    explicit StartPlacementInputs(std::span<const Value> in)
        : shape(in[0]) {}
};
std::unique_ptr<Step> make_start_placement(const StartPlacementParams& params);

// Add a move to a placement unless `active` is 0; also return the move: its matrix and the size of its canvas.
struct MovePlacementParams {
    std::string move;
};
struct MovePlacementInputs {
    const Value &placement, &active;
    std::span<const Value> numbers;
    explicit MovePlacementInputs(std::span<const Value> in)
        : placement(in[0]), active(in[1]), numbers(in.subspan(2)) {}
};
std::unique_ptr<Step> make_move_placement(const MovePlacementParams& params);

// Return the height and width of the canvas of a placement.
struct PlacementShapeParams {
};
struct PlacementShapeInputs {
    const Value &placement;
    explicit PlacementShapeInputs(std::span<const Value> in)
        : placement(in[0]) {}
};
std::unique_ptr<Step> make_placement_shape(const PlacementShapeParams& params);

// Return the part of the source that a placement needs, and its scale, as the geometry of a decode.
struct PlacementGeometryParams {
};
struct PlacementGeometryInputs {
    const Value &placement, &field;
    explicit PlacementGeometryInputs(std::span<const Value> in)
        : placement(in[0]), field(in[1]) {}
};
std::unique_ptr<Step> make_placement_geometry(const PlacementGeometryParams& params);

// Make the image that a placement describes, with one interpolation.
struct PlaceParams {
    bool linear;
    double fill_value;
    bool smooth;
};
struct PlaceInputs {
    const Value &image, &placement, &field, &geometry, &decoded;
    explicit PlaceInputs(std::span<const Value> in)
        : image(in[0]), placement(in[1]), field(in[2]), geometry(in[3]), decoded(in[4]) {}
};
std::unique_ptr<Step> make_place(const PlaceParams& params);

}  // namespace pixelmill
