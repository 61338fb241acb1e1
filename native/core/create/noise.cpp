#include <cstring>

#include "../kernels/draws.h"
#include "content.h"
#include "streams.h"

namespace pixelmill {

void draw_noise(View<uint8_t> out, const PictureId& id) {
    const StreamId stream = bulk_stream(Content::noise, id, Purpose::choices);
    const int64_t bytes = out.height * out.width * 3, whole = bytes / 16 * 16;
    // Words are stored byte by byte where they need not be aligned, so pixels serve as their memory.
    draws().words(reinterpret_cast<uint32_t*>(out.data), stream, 0, whole / 16);
    if (whole < bytes) {
        uint32_t words[4];
        draws().words(words, stream, static_cast<uint32_t>(whole / 16), 1);
        std::memcpy(out.data + whole, words, static_cast<size_t>(bytes - whole));
    }
}

}  // namespace pixelmill
