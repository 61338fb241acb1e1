#include <cstring>

#include "../kernels/draws.h"
#include "content.h"
#include "streams.h"

namespace pixelmill {

void draw_noise_rows(View<uint8_t> out, const ImageId& id, int64_t first) {
    constexpr int64_t block = 16;  // bytes
    const StreamId stream = bulk_stream(Content::noise, id, Purpose::choices);
    const auto before = static_cast<uint32_t>(first * out.width * 3 / block);
    const int64_t bytes = out.height * out.width * 3, whole = bytes / block;
    // Words are stored byte by byte where they need not be aligned, so pixels serve as their memory.
    draws().words(reinterpret_cast<uint32_t*>(out.data), stream, before, whole);
    if (whole * block < bytes) {
        uint32_t words[block / 4];
        draws().words(words, stream, before + static_cast<uint32_t>(whole), 1);
        std::memcpy(out.data + whole * block, words, static_cast<size_t>(bytes - whole * block));
    }
}

void draw_noise(View<uint8_t> out, const ImageId& id) { draw_noise_rows(out, id, 0); }

}  // namespace pixelmill
