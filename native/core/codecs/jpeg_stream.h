// What reading and writing Huffman-coded streams inside of libjpeg have in common.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>

// clang-format off: it needs <cstdio>
#include <jpeglib.h>
// clang-format on

namespace pixelmill {

// Versions whose private structures are as ours expect them.
constexpr bool known_library = LIBJPEG_TURBO_VERSION_NUMBER >= 1005000 && LIBJPEG_TURBO_VERSION_NUMBER < 4000000;

// Where the k-th coefficient of the stream stands in a block of rows. Runs of zeros in damaged files may lead behind
// the end, by 16 at most.
constexpr std::array<uint8_t, 64 + 16> zigzag = [] {
    std::array<uint8_t, 80> order{};
    int at = 0;
    for (int diagonal = 0; diagonal < 15; ++diagonal) {
        for (int step = 0; step <= diagonal; ++step) {
            const int y = diagonal % 2 ? step : diagonal - step, x = diagonal - y;
            if (y < 8 && x < 8) order[static_cast<size_t>(at++)] = static_cast<uint8_t>(8 * y + x);
        }
    }
    for (size_t i = 64; i < order.size(); ++i) order[i] = 63;
    return order;
}();

}  // namespace pixelmill
