#include "axis.h"

#include <algorithm>
#include <cmath>

#include "filters.h"

namespace pixelmill {

namespace {

// The taps of output i that weigh something, before they are cut to the source.
Range touched(const AxisFilter& filter, double i) {
    const float begin = static_cast<float>(i) * filter.step + filter.start;
    const float first = std::ceil(begin);
    Range range{static_cast<int64_t>(first), static_cast<int64_t>(first) + filter.support};
    const float offset = first - begin;
    while (range.last - range.first > 1 && filter.weight(offset) == 0 && range.first < static_cast<int64_t>(first) + 1) {
        ++range.first;
    }
    while (range.last - range.first > 1 &&
           filter.weight(offset + static_cast<float>(range.last - 1 - static_cast<int64_t>(first))) == 0) {
        --range.last;
    }
    return range;
}

// DALI adds the step up in single precision along some axes, so the pixel may be one off from the product.
Range touched_by_nearest(const Axis& axis, double i) {
    const auto at = static_cast<int64_t>(std::floor(axis.low + (i + 0.5) * (axis.high - axis.low) / axis.out));
    return {at - 1, at + 2};
}

}  // namespace

Range source_range(const Axis& axis, const FilterChoice& filters) {
    const AxisFilter filter(axis, filters);
    const double last = axis.first + std::max(axis.count, 1.0) - 1;
    const auto at = [&](double i) {
        return filter.filter == Filter::nearest ? touched_by_nearest(axis, i) : touched(filter, i);
    };
    const Range one = at(axis.first), other = at(last);
    const auto source = static_cast<int64_t>(axis.source);
    Range range{std::min(one.first, other.first), std::max(one.last, other.last)};
    range.first = std::clamp<int64_t>(range.first, 0, std::max<int64_t>(source - 1, 0));
    range.last = std::clamp<int64_t>(range.last, range.first + 1, std::max<int64_t>(source, range.first + 1));
    return range;
}

}  // namespace pixelmill
