// JPEG by libjpeg-turbo, with our own Huffman decoder where it can: the whole picture, or a window of it, at 1/1, 1/2,
// 1/4 or 1/8 of its size.
#pragma once

#include <cstdint>
#include <memory>

#include "../limits.h"
#include "../view.h"
#include "bytes.h"

namespace pixelmill {

enum class JpegColour { rgb, bgr, gray };

struct JpegRequest {
    JpegColour colour = JpegColour::rgb;
    int denominator = 1;  // 1, 2, 4 or 8
    Window window;        // of the scaled picture, which has ceil(extent / denominator) pixels a side
    bool padded = false;  // four bytes a pixel; never for gray
    bool fast_idct = false;
    bool plain = false;  // libjpeg's own Huffman decoder, to compare ours with
};

struct JpegState;

// One thread's decoder, used for picture after picture: open, plan, decode. A Fault leaves it ready for the next open.
class JpegReader {
   public:
    JpegReader();
    ~JpegReader();
    JpegReader(const JpegReader&) = delete;
    JpegReader& operator=(const JpegReader&) = delete;

    // Reads the header; `file` must outlive the decode. Faults: truncated, corrupt, too_large, unsupported.
    void open(Bytes file, const Limits& limits);
    int64_t height() const;
    int64_t width() const;

    // What will be made: the wanted window and what libjpeg cannot leave out around it. Inside the wanted window the
    // pixels are those of a decode of everything, bit for bit.
    Window plan(const JpegRequest& request);
    int64_t pixel_bytes() const;

    // `out` has the extents of plan(), packed pixels of pixel_bytes() and any row stride.
    // Fault truncated when the data ends before the last wanted row.
    void decode(View<uint8_t> out);

    // Since open: libjpeg's complaints about things that did not stop it.
    int64_t warnings() const;
    const char* first_warning() const;

   private:
    std::unique_ptr<JpegState> state_;
};

}  // namespace pixelmill
