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

}  // namespace pixelmill
