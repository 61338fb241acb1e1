// The body of LLVMFuzzerTestOneInput, which also returns what came of an input.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../native/core/fault.h"

namespace pixelmill {

// The fault kinds, and after them the results that are no faults.
enum class Verdict {
    not_an_image = static_cast<int>(FaultKind::not_an_image),
    truncated = static_cast<int>(FaultKind::truncated),
    corrupt = static_cast<int>(FaultKind::corrupt),
    too_large = static_cast<int>(FaultKind::too_large),
    unsupported = static_cast<int>(FaultKind::unsupported),
    decoded = 32,
    noted = 33,
};

Verdict run_decode_gate(const uint8_t* data, size_t size);

}  // namespace pixelmill
