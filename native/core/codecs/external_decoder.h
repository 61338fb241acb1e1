// Formats without a decoder of our own (BMP, GIF, TIFF, WebP, PNM, JPEG 2000, HEIC, AVIF) go to a decoder that Python
// installs (Pillow), after the same checks of header and limits as the others.
#pragma once

#include <cstdint>
#include <functional>

#include "image.h"

namespace pixelmill {

struct ExternalImage {
    std::byte* data = nullptr;  // from the allocator below: packed HWC
    int64_t height = 0, width = 0;
    int channels = 0;       // gray, gray + alpha, RGB, RGBA
    int bits = 8;           // 8, or 16 in the machine's byte order
    bool oriented = false;  // the orientation of ImageInfo is applied already
};

// Returns `bytes` bytes that live until the end of the sample. Fault too_large.
using ExternalAllocator = std::function<std::byte*(int64_t bytes)>;

// Decodes the first frame, or throws a Fault. Called from any thread.
using ExternalDecoder =
    std::function<ExternalImage(Bytes file, const ImageInfo& info, const ExternalAllocator& allocate)>;

// To be set once, before the first sample.
void set_external_decoder(ExternalDecoder decoder);

// Calls the decoder and checks what it returns. Faults: unsupported without a decoder, corrupt when the image is not
// what the header said, too_large, and the decoder's own.
ExternalImage decode_external(Bytes file, const ImageInfo& info, const Limits& limits,
                              const ExternalAllocator& allocate);

}  // namespace pixelmill
