#include "jpeg_entropy_writer.h"

#include <bit>
#include <cstdlib>

namespace pixelmill {

namespace {

using Symbols = std::array<JpegCode, 256>;

Symbols symbols_of(const StandardHuffman& table) {
    Symbols symbols{};
    uint32_t code = 0, length = 1;
    size_t place = 0;
    for (const uint8_t count : table.counts) {
        for (int i = 0; i < count; ++i) symbols[table.symbols[place++]] = JpegCode::of(code++, length);
        code <<= 1;
        ++length;
    }
    return symbols;
}

// A symbol is the number of zeros before the value, and its size.
JpegCode with_value(const Symbols& symbols, int zeros, int value) {
    const auto size = static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(std::abs(value))));
    const JpegCode symbol = symbols[static_cast<uint32_t>(zeros) << 4 | size];
    const uint32_t bits = static_cast<uint32_t>(value < 0 ? value - 1 : value) & ((1u << size) - 1);
    return JpegCode::of(symbol.bits() << size | bits, symbol.size() + size);
}

}  // namespace

template <int most, int runs>
JpegValueCodes<most, runs>::JpegValueCodes(const std::array<JpegCode, 256>& symbols) {
    for (int value = -most; value <= most; ++value) {
        for (int zeros = 0; zeros < runs; ++zeros) codes_[place(zeros, value)] = with_value(symbols, zeros, value);
    }
}

JpegCodes::JpegCodes(const StandardHuffman& dc, const StandardHuffman& ac)
    : end_of_block(symbols_of(ac)[0x00]),
      sixteen_zeros(symbols_of(ac)[0xF0]),
      differences(symbols_of(dc)),
      coefficients(symbols_of(ac)) {}

const JpegCodes& standard_luma_codes() {
    static const JpegCodes codes(standard_luma_dc, standard_luma_ac);
    return codes;
}

const JpegCodes& standard_chroma_codes() {
    static const JpegCodes codes(standard_chroma_dc, standard_chroma_ac);
    return codes;
}

void JpegBits::start() {
    bits = 0;
    count = 0;
    size = 0;
    codes[0] = &standard_luma_codes();
    codes[1] = codes[2] = &standard_chroma_codes();
    for (int& value : last) value = 0;
}

void JpegBits::finish() {
    if (count > 0) plain[size++] = static_cast<uint8_t>(bits << (8 - count) | (0xFFu >> count));
    count = 0;
}

}  // namespace pixelmill
