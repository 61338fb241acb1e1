#include "pack_index.h"

namespace pixelmill {

bool divides(std::span<const uint64_t> starts, uint64_t items, uint64_t least) {
    if (starts.empty() || starts.front() != 0 || starts.back() != items) return false;
    for (size_t i = 1; i < starts.size(); ++i) {
        // Compared before they are subtracted: unsigned numbers wrap around.
        if (starts[i] < starts[i - 1] || starts[i] - starts[i - 1] < least) return false;
    }
    return true;
}

void pack_sizes(std::span<int64_t> out, const std::array<std::span<const uint64_t>, pack_parts>& lengths, uint64_t head,
                uint64_t alignment) {
    for (size_t i = 0; i < out.size(); ++i) {
        uint64_t sum = head;
        for (const auto& column : lengths) sum += column[i];
        out[i] = static_cast<int64_t>((sum + alignment - 1) / alignment * alignment);
    }
}

bool follow_each_other(std::span<const uint64_t> offsets, std::span<const int64_t> sizes, uint64_t end) {
    for (size_t i = 0; i < offsets.size(); ++i) {
        const uint64_t next = i + 1 < offsets.size() ? offsets[i + 1] : end;
        if (offsets[i] + static_cast<uint64_t>(sizes[i]) != next) return false;
    }
    return true;
}

}  // namespace pixelmill
