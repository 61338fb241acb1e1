#include "external_webp.h"

#include <utility>

#include "../fault.h"

namespace pixelmill {
namespace {

WebpRoundTrip& installed() {
    static WebpRoundTrip function;
    return function;
}

}  // namespace

void set_webp_round_trip(WebpRoundTrip function) { installed() = std::move(function); }

void through_webp(uint8_t* out, const WebpPixels& image, int quality) {
    if (!installed()) throw Fault(FaultKind::unsupported, "WebP: no codec is installed for this format");
    installed()(out, image, quality);
}

}  // namespace pixelmill
