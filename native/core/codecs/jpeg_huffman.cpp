#include "jpeg_huffman.h"

#include <algorithm>
#include <cstring>

namespace pixelmill {

HuffmanEntry HuffmanTable::entry_of(int length, uint8_t symbol) const {
    const int size = alternating_ ? symbol & 15 : symbol, zeros = alternating_ ? symbol >> 4 : 0;
    if (size > 0 || !alternating_) return {length, size, zeros + 1};
    return {length, 0, zeros == 15 ? sixteen_zeros : end_of_block, zeros};
}

bool HuffmanTable::build(const uint8_t* counts, const uint8_t* symbols, bool alternating) {
    if (built_ && alternating == alternating_ && std::memcmp(counts_.data() + 1, counts + 1, longest) == 0 &&
        std::memcmp(symbols_.data(), symbols, symbols_.size()) == 0)
        return true;
    built_ = passes_ready_ = false;
    alternating_ = alternating;
    std::copy_n(counts, counts_.size(), counts_.begin());
    std::copy_n(symbols, symbols_.size(), symbols_.begin());
    entries_.fill({0, 0, long_code});
    uint32_t code = 0;
    int32_t place = 0;
    for (int length = 1; length <= longest; ++length, code <<= 1) {
        const uint32_t count = counts[length];
        if (code + count > (uint32_t{1} << length) || place + static_cast<int32_t>(count) > 256) return false;
        shift_[static_cast<size_t>(length)] = place - static_cast<int32_t>(code);
        for (uint32_t i = 0; i < count; ++i, ++code, ++place) {
            const uint8_t symbol = symbols[place];
            if (!alternating && symbol > 15) return false;
            if (length > index_bits) continue;
            const uint32_t spread = uint32_t{1} << (index_bits - length);
            std::fill_n(entries_.begin() + code * spread, spread, entry_of(length, symbol));
        }
        end_[static_cast<size_t>(length)] = code << (longest - length);
    }
    return built_ = true;
}

void HuffmanTable::prepare_passes() {
    if (passes_ready_) return;
    for (uint64_t index = 0; index < passes_.size(); ++index) {
        HuffmanPass pass;
        while (pass.total < pass_bits) {
            const HuffmanEntry entry = at(index << (64 - pass_bits + pass.total));
            const int advance = entry.advance() == sixteen_zeros ? 16 : entry.advance();
            if (entry.advance() == long_code || pass.total + entry.total() > pass_bits) break;
            const bool last = entry.advance() == end_of_block;
            if (!last && pass.advance + advance >= no_pass) break;
            pass.total = static_cast<uint8_t>(pass.total + entry.total());
            pass.advance = static_cast<uint8_t>(pass.advance + (last ? pass_ends : advance));
            if (last) break;
        }
        if (pass.total == 0) pass.advance = no_pass;
        passes_[index] = pass;
    }
    passes_ready_ = true;
}

HuffmanEntry HuffmanTable::find_long(uint64_t bits) const {
    const auto next = static_cast<uint32_t>(bits >> (64 - longest));
    for (int length = index_bits + 1; length <= longest; ++length) {
        if (next >= end_[static_cast<size_t>(length)]) continue;
        const auto code = static_cast<int32_t>(next >> (longest - length));
        return entry_of(length, symbols_[static_cast<size_t>(code + shift_[static_cast<size_t>(length)]) & 255]);
    }
    return {0, 0, long_code};
}

}  // namespace pixelmill
