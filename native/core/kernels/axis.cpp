#include "axis.h"

#include <algorithm>
#include <cmath>

#include "filters.h"

namespace pixelmill {

namespace {

// The taps of output i that may weigh something, before they are cut to the source. A tap at the very edge of the
// window is in or out by the last bit of a coordinate, so both ends give way by a few of those.
Range touched(const AxisFilter& filter, double i) {
    const float begin = static_cast<float>(i) * filter.step + filter.start;
    const float slack = 1e-6f + std::fabs(begin) * 1e-6f;
    const auto first = static_cast<int64_t>(std::ceil(begin - slack));
    auto last = static_cast<int64_t>(std::ceil(begin + slack)) + filter.support;
    while (last - first > 1 && filter.weight(std::max(static_cast<float>(last - 1) - begin - slack, 0.0f)) == 0) --last;
    return {first, last};
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
