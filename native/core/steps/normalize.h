// The arguments of crop_mirror_normalize's last part, and the pass itself: shared with the resampler that ends in it.
#pragma once

#include <string>

#include "../kernels/pointwise.h"
#include "../step.h"

namespace pixelmill {

struct NormalizeArguments {
    std::string layout, out_layout;  // as passed, perhaps empty
    DType dtype = DType::f32;
    bool pads_channels = false;
    std::string name;
    double channel_fill = 0;  // what the channels hold that only pad
};

// (x - mean) * scale / std + shift, folded to two numbers per channel that live in the arena.
Scaling scaling_of(Context& context, const Value& mean, const Value& std, const Value& scale, const Value& shift,
                   int64_t channels, const std::string& name);

int64_t padded_channels(int64_t channels, bool pads);

// Writes output `index` of the running step.
Value normalized(Context& context, int index, const Value& x, bool mirror, const Value& mean, const Value& std,
                 const Value& scale, const Value& shift, const NormalizeArguments& arguments);

}  // namespace pixelmill
