// Which axis of a value is which. An empty layout is taken for DALI's default of that number of axes.
#pragma once

#include <string>

#include "../fault.h"
#include "../value.h"

namespace pixelmill {

// `name` is the operator that asks, for the message.
inline std::string layout_of(const std::string& layout, int ndim, const std::string& name) {
    std::string found = layout;
    if (found.empty() && ndim == 3) found = "HWC";
    if (found.empty() && ndim == 4) found = "FHWC";
    if (static_cast<int>(found.size()) != ndim) {
        throw Fault(FaultKind::argument, name + ": " + std::to_string(ndim) + " axes do not fit the layout \"" +
                                             layout + "\"; give the input a layout such as \"HWC\"");
    }
    return found;
}

inline bool is_spatial(char axis) { return axis == 'D' || axis == 'H' || axis == 'W'; }

inline int spatial_axes(const std::string& layout) {
    int count = 0;
    for (char axis : layout) count += is_spatial(axis) ? 1 : 0;
    return count;
}

// -1 when there is none.
inline int axis_named(const std::string& layout, char name) {
    const auto at = layout.find(name);
    return at == std::string::npos ? -1 : static_cast<int>(at);
}

inline std::string listed(const int64_t* values, int count) {
    std::string text = "(";
    for (int i = 0; i < count; ++i) text += (i ? ", " : "") + std::to_string(values[i]);
    return text + (count == 1 ? ",)" : ")");
}

}  // namespace pixelmill
