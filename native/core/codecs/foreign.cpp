#include "foreign.h"

#include <string>
#include <utility>

#include "../fault.h"

namespace pixelmill {
namespace {

ForeignDecoder& installed() {
    static ForeignDecoder decoder;
    return decoder;
}

std::string extents(int64_t width, int64_t height) { return std::to_string(width) + "x" + std::to_string(height); }

void check_picture(const ForeignPicture& picture, const ImageInfo& info, const Limits& limits, int64_t granted) {
    const auto name = std::string(name_of(info.format));
    check_extents(info.format, picture.width, picture.height, limits);
    const bool turned = picture.oriented && info.sideways();
    const int64_t width = turned ? info.height : info.width, height = turned ? info.width : info.height;
    if (picture.width != width || picture.height != height)
        throw Fault(FaultKind::corrupt, "corrupt " + name + ": the header says " + extents(width, height) +
                                            " pixels (width x height), the decoder made " +
                                            extents(picture.width, picture.height));
    const bool known = picture.channels >= 1 && picture.channels <= 4 && (picture.bits == 8 || picture.bits == 16);
    if (!known || !picture.data || picture.width * picture.height * picture.channels * (picture.bits / 8) > granted)
        throw std::logic_error("the decoder for " + name + " described its picture wrongly");
}

}  // namespace

void set_foreign_decoder(ForeignDecoder decoder) { installed() = std::move(decoder); }

ForeignPicture decode_foreign(Bytes file, const ImageInfo& info, const Limits& limits,
                              const ForeignAllocator& allocate) {
    const ForeignDecoder& decoder = installed();
    if (!decoder)
        throw Fault(FaultKind::unsupported, std::string(name_of(info.format)) + ": there is no decoder for it");
    int64_t granted = 0;
    const ForeignAllocator bounded = [&](int64_t bytes) {
        if (bytes <= 0 || bytes / 8 > limits.pixels)
            throw Fault(FaultKind::too_large, std::string(name_of(info.format)) + " wants " + std::to_string(bytes) +
                                                  " bytes for its pixels: the limit is " +
                                                  std::to_string(limits.pixels) + " pixels");
        granted = bytes;
        return allocate(bytes);
    };
    const ForeignPicture picture = decoder(file, info, bounded);
    check_picture(picture, info, limits, granted);
    return picture;
}

}  // namespace pixelmill
