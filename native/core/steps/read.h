// What all steps that read the bytes of samples check.
#pragma once

#include "../step.h"

namespace pixelmill {

// Refuses encoded data beyond the limit before memory for it is taken.
void check_encoded_bytes(const Context& context, int64_t bytes);

}  // namespace pixelmill
