#include "jpeg.h"

#include <stdexcept>
#include <string>

#include "../fault.h"
#include "image.h"
#include "jpeg_decoder.h"
#include "jpeg_markers.h"
#include "libjpeg_decoder.h"

namespace pixelmill {
namespace {

void check_window(const JpegRequest& request, int64_t height, int64_t width, const View<uint8_t>& out) {
    const Window& window = request.window;
    const int64_t d = request.denominator, rows = (height + d - 1) / d, columns = (width + d - 1) / d;
    const bool inside = window.x >= 0 && window.y >= 0 && window.width > 0 && window.height > 0 &&
                        window.x + window.width <= columns && window.y + window.height <= rows;
    if (!inside) throw std::logic_error("JpegReader: the window lies outside of the scaled image");
    const bool fits = request.color == JpegColor::gray ? out.pixel == 1 : out.pixel == 3 || out.pixel == 4;
    if (!fits || out.height != window.height || out.width != window.width)
        throw std::logic_error("JpegReader: the output does not have the form of the request");
}

// A block takes two bits at least, or one in the first scan of a progressive file. A large image in a small file is
// left to libjpeg, which reports what is missing.
bool has_substance(Bytes file, const JpegFrame& frame) {
    const auto blocks = static_cast<uint64_t>(frame.height) * static_cast<uint64_t>(frame.width) / 64;
    return file.size() * (frame.progressive ? 8 : 4) >= blocks;
}

}  // namespace

JpegReader::JpegReader() : ours_(std::make_unique<JpegDecoder>()), library_(std::make_unique<LibjpegDecoder>()) {}
JpegReader::~JpegReader() = default;

void JpegReader::open(Bytes file, const Limits& limits) {
    file_ = file;
    limits_ = limits;
    ours_opened_ = ours_->open(file);
    library_asked_ = library_ready_ = false;
    if (ours_opened_) {
        height_ = ours_->frame().height;
        width_ = ours_->frame().width;
        check_extents(ImageFormat::jpeg, width_, height_, limits);
        if (ours_->frame().progressive) check_scans(file, width_, height_, limits);
        ours_opened_ = has_substance(file, ours_->frame());
    }
    if (ours_opened_) return;
    open_library();
    height_ = library_->height();
    width_ = library_->width();
}

void JpegReader::open_library() {
    library_asked_ = true;
    library_ready_ = false;
    library_->open(file_, limits_);
    library_ready_ = true;
}

void JpegReader::decode(const JpegRequest& request, View<uint8_t> out) {
    check_window(request, height_, width_, out);
    if (ours_opened_ && !request.by_library && ours_->decode(request, out)) return;
    if (!library_ready_) open_library();
    library_ready_ = false;  // a decode uses up what open read
    library_->decode(request, out);
}

int64_t JpegReader::warnings() const { return library_asked_ ? library_->warnings() : 0; }
const char* JpegReader::first_warning() const { return library_->first_warning(); }
std::string JpegReader::lost_pixels() const { return library_asked_ ? library_->lost_pixels() : std::string(); }

}  // namespace pixelmill
