#include "external_decoder.h"

#include <string>
#include <utility>

#include "../fault.h"

namespace pixelmill {
namespace {

ExternalDecoder& installed() {
    static ExternalDecoder decoder;
    return decoder;
}

std::string extents(int64_t width, int64_t height) { return std::to_string(height) + " x " + std::to_string(width); }

void check_image(const ExternalImage& image, const ImageInfo& info, const Limits& limits, int64_t granted) {
    const auto name = std::string(name_of(info.format));
    check_extents(info.format, image.width, image.height, limits);
    const bool turned = image.oriented && info.sideways();
    const int64_t width = turned ? info.height : info.width, height = turned ? info.width : info.height;
    if (image.width != width || image.height != height)
        throw Fault(FaultKind::corrupt, "corrupt " + name + ": the header says " + extents(width, height) +
                                            " pixels (width x height), the decoder made " +
                                            extents(image.width, image.height));
    const bool known = image.channels >= 1 && image.channels <= 4 && (image.bits == 8 || image.bits == 16);
    if (!known || !image.data || image.width * image.height * image.channels * (image.bits / 8) > granted)
        throw std::logic_error("the decoder for " + name + " returned an image that does not match its description");
}

}  // namespace

void set_external_decoder(ExternalDecoder decoder) { installed() = std::move(decoder); }

ExternalImage decode_external(Bytes file, const ImageInfo& info, const Limits& limits,
                              const ExternalAllocator& allocate) {
    const ExternalDecoder& decoder = installed();
    if (!decoder)
        throw Fault(FaultKind::unsupported,
                    std::string(name_of(info.format)) + ": no decoder is installed for this format");
    int64_t granted = 0;
    const ExternalAllocator bounded = [&](int64_t bytes) {
        if (bytes <= 0 || bytes / 8 > limits.pixels)
            throw Fault(FaultKind::too_large, std::string(name_of(info.format)) + " wants " + std::to_string(bytes) +
                                                  " bytes for its pixels: the limit is " +
                                                  std::to_string(limits.pixels) + " pixels");
        granted = bytes;
        return allocate(bytes);
    };
    const ExternalImage image = decoder(file, info, bounded);
    check_image(image, info, limits, granted);
    return image;
}

}  // namespace pixelmill
