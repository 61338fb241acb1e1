// The eight EXIF orientations as what they are: a swap of the axes and two flips, made by strides alone.
#pragma once

#include "../value.h"
#include "../view.h"

namespace pixelmill {

// The image as seen has at (y, x) the stored pixel (r, c), where r runs with y and c with x, or the other way round
// after a swap, and a flipped one runs backwards.
struct Orientation {
    bool swap = false, flip_rows = false, flip_columns = false;
    friend bool operator==(const Orientation&, const Orientation&) = default;
};

Orientation orientation_of(int exif);  // 1..8
Orientation inverse(Orientation orientation);

// A window of the image as seen, in coordinates of the stored one with the given extents.
Window to_stored(const Window& seen, Orientation orientation, int64_t stored_height, int64_t stored_width);

// The oriented view of a stored HWC image; shares its memory.
Value oriented(const Value& stored, Orientation orientation);

}  // namespace pixelmill
