// The shape of a draw: given as a vector, taken from another value, or a scalar.
#pragma once

#include <algorithm>
#include <vector>

#include "../step.h"
#include "layout.h"

namespace pixelmill {

inline std::vector<int64_t> drawn_shape(const Context& context, const Value& shape) {
    std::vector<int64_t> extents;
    for (int64_t i = 0; shape.present() && i < shape.elements(); ++i) extents.push_back(shape.integer(i));
    double elements = 1;
    for (int64_t extent : extents) {
        if (extent < 0) throw Fault(FaultKind::argument, "shape: extents cannot be negative");
        elements *= static_cast<double>(std::max<int64_t>(extent, 1));
    }
    if (elements > 4.0 * static_cast<double>(context.limits.pixels) || extents.size() > max_dims) {
        throw Fault(FaultKind::too_large, "shape: " + listed(extents.data(), static_cast<int>(extents.size())) +
                                              " passes the limit of " + std::to_string(context.limits.pixels) +
                                              " pixels");
    }
    return extents;
}

}  // namespace pixelmill
