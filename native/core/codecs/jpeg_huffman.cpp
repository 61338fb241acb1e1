#include "jpeg_huffman.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace pixelmill {

namespace {

// Writes the passes that begin with a symbol: for each of its values once all of `rest`, the passes of the bits after
// it. Too many coefficients become `no_pass`: the scan reads such symbols one by one.
void put_before(HuffmanEntry entry, std::span<const HuffmanPass> rest, std::span<HuffmanPass> out) {
    const int total = entry.total();
    if (entry.advance() == HuffmanTable::end_of_block) {
        std::ranges::fill(out, HuffmanPass{static_cast<uint8_t>(total), HuffmanTable::pass_ends});
        return;
    }
    const int advance = entry.advance() == HuffmanTable::sixteen_zeros ? 16 : entry.advance();
    HuffmanPass* to = out.data();
    for (size_t copies = out.size() / rest.size(); copies > 0; --copies) {
        for (const HuffmanPass& pass : rest) {
            const int sum = std::min<int>(advance + pass.advance % HuffmanTable::pass_ends, HuffmanTable::no_pass);
            const int ends = pass.advance & HuffmanTable::pass_ends;
            *to++ = {static_cast<uint8_t>(total + pass.total), static_cast<uint8_t>(sum | ends)};
        }
    }
}

}  // namespace

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

// A pass of n bits is a symbol and a pass of the bits that are left. So the passes of each length are put together from
// those of shorter ones: `ladder` holds the passes of n bits from place 2^n on.
void HuffmanTable::prepare_passes() {
    if (passes_ready_) return;
    std::array<HuffmanPass, size_t{2} << pass_bits> ladder;
    for (int bits = 0; bits <= pass_bits; ++bits) {
        HuffmanPass* const passes = ladder.data() + (size_t{1} << bits);
        std::fill_n(passes, size_t{1} << bits, HuffmanPass{});
        uint32_t code = 0;
        const uint8_t* symbol = symbols_.data();
        for (int length = 1; length <= std::min(bits, index_bits); ++length, code <<= 1) {
            for (int i = 0; i < counts_[static_cast<size_t>(length)]; ++i, ++code, ++symbol) {
                const HuffmanEntry entry = entry_of(length, *symbol);
                if (entry.total() > bits) continue;
                const size_t rest = size_t{1} << (bits - entry.total()), all = size_t{1} << (bits - length);
                put_before(entry, {ladder.data() + rest, rest}, {passes + code * all, all});
            }
        }
    }
    std::copy_n(ladder.begin() + passes_.size(), passes_.size(), passes_.begin());
    for (HuffmanPass& pass : passes_) {
        if (pass.total == 0) pass.advance = no_pass;
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
