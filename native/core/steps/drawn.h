// The shape of a draw: given as a vector, taken from another value, or a scalar.
#pragma once

#include <vector>

#include "../step.h"

namespace pixelmill {

inline std::vector<int64_t> drawn_shape(const Value& shape, const Value& like) {
    std::vector<int64_t> extents;
    if (shape.present()) {
        for (int64_t i = 0; i < shape.elements(); ++i) extents.push_back(shape.integer(i));
    } else if (like.present()) {
        extents.assign(like.shape.begin(), like.shape.begin() + like.ndim);
    }
    for (int64_t extent : extents) {
        if (extent < 0) throw Fault(FaultKind::argument, "shape: extents cannot be negative");
    }
    return extents;
}

}  // namespace pixelmill
