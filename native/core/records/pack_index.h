// Checks of the columns of a pack's index.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace pixelmill {

constexpr size_t pack_parts = 4;  // image, mask, annotations, features

// 0 for an empty column.
template <class T>
uint64_t largest(std::span<const T> column) {
    T most = 0;
    for (const T value : column) most = std::max(most, value);
    return most;
}

// Whether `starts` begin at 0, end at `items`, and each is at least `least` after the one before.
bool divides(std::span<const uint64_t> starts, uint64_t items, uint64_t least);

// The bytes of each sample: those of its head and its parts, rounded up to a multiple of the alignment. All columns
// have the length of `out`, and no sum overflows.
void pack_sizes(std::span<int64_t> out, const std::array<std::span<const uint64_t>, pack_parts>& lengths, uint64_t head,
                uint64_t alignment);

// Whether each sample ends where the next one begins, and the last one at `end`.
bool follow_each_other(std::span<const uint64_t> offsets, std::span<const int64_t> sizes, uint64_t end);

}  // namespace pixelmill
