// JPEG files by libjpeg-turbo, into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../view.h"

namespace pixelmill {

// How much of the colours is kept: all, every second column, or every second column and row.
enum class ChromaSampling : uint8_t { full, half, quarter };

// Gives a picture some rows at a time, so that it never lies in memory as a whole.
struct JpegRows {
    static constexpr int64_t at_once = 16;

    View<const uint8_t> rows{};  // `at_once` of them; their height is that of the picture
    const void* source = nullptr;
    // Makes `count` rows from row y on, a multiple of `at_once`; must not throw.
    void (*make)(const void* source, int64_t y, int64_t count) = nullptr;
};

struct JpegWriterState;

// One thread's encoder, used for picture after picture. A Fault leaves it ready for the next.
class JpegWriter {
   public:
    JpegWriter();
    ~JpegWriter();
    JpegWriter(const JpegWriter&) = delete;
    JpegWriter& operator=(const JpegWriter&) = delete;

    // Makes `out` a baseline JPEG file; its memory is used again. One channel is gray; three are red, green and blue,
    // packed or in pixels of four bytes; rows may lie anywhere. Quality is from 1 to 100.
    void encode(View<const uint8_t> picture, int quality, ChromaSampling sampling, std::vector<std::byte>& out);

    // The same from rows that are made on the way.
    void encode(const JpegRows& rows, int quality, ChromaSampling sampling, std::vector<std::byte>& out);

   private:
    std::unique_ptr<JpegWriterState> state_;
};

}  // namespace pixelmill
