#include "bmp_writer.h"

#include <cstring>

#include "../fault.h"

namespace pixelmill {

namespace {

void put(std::byte* to, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

void encode_bmp(View<const uint8_t> image, size_t gap, std::vector<std::byte>& out) {
    const auto row = static_cast<size_t>(image.width * 3 + 3) / 4 * 4;
    const size_t pixels = row * static_cast<size_t>(image.height), total = bmp_header_bytes + gap + pixels;
    if (total > 0xFFFFFFFFu) throw Fault(FaultKind::too_large, "BMP: the file would have more than 4 GB");
    const int64_t channel = image.channels == 1 ? 0 : image.channel;
    out.resize(total);
    std::byte* header = out.data();
    std::memset(header, 0, bmp_header_bytes);
    header[0] = std::byte{'B'}, header[1] = std::byte{'M'};
    put(header + 2, static_cast<uint32_t>(total), 4);
    put(header + 10, static_cast<uint32_t>(bmp_header_bytes + gap), 4);
    put(header + 14, 40, 4);
    put(header + 18, static_cast<uint32_t>(image.width), 4);
    put(header + 22, static_cast<uint32_t>(image.height), 4);
    put(header + 26, 1, 2);
    put(header + 28, 24, 2);
    put(header + 34, static_cast<uint32_t>(pixels), 4);
    for (int64_t y = 0; y < image.height; ++y) {  // the lowest row comes first, blue before red
        auto* to = reinterpret_cast<uint8_t*>(out.data() + bmp_header_bytes + gap) +
                   static_cast<size_t>(image.height - 1 - y) * row;
        const uint8_t* from = image.at(y, 0);
        for (int64_t x = 0; x < image.width; ++x, from += image.pixel) {
            to[3 * x] = from[2 * channel];
            to[3 * x + 1] = from[channel];
            to[3 * x + 2] = from[0];
        }
        std::memset(to + 3 * image.width, 0, row - static_cast<size_t>(3 * image.width));
    }
}

}  // namespace pixelmill
