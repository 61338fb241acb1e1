// Huffman tables of a JPEG file, laid out for one look-up a symbol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace pixelmill {

// What the next bits of the stream mean, if the code is not longer than the index of the table: everything the decoding
// loop needs, in one register. The number of bits to pass comes lowest, where a shift takes it without masking.
class HuffmanEntry {
   public:
    HuffmanEntry() = default;
    HuffmanEntry(int code, int size, int advance, int zeros = 0)
        : all_(static_cast<uint32_t>(code + size) | static_cast<uint32_t>(code) << 8 |
               static_cast<uint32_t>(size > 0 ? 64 - size : 64 + zeros) << 16 | static_cast<uint32_t>(advance) << 24) {}

    int total() const { return static_cast<uint8_t>(all_); }  // bits of the code and of the value after it
    // Coefficients passed: the zeros, and the value itself; or one of the marks below.
    int advance() const { return static_cast<int>(all_ >> 24); }
    bool has_value() const { return (all_ >> 16 & 64) == 0; }
    int size() const { return has_value() ? 64 - static_cast<int>(all_ >> 16 & 63) : 0; }  // bits of the value
    int zeros() const { return static_cast<int>(all_ >> 16 & 15); }  // of a symbol without a value

    // The stream after this symbol.
    uint64_t pass(uint64_t bits) const { return bits << (all_ & 63); }

    // The value, as JPEG codes signs: a leading 0 is a negative one, with all its bits turned. Nonsense where there is
    // none.
    int32_t value(uint64_t bits) const {
        const uint64_t from = bits << (all_ >> 8 & 63);
        const auto negative = ~static_cast<uint64_t>(static_cast<int64_t>(from) >> 63);
        const uint64_t size = (from ^ negative) >> (all_ >> 16 & 63);
        return static_cast<int32_t>((size ^ negative) - negative);
    }

   private:
    uint32_t all_ = 0;
};

// As many whole symbols as fit into the index of the table of passes.
struct HuffmanPass {
    uint8_t total = 0;
    uint8_t advance = 0;  // coefficients; 64 when not even one symbol fits; 128 more when the block ends
};

class HuffmanTable {
   public:
    static constexpr int index_bits = 9, pass_bits = 11, longest = 16;
    // Advances of symbols that are no coefficients. No block has that many, so one test finds them and the end of a
    // block.
    static constexpr uint8_t long_code = 64, end_of_block = 65, sixteen_zeros = 66;
    static constexpr uint8_t no_pass = 64, pass_ends = 128;

    // `counts[1..16]`: codes of each length; `symbols`: 256 of them, in the order of their codes. Does nothing when the
    // table holds these already. False for counts that no table can have.
    bool build(const uint8_t* counts, const uint8_t* symbols, bool alternating);

    HuffmanEntry at(uint64_t bits) const { return entries_[bits >> (64 - index_bits)]; }

    // For coefficients that are not wanted. prepare_passes comes first.
    void prepare_passes();
    HuffmanPass pass_at(uint64_t bits) const { return passes_[bits >> (64 - pass_bits)]; }

    // For codes longer than the index. An advance of `long_code`: there is no such code.
    HuffmanEntry find_long(uint64_t bits) const;

   private:
    HuffmanEntry entry_of(int length, uint8_t symbol) const;

    std::array<HuffmanEntry, size_t{1} << index_bits> entries_{};
    std::array<HuffmanPass, size_t{1} << pass_bits> passes_{};
    std::array<uint32_t, longest + 1> end_{};   // first code after those of a length, as the top of 16 bits
    std::array<int32_t, longest + 1> shift_{};  // from a code of a length to its place in symbols_
    std::array<uint8_t, longest + 1> counts_{};
    std::array<uint8_t, 256> symbols_{};
    bool alternating_ = false, built_ = false, passes_ready_ = false;
};

}  // namespace pixelmill
