#include "fault.h"

namespace pixelmill {

const char* name_of(FaultKind kind) {
    switch (kind) {
        case FaultKind::not_an_image: return "not_an_image";
        case FaultKind::truncated: return "truncated";
        case FaultKind::corrupt: return "corrupt";
        case FaultKind::too_large: return "too_large";
        case FaultKind::unsupported: return "unsupported";
        case FaultKind::checksum: return "checksum";
        case FaultKind::wrong_format: return "wrong_format";
        case FaultKind::io: return "io";
        case FaultKind::argument: return "argument";
    }
    return "unknown";
}

FaultKind fault_kind_named(const std::string& name) {
    for (int number = 0; number <= static_cast<int>(FaultKind::argument); ++number) {
        if (name == name_of(static_cast<FaultKind>(number))) return static_cast<FaultKind>(number);
    }
    return FaultKind::corrupt;
}

}  // namespace pixelmill
