// Boxes: a low and a high edge along two or three axes, in the order x, y, z.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "../step.h"

namespace pixelmill {

struct Box {
    float low[3] = {}, high[3] = {};

    float extent(int axis) const { return high[axis] - low[axis]; }
    float volume(int axes) const {
        float product = 1;
        for (int a = 0; a < axes; ++a) product *= extent(a);
        return product;
    }
};

// How much two boxes have in common.
inline float common_volume(const Box& a, const Box& b, int axes) {
    float product = 1;
    for (int i = 0; i < axes; ++i) {
        const float extent = std::min(a.high[i], b.high[i]) - std::max(a.low[i], b.low[i]);
        if (!(extent > 0)) return 0;
        product *= extent;
    }
    return product;
}

inline float overlap_over_union(const Box& a, const Box& b, int axes) {
    const float common = common_volume(a, b, axes);
    return common == 0 ? 0.0f : common / (a.volume(axes) + b.volume(axes) - common);
}

// How the columns of a table of boxes are ordered: "xyXY", "xyWH", or a permutation of them; with z for three axes.
class BoxLayout {
   public:
    BoxLayout() = default;
    BoxLayout(const std::string& layout, int axes, const std::string& name);
    int axes() const { return axes_; }
    std::vector<Box> read(const Value& table) const;
    void write(float* row, const Box& box) const;

   private:
    int axes_ = 2;
    int low_[3] = {}, high_[3] = {};  // columns
    bool extents_ = false;            // the second half holds extents
    std::string name_;
};

// A table of boxes as output `index` of the running step.
Value put_boxes(Context& context, int index, const BoxLayout& layout, const std::vector<Box>& boxes);

// The rows of a value that are kept, as output `index` of the running step.
Value put_rows(Context& context, int index, const Value& rows, const std::vector<int64_t>& kept,
               const std::string& name);

}  // namespace pixelmill
