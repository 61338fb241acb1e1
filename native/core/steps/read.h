// Checks that all steps share that read the bytes of samples.
#pragma once

#include "../step.h"

namespace pixelmill {

// Throws for encoded data above the limit before memory for it is allocated.
void check_encoded_bytes(const Context& context, int64_t bytes);

}  // namespace pixelmill
