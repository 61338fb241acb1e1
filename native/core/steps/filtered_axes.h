// Which axes of a value a filter runs along, and the images that the others count.
#pragma once

#include <string>

#include "../kernels/convolve.h"
#include "../step.h"

namespace pixelmill {

// The axes that are filtered: all but leading frames and channels and trailing channels. Without a layout
// all axes are space, as in DALI.
struct FilteredAxes {
    int first = 0, count = 0;
    bool channels = false;
    int64_t images = 1;

    FilteredAxes(const Value& x, const std::string& layout, const std::string& name) {
        if (!layout.empty() && static_cast<int>(layout.size()) != x.ndim) {
            throw Fault(FaultKind::argument, name + ": the layout \"" + layout + "\" does not fit " + describe(x));
        }
        while (first < static_cast<int>(layout.size()) && (layout[first] == 'F' || layout[first] == 'C')) ++first;
        channels = !layout.empty() && first < x.ndim && layout.back() == 'C';
        count = x.ndim - first - (channels ? 1 : 0);
        if (count < 1 || count > 3) {
            throw Fault(FaultKind::argument, name + ": 1 to 3 axes of space are needed; got " + describe(x) +
                                                 " with the layout \"" + layout + "\"");
        }
        for (int d = 0; d < first; ++d) images *= x.shape[d];
    }

    // Where image number `index` of `value` begins.
    std::byte* image(const Value& value, int64_t index) const {
        int64_t at = 0;
        for (int d = first - 1; d >= 0; --d) {
            at += index % value.shape[d] * value.stride[d];
            index /= value.shape[d];
        }
        return value.data + at * size_of(value.dtype);
    }

    // Axis 0 is the depth, 1 the height and 2 the width; 1 and stride 0 where there is none.
    int64_t extent(const Value& value, int axis) const {
        return axis < 3 - count ? 1 : value.shape[first + count - 3 + axis];
    }
    int64_t stride(const Value& value, int axis) const {
        return axis < 3 - count ? 0 : value.stride[first + count - 3 + axis];
    }
    int64_t channel_count(const Value& value) const { return channels ? value.shape[value.ndim - 1] : 1; }

    Volume volume(const Value& value, int64_t index) const {
        return {reinterpret_cast<float*>(image(value, index)), extent(value, 0), extent(value, 1), extent(value, 2),
                channel_count(value)};
    }

    // Packed pixels in rows that may lie anywhere.
    Raster raster(const Value& value, int64_t index) const {
        const int64_t c = channel_count(value);
        return {image(value, index), value.dtype, extent(value, 1), extent(value, 2), c, stride(value, 1), c, 1};
    }
    bool rows_packed(const Value& value) const {
        const bool together = !channels || channel_count(value) == 1 || value.stride[value.ndim - 1] == 1;
        return count <= 2 && together && (extent(value, 2) == 1 || stride(value, 2) == channel_count(value));
    }
};

inline Border border_named(const std::string& name) {
    if (name == "reflect_101") return Border::reflect_101;
    if (name == "reflect_1001") return Border::reflect_1001;
    if (name == "clamp") return Border::clamp;
    return name == "wrap" ? Border::wrap : Border::constant;
}

// One number for each axis, or one for all.
inline double number_of_axis(const Value& values, int axis, int axes, const std::string& name) {
    const int64_t given = values.elements();
    if (given == 1) return values.number();
    if (given == axes) return values.number(axis);
    throw Fault(FaultKind::argument, name + " needs one number or " + std::to_string(axes) +
                                         ", one for each axis of space; got " + std::to_string(given));
}

}  // namespace pixelmill
