// The output size of a resize, from its arguments and the size of the input.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "../fault.h"
#include "../value.h"

namespace pixelmill {

// A region that begins or ends far outside of the image needs a filter with as many taps, so it is refused.
inline void check_region(double low, double high) {
    constexpr double farthest = 1e6;
    if (std::fabs(low) <= farthest && std::fabs(high) <= farthest) return;
    throw Fault(FaultKind::argument, "resize: roi_start and roi_end must lie within a million pixels, got " +
                                         std::to_string(low) + " and " + std::to_string(high));
}

// The output size of a resize, worked out in DALI's precision: floats, and doubles for scales.
class ResizeRule {
   public:
    enum class Mode : uint8_t { free, stretch, not_larger, not_smaller };

    static Mode mode_named(const std::string& name) {
        if (name == "stretch") return Mode::stretch;
        if (name == "not_larger") return Mode::not_larger;
        if (name == "not_smaller") return Mode::not_smaller;
        return Mode::free;
    }

    int axes = 0;
    float in[max_dims] = {}, wanted[max_dims] = {}, limit[max_dims] = {};  // a limit of 0 is none

    void apply(Mode mode) {
        int given = 0;
        for (int d = 0; d < axes; ++d) {
            given_[d] = wanted[d] != 0 && in[d] != 0;
            scale_[d] = in[d] != 0 ? wanted[d] / in[d] : 1.0f;
            given += given_[d] ? 1 : 0;
        }
        if (given == 0) {
            std::copy_n(in, axes, wanted);
        } else if (mode == Mode::free || mode == Mode::stretch) {
            complete(mode == Mode::free ? mean_scale(given) : 1.0);
        } else {
            scale_all(common_scale(mode == Mode::not_smaller));
        }
    }

   private:
    double mean_scale(int given) const {
        double product = 1;
        for (int d = 0; d < axes; ++d) product *= given_[d] ? std::fabs(scale_[d]) : 1.0;
        return given > 1 ? std::pow(product, 1.0 / given) : product;
    }

    void complete(double scale) {
        for (int d = 0; d < axes; ++d) {
            if (!given_[d]) wanted[d] = static_cast<float>(in[d] * scale);
            if (limit[d] > 0 && std::fabs(wanted[d]) > limit[d]) wanted[d] = std::copysign(limit[d], wanted[d]);
        }
    }

    double common_scale(bool largest) const {
        double scale = 0;
        bool found = false;
        for (int d = 0; d < axes; ++d) {
            const auto mine = static_cast<double>(std::fabs(static_cast<float>(scale_[d])));
            if (given_[d] && (!found || (largest ? mine > scale : mine < scale))) scale = mine;
            found |= given_[d];
        }
        for (int d = 0; d < axes; ++d) {
            if (limit[d] > 0) scale = std::min(scale, static_cast<double>(limit[d]) / in[d]);
        }
        return scale;
    }

    void scale_all(double scale) {
        for (int d = 0; d < axes; ++d) {
            if (given_[d] && std::fabs(scale_[d]) == scale) continue;
            wanted[d] = static_cast<float>(in[d] * std::copysign(scale, scale_[d]));
        }
    }

    bool given_[max_dims] = {};
    double scale_[max_dims] = {};
};

}  // namespace pixelmill
