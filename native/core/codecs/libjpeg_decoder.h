// JPEG files by libjpeg-turbo, through its public interface: the kinds that our own decoder does not take, and damaged
// files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "jpeg.h"

namespace pixelmill {

struct LibjpegState;

class LibjpegDecoder {
   public:
    LibjpegDecoder();
    ~LibjpegDecoder();
    LibjpegDecoder(const LibjpegDecoder&) = delete;
    LibjpegDecoder& operator=(const LibjpegDecoder&) = delete;

    // As JpegReader's functions of the same names.
    void open(Bytes file, const Limits& limits);
    int64_t height() const;
    int64_t width() const;
    void decode(const JpegRequest& request, View<uint8_t> out);
    int64_t warnings() const;
    const char* first_warning() const;
    std::string lost_pixels() const;

   private:
    std::unique_ptr<LibjpegState> state_;
};

}  // namespace pixelmill
