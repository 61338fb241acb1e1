#include "orientation.h"

#include <utility>

namespace pixelmill {

Orientation orientation_of(int exif) {
    const bool rows = exif == 3 || exif == 4 || exif == 6 || exif == 7;
    const bool columns = exif == 2 || exif == 3 || exif == 7 || exif == 8;
    return {exif >= 5, rows, columns};
}

Orientation inverse(Orientation orientation) {
    // A quarter turn is undone by the other one; every other orientation undoes itself.
    if (orientation.swap) std::swap(orientation.flip_rows, orientation.flip_columns);
    return orientation;
}

Window to_stored(const Window& seen, Orientation orientation, int64_t stored_height, int64_t stored_width) {
    Window stored = seen;
    if (orientation.swap) stored = {seen.x, seen.y, seen.width, seen.height};
    if (orientation.flip_rows) stored.y = stored_height - stored.y - stored.height;
    if (orientation.flip_columns) stored.x = stored_width - stored.x - stored.width;
    return stored;
}

Value oriented(const Value& stored, Orientation orientation) {
    Value seen = stored;
    const int64_t item = size_of(stored.dtype);
    const auto flip = [&](int axis) {
        seen.data += (seen.shape[axis] - 1) * seen.stride[axis] * item;
        seen.stride[axis] = -seen.stride[axis];
    };
    if (orientation.flip_rows) flip(0);
    if (orientation.flip_columns) flip(1);
    if (orientation.swap) {
        std::swap(seen.shape[0], seen.shape[1]);
        std::swap(seen.stride[0], seen.stride[1]);
    }
    return seen;
}

}  // namespace pixelmill
