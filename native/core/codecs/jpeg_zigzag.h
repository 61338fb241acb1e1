// The order in which JPEG streams store the 64 coefficients of a block, and runs of zeros in it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pixelmill {

// Maps the k-th coefficient of the stream to its place in a block stored row by row. Damaged files may run past the end
// by up to 16 coefficients; those land on the last place.
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

// For encoders, which have a bit for each coefficient of the stream that is not zero: whether sixteen zeros or more
// precede one of the coefficients `left`. Smearing each bit over the 16 places after it covers every coefficient that a
// short run reaches. Long runs are rare, so the common loop has no branch for them.
inline bool has_long_run(uint64_t left) {
    uint64_t near = left | 1;  // up to fifteen places after the last
    for (int by = 1; by < 16; by *= 2) near |= near << by;
    return (left & ~(near << 1)) != 0;
}

}  // namespace pixelmill
