// JPEG files to pixels: the whole image or a window of it, at 1/1, 1/2, 1/4 or 1/8 of its size.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "../limits.h"
#include "../view.h"
#include "bytes.h"

namespace pixelmill {

enum class JpegColor { rgb, bgr, gray };

struct JpegRequest {
    JpegColor color = JpegColor::rgb;
    int denominator = 1;      // 1, 2, 4 or 8
    Window window;            // of the scaled image, which has ceil(extent / denominator) pixels a side
    bool by_library = false;  // leave everything to libjpeg-turbo; for comparisons
};

class JpegDecoder;
class LibjpegDecoder;

// One thread's decoder, used for file after file: open, decode. A Fault leaves it ready for the next open.
//
// Huffman-coded files that are sound are decoded by our own code, everything else by libjpeg-turbo: rarer kinds of
// files, and damaged ones, from their beginning. Both return the same pixels.
class JpegReader {
   public:
    JpegReader();
    ~JpegReader();
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;

    // Reads the header; `file` must outlive the decode. Faults: truncated, corrupt, too_large, unsupported.
    void open(Bytes file, const Limits& limits);
    int64_t height() const { return height_; }
    int64_t width() const { return width_; }

    // Writes the window of the request. `out` has its extents, one byte a pixel for gray and three or four for colors,
    // and any row stride. Fault truncated when the data ends before the last wanted row.
    void decode(const JpegRequest& request, View<uint8_t> out);

    // Since open: libjpeg's warnings, which did not stop it.
    int64_t warnings() const;
    const char* first_warning() const;
    // The first complaint after which libjpeg filled in pixels; empty if there was none.
    std::string lost_pixels() const;

   private:
    void open_library();

    std::unique_ptr<JpegDecoder> ours_;
    std::unique_ptr<LibjpegDecoder> library_;
    Bytes file_;
    Limits limits_;
    int64_t height_ = 0, width_ = 0;
    bool ours_opened_ = false, library_asked_ = false, library_ready_ = false;
};

}  // namespace pixelmill
