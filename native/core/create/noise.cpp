#include <cstring>

#include "../kernels/draws.h"
#include "content.h"
#include "streams.h"

namespace pixelmill {

void draw_noise(View<uint8_t> out, const PictureId& id) {
    const StreamId stream = bulk_stream(Content::noise, id, Purpose::choices);
    const int64_t bytes = out.height * out.width * 3, whole = bytes / 16 * 16;
    constexpr int64_t part = 16 * 4096;
    for (int64_t first = 0; first < whole; first += part) {
        const int64_t count = std::min(part, whole - first);
        alignas(64) uint32_t words[part / 4];
        draws().words(words, stream, static_cast<uint32_t>(first / 16), count / 16);
        std::memcpy(out.data + first, words, static_cast<size_t>(count));
    }
    if (whole < bytes) {
        uint32_t words[4];
        draws().words(words, stream, static_cast<uint32_t>(whole / 16), 1);
        std::memcpy(out.data + whole, words, static_cast<size_t>(bytes - whole));
    }
}

}  // namespace pixelmill
