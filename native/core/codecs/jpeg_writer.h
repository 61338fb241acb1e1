// Baseline JPEG files, into memory. They have the bytes that libjpeg-turbo writes with its accurate DCT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../view.h"
#include "jpeg_header_writer.h"

namespace pixelmill {

// Yields an image some rows at a time, so that it is never in memory as a whole.
struct JpegRows {
    static constexpr int64_t at_once = 16;

    View<const uint8_t> rows{};  // `at_once` of them; their height is that of the image
    const void* source = nullptr;
    // Makes `count` rows from row y on, a multiple of `at_once`; must not throw.
    void (*make)(const void* source, int64_t y, int64_t count) = nullptr;
};

struct JpegWriterState;

// One thread's encoder, used for image after image. A Fault leaves it ready for the next.
class JpegWriter {
   public:
    JpegWriter();
    ~JpegWriter();
    JpegWriter(const JpegWriter&) = delete;
    JpegWriter& operator=(const JpegWriter&) = delete;

    // Makes `out` a baseline JPEG file; its memory is used again. One channel is gray; three are red, green and blue,
    // packed or in pixels of four bytes; rows may be anywhere. Quality is from 1 to 100.
    void encode(View<const uint8_t> image, int quality, ChromaSampling sampling, std::vector<std::byte>& out);

    // The same from rows that are made on the way.
    void encode(const JpegRows& rows, int quality, ChromaSampling sampling, std::vector<std::byte>& out);

   private:
    std::unique_ptr<JpegWriterState> state_;
};

}  // namespace pixelmill
