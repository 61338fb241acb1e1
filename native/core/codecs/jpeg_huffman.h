// Huffman tables of a JPEG file, laid out for one look-up a symbol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pixelmill {

// What the next bits of the stream mean, if the code is not longer than the index of the table.
struct HuffmanEntry {
    uint8_t total;    // bits of the code and of the value behind it; 0 for a longer code
    uint8_t code;     // bits of the code
    uint8_t size;     // bits of the value
    uint8_t advance;  // coefficients passed: the zeros, and the value itself
};

// As many whole symbols as fit into the index of the table of passes.
struct HuffmanPass {
    uint8_t total;    // bits; 0 when not even one symbol fits
    uint8_t advance;  // coefficients, fewer than `end_of_block`, which is added when the last symbol is that
};

class HuffmanTable {
   public:
    static constexpr int index_bits = 9, pass_bits = 11, longest = 16;
    static constexpr uint8_t end_of_block = 64;  // as an advance

    // `counts[1..16]`: codes of each length; `symbols`: 256 of them, in the order of their codes. Does nothing when the
    // table holds these already. False for counts that no table can have.
    bool build(const uint8_t* counts, const uint8_t* symbols, bool alternating);

    HuffmanEntry at(uint64_t bits) const { return entries_[bits >> (64 - index_bits)]; }

    // For coefficients that nobody wants. prepare_passes comes first.
    void prepare_passes();
    HuffmanPass pass_at(uint64_t bits) const { return passes_[bits >> (64 - pass_bits)]; }

    // For codes longer than the index. A total of 0 again: there is no such code.
    HuffmanEntry find_long(uint64_t bits) const;

   private:
    HuffmanEntry entry_of(int length, uint8_t symbol) const;

    std::array<HuffmanEntry, size_t{1} << index_bits> entries_{};
    std::array<uint32_t, longest + 1> end_{};   // first code behind those of a length, as the top of 16 bits
    std::array<int32_t, longest + 1> shift_{};  // from a code of a length to its place in symbols_
    std::array<uint8_t, longest + 1> counts_{};
    std::array<uint8_t, 256> symbols_{};
    std::array<HuffmanPass, size_t{1} << pass_bits> passes_{};
    bool alternating_ = false, built_ = false, passes_ready_ = false;
};

}  // namespace pixelmill
