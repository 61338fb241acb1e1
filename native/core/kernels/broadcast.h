// The elements of a value in the order in which it is broadcast to a larger shape, by NumPy's rules.
#pragma once

#include "../value.h"

namespace pixelmill {

// Axes from the outermost to the innermost; neighbors with even strides are merged. Strides in elements.
struct BroadcastView {
    const std::byte* data = nullptr;
    int64_t size = 1;  // of an element
    int axes = 0;
    Extents extent{}, stride{};

    bool single() const { return axes == 0 || (axes == 1 && stride[0] == 0); }
    bool dense() const { return axes == 1 && stride[0] == 1; }
    // The number of elements that come again and again, or 0.
    int64_t period() const { return axes == 2 && stride[0] == 0 && stride[1] == 1 ? extent[1] : 0; }

    // Copies `count` elements, starting with element `offset` of the broadcast value.
    void gather(std::byte* out, int64_t offset, int64_t count) const;
};

// The value must fit the shape: each of its extents is that of the shape, counted from the last, or 1.
BroadcastView broadcast_view(const Value& value, int ndim, const Extents& shape);

// Extends `shape` so that `other` can be broadcast to it too; false if they are incompatible.
bool broadcast(int& ndim, Extents& shape, const Value& other);

}  // namespace pixelmill
