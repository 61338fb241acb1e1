#include "bmp_writer.h"

#include <cstring>

#include "../fault.h"

namespace pixelmill {

namespace {

void put(std::byte* to, uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

// Masks of the colors in a pixel, blue lowest, and the name of their space.
void put_masks(std::byte* header) {
    constexpr uint32_t masks[] = {0x00FF0000, 0x0000FF00, 0x000000FF, 0xFF000000, 0x73524742};  // "sRGB"
    for (int i = 0; i < 5; ++i) put(header + 54 + 4 * i, masks[i], 4);
}

}  // namespace

void encode_bmp(View<const uint8_t> image, size_t gap, std::vector<std::byte>& out) {
    const int64_t bytes = image.channels == 4 ? 4 : 3;
    const size_t head = bmp_header_bytes(image.channels);
    const auto row = static_cast<size_t>(image.width * bytes + 3) / 4 * 4;
    const size_t pixels = row * static_cast<size_t>(image.height), total = head + gap + pixels;
    if (total > 0xFFFFFFFFu) throw Fault(FaultKind::too_large, "BMP: the file would have more than 4 GB");
    const int64_t channel = image.channels == 1 ? 0 : image.channel;
    out.resize(total);
    std::byte* header = out.data();
    std::memset(header, 0, head);
    header[0] = std::byte{'B'}, header[1] = std::byte{'M'};
    put(header + 2, static_cast<uint32_t>(total), 4);
    put(header + 10, static_cast<uint32_t>(head + gap), 4);
    put(header + 14, static_cast<uint32_t>(head - 14), 4);
    put(header + 18, static_cast<uint32_t>(image.width), 4);
    put(header + 22, static_cast<uint32_t>(image.height), 4);
    put(header + 26, 1, 2);
    put(header + 28, static_cast<uint32_t>(8 * bytes), 2);
    put(header + 34, static_cast<uint32_t>(pixels), 4);
    if (bytes == 4) {
        put(header + 30, 3, 4);  // the masks apply
        put_masks(header);
    }
    for (int64_t y = 0; y < image.height; ++y) {  // the lowest row comes first, blue before red
        auto* to =
            reinterpret_cast<uint8_t*>(out.data() + head + gap) + static_cast<size_t>(image.height - 1 - y) * row;
        const uint8_t* from = image.at(y, 0);
        for (int64_t x = 0; x < image.width; ++x, from += image.pixel) {
            uint8_t* const pixel = to + bytes * x;
            pixel[0] = from[2 * channel];
            pixel[1] = from[channel];
            pixel[2] = from[0];
            if (bytes == 4) pixel[3] = from[3 * channel];
        }
        std::memset(to + bytes * image.width, 0, row - static_cast<size_t>(bytes * image.width));
    }
}

}  // namespace pixelmill
