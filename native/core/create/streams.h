// Which numbers belong to what. A change of these numbers changes every dataset made with them. Draw once in a
// statement or a declarator: compilers evaluate arguments in different orders.
#pragma once

#include "../rng.h"
#include "content.h"

namespace pixelmill {

enum class Purpose : uint16_t { choices = 1, smooth, rough, tint, sensor, padding };

inline uint64_t content_key(Content content, uint64_t seed) {
    constexpr uint64_t first = 0x637265617465ull;  // "create"
    return operator_key(seed, first + static_cast<uint64_t>(content));
}

inline Stream stream_for(Content content, const ImageId& id, Purpose purpose) {
    return Stream(content_key(content, id.seed), {0, id.index, static_cast<uint16_t>(purpose)});
}

inline StreamId bulk_stream(Content content, const ImageId& id, Purpose purpose) {
    return stream_id(content_key(content, id.seed), {0, id.index, static_cast<uint16_t>(purpose)});
}

}  // namespace pixelmill
