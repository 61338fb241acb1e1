// Axes as arguments name them: by number, perhaps counted from the end.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../fault.h"
#include "../value.h"

namespace pixelmill {

inline int checked_axis(int64_t axis, int ndim, const std::string& name) {
    const auto given = static_cast<int>(axis), resolved = given < 0 ? given + ndim : given;
    if (resolved < 0 || resolved >= ndim) {
        throw Fault(FaultKind::argument,
                    name + ": there is no axis " + std::to_string(given) + " among " + std::to_string(ndim));
    }
    return resolved;
}

// Names for axes were given when the graph was built; whether they fit is known now.
inline void check_names(std::optional<int64_t> names, size_t ndim, const std::string& name) {
    if (!names || static_cast<size_t>(*names) == ndim) return;
    throw Fault(FaultKind::argument, name + ": the axes have " + std::to_string(*names) + " names, but there are " +
                                         std::to_string(ndim) + " of them; give the input a layout");
}

using AxisSet = std::array<bool, max_dims>;

inline AxisSet marked_axes(const std::vector<int64_t>& axes, int ndim, const std::string& name) {
    AxisSet marked{};
    for (int64_t axis : axes) {
        bool& mark = marked[static_cast<size_t>(checked_axis(axis, ndim, name))];
        if (mark) throw Fault(FaultKind::argument, name + ": axis " + std::to_string(axis) + " is named twice");
        mark = true;
    }
    return marked;
}

}  // namespace pixelmill
