#include <string_view>

#include "pack_codebook.h"

namespace pixelmill {
namespace {

constexpr std::string_view digits =
#include "pack_default.inl"
    ;

constexpr uint8_t value_of(char digit) { return static_cast<uint8_t>(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

}  // namespace

std::vector<std::byte> default_codebook() {
    static_assert(digits.size() == 2 * 2 * pack_profiles * 32);
    PackWidthsList luma, chroma;
    auto digit = digits.begin();
    for (PackWidthsList* list : {&luma, &chroma}) {
        for (PackWidths& widths : *list) {
            for (size_t k = 0; k < 64; k += 2, digit += 2) {
                widths[k] = value_of(digit[1]);  // the lower nibble comes first
                widths[k + 1] = value_of(digit[0]);
            }
        }
    }
    return serialize_codebook(luma, chroma);
}

}  // namespace pixelmill
