// The objects of a mask: groups of equal pixels that touch.
#pragma once

#include <cstdint>
#include <vector>

#include "../value.h"

namespace pixelmill {

struct Object {
    int64_t label = 0;
    Extents low{}, high{};  // high is excluded

    int64_t volume(int axes) const;
};

// All objects of an integer mask but those of the background; pixels touch where they share a side. The mask is packed.
std::vector<Object> find_objects(const Value& mask, int64_t background);

}  // namespace pixelmill
