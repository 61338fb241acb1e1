// Compression by WebP, which the core has no codec for: a function that Python installs (Pillow) encodes and decodes.
#pragma once

#include <cstdint>
#include <functional>

namespace pixelmill {

// Pixels of an image, packed RGB.
struct WebpPixels {
    const uint8_t* data;
    int64_t height, width;
};

// Encodes an image with a quality from 1 to 100 and writes the decoded pixels, which are as many, to `out`; or throws a
// Fault. Called from any thread.
using WebpRoundTrip = std::function<void(uint8_t* out, const WebpPixels& image, int quality)>;

// To be set once, before the first sample.
void set_webp_round_trip(WebpRoundTrip function);

// Fault unsupported without such a function, and the function's own.
void through_webp(uint8_t* out, const WebpPixels& image, int quality);

}  // namespace pixelmill
