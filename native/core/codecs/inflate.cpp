#include "inflate.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "../kernels/simd.h"

namespace pixelmill {

namespace {

// An entry of a table: what a code stands for, and how many bits it takes.
//   bits 0..5    the code and the extra bits after it
//   bits 8..11   the code alone; of a link, the bits that choose in the subtable
//   bits 16..30  the literal, or the length or distance without extra bits; of a link, where the subtable begins
constexpr uint32_t is_literal = 1u << 31, is_link = 1 << 13, is_end = 1 << 14, is_special = 1 << 15;
constexpr uint32_t invalid = is_special;  // a code that stands for nothing

constexpr uint32_t value_of(uint32_t entry) { return entry >> 16 & 0x7FFF; }
constexpr unsigned length_of(uint32_t entry) { return entry >> 8 & 15; }
constexpr unsigned total_of(uint32_t entry) { return entry & 63; }

constexpr size_t longest_match = 258, copy_overrun = 32;
constexpr std::ptrdiff_t quick_room = 3 + longest_match + copy_overrun;

#define KERNELS "../codecs/inflate.inl"
#include "../kernels/both_levels.inl"

constexpr unsigned longest_code = 15, length_symbols = 286, distance_symbols = 30;

// RFC 1951, 3.2.5.
constexpr std::array<uint16_t, 29> length_bases{3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<uint8_t, 29> length_extras{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<uint16_t, 30> distance_bases{1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                                  33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                                  1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<uint8_t, 19> code_length_order{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

using Lengths = std::span<const uint8_t>;

uint32_t literal_entry(unsigned symbol, unsigned length) {
    if (symbol < 256) return symbol << 16 | is_literal | length << 8 | length;
    if (symbol == 256) return is_special | is_end | length << 8 | length;
    if (symbol >= length_symbols) return invalid;
    const unsigned number = symbol - 257;
    return uint32_t{length_bases[number]} << 16 | length << 8 | (length + length_extras[number]);
}

uint32_t distance_entry(unsigned symbol, unsigned length) {
    if (symbol >= distance_symbols) return invalid;
    const unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;
    return uint32_t{distance_bases[symbol]} << 16 | length << 8 | (length + extra);
}

uint32_t plain_entry(unsigned symbol, unsigned length) { return symbol << 16 | length << 8 | length; }

unsigned reversed(unsigned code, unsigned length) {
    unsigned turned = 0;
    for (unsigned i = 0; i < length; ++i) turned |= (code >> i & 1) << (length - 1 - i);
    return turned;
}

// Canonical codes: numbered by length, then by symbol; the first bit of a code comes first in the stream.
class Code {
   public:
    explicit Code(Lengths lengths) : lengths_(lengths) {
        std::array<unsigned, longest_code + 1> counts{};
        for (const uint8_t length : lengths) ++counts[length];
        counts[0] = 0;
        ones_ = counts[1];
        for (unsigned length = 1; length <= longest_code; ++length) {
            next_[length] = (next_[length - 1] + counts[length - 1]) << 1;
            missing_ -= static_cast<int>(counts[length] << (longest_code - length));
        }
    }

    bool complete() const { return missing_ == 0; }
    bool empty() const { return missing_ == whole; }
    // The only incomplete code that zlib allows: one symbol, of one bit.
    bool single() const { return ones_ == 1 && missing_ == whole / 2; }

    template <class Entry>
    bool fill(std::span<uint32_t> table, unsigned root, Entry entry_of) const {
        std::fill(table.begin(), table.end(), invalid);
        if (!link_subtables(table, root)) return false;
        for_each([&](unsigned symbol, unsigned code, unsigned length) {
            uint32_t* target = table.data();
            size_t size = size_t{1} << root;
            unsigned place = code, bits = length;
            if (length > root) {
                const uint32_t link = table[code & (size - 1)];
                target += value_of(link);
                size = size_t{1} << length_of(link);
                place >>= root;
                bits -= root;
            }
            const uint32_t entry = entry_of(symbol, length);
            for (size_t i = place; i < size; i += size_t{1} << bits) target[i] = entry;
        });
        return true;
    }

   private:
    static constexpr int whole = 1 << longest_code;

    template <class Visit>
    void for_each(Visit visit) const {
        auto next = next_;
        for (unsigned symbol = 0; symbol < lengths_.size(); ++symbol) {
            const unsigned length = lengths_[symbol];
            if (length > 0) visit(symbol, reversed(next[length]++, length), length);
        }
    }

    // Codes longer than the root share a subtable with those that begin with the same bits.
    bool link_subtables(std::span<uint32_t> table, unsigned root) const {
        if (std::ranges::none_of(lengths_, [&](uint8_t length) { return length > root; })) return true;
        std::array<uint8_t, size_t{1} << literal_root> bits{};
        const unsigned mask = (1u << root) - 1;
        for_each([&](unsigned, unsigned code, unsigned length) {
            if (length > root) bits[code & mask] = std::max<uint8_t>(bits[code & mask], length - root);
        });
        size_t used = size_t{1} << root;
        for (unsigned prefix = 0; prefix <= mask; ++prefix) {
            if (bits[prefix] == 0) continue;
            if (table.size() - used < size_t{1} << bits[prefix]) return false;
            table[prefix] = static_cast<uint32_t>(used) << 16 | is_link | uint32_t{bits[prefix]} << 8;
            used += size_t{1} << bits[prefix];
        }
        return true;
    }

    Lengths lengths_;
    std::array<unsigned, longest_code + 1> next_{};
    unsigned ones_ = 0;    // codes of one bit
    int missing_ = whole;  // codes of 15 bits that nothing stands for; negative where there are too many codes
};

bool build_literals(HuffmanTables& tables, Lengths lengths) {
    const Code code(lengths);
    return code.complete() && lengths[256] != 0 && code.fill(tables.literal, literal_root, literal_entry);
}

bool build_distances(HuffmanTables& tables, Lengths lengths) {
    const Code code(lengths);
    const bool known = code.complete() || code.empty() || code.single();
    return known && code.fill(tables.distance, distance_root, distance_entry);
}

unsigned take(BitReader& in, unsigned count) {
    const auto bits = static_cast<unsigned>(base::low_bits(in.bits, count));
    base::drop(in, count);
    return bits;
}

// The bits that came with the last refill but lie after the end of the stream were not there.
bool overran(const BitReader& in) { return in.position - in.count / 8 > in.size; }

// The lengths of a dynamic block's codes are themselves coded: 16 repeats the last one, 17 and 18 are runs of zeros.
bool read_lengths(BitReader& in, std::span<uint8_t> lengths, const std::array<uint32_t, 128>& table) {
    for (size_t i = 0; i < lengths.size();) {
        base::refill_safely(in);
        const uint32_t entry = table[base::low_bits(in.bits, 7)];
        if (entry == invalid || overran(in)) return false;
        base::drop(in, entry);
        const unsigned symbol = value_of(entry);
        if (symbol < 16) {
            lengths[i++] = static_cast<uint8_t>(symbol);
            continue;
        }
        if (symbol == 16 && i == 0) return false;
        const uint8_t repeated = symbol == 16 ? lengths[i - 1] : 0;
        const size_t count = symbol == 16 ? 3 + take(in, 2) : symbol == 17 ? 3 + take(in, 3) : 11 + take(in, 7);
        if (count > lengths.size() - i) return false;
        std::fill_n(lengths.begin() + static_cast<std::ptrdiff_t>(i), count, repeated);
        i += count;
    }
    return true;
}

// One by one, for the last bytes before a limit: nothing is written past it.
void copy_exact(uint8_t* out, size_t distance, size_t length) {
    for (size_t i = 0; i < length; ++i) out[i] = out[i - distance];
}

}  // namespace

bool Inflater::begin(Bytes stream) {
    *this = {};
    if (stream.size() < 6) return false;
    const unsigned method = byte_at(stream, 0), flags = byte_at(stream, 1);
    // A smaller window would forbid some distances, which we do not check.
    const bool plain = method == 0x78 && (flags & 0x20) == 0 && (method << 8 | flags) % 31 == 0;
    in_ = {stream.data(), stream.size() - 4, 2, 0, 0};
    return plain;
}

Inflater::Status Inflater::run(uint8_t*& out, uint8_t* limit) {
    uint8_t* const begin = out;
    const Status status = blocks(out, limit);
    checksum_ = AT_THIS_LEVEL(adler32)(checksum_, begin, static_cast<size_t>(out - begin));
    if (status != Status::ended) return status;
    return finish() ? Status::ended : Status::bad;
}

Inflater::Status Inflater::blocks(uint8_t*& out, uint8_t* limit) {
    for (;;) {
        if (block_ == Block::none) {
            if (last_) return Status::ended;
            if (!begin_block()) return Status::bad;
        }
        uint8_t* const begin = out;
        const bool right = block_ == Block::stored ? store(out, limit) : decode(out, limit);
        produced_ += static_cast<uint64_t>(out - begin);
        if (!right || overran(in_)) return Status::bad;
        if (block_ != Block::none) return Status::more;
    }
}

bool Inflater::begin_block() {
    base::refill_safely(in_);
    last_ = take(in_, 1) == 1;
    switch (take(in_, 2)) {
        case 0: return begin_stored();
        case 1: return begin_fixed();
        case 2: return begin_dynamic();
        default: return false;
    }
}

bool Inflater::begin_stored() {
    drop_to_byte();
    base::refill_safely(in_);
    const unsigned length = take(in_, 16), inverted = take(in_, 16);
    drop_to_byte();
    if (length != (~inverted & 0xFFFF) || overran(in_)) return false;
    // From here on whole bytes are read.
    in_.position -= in_.count / 8;
    in_.bits = in_.count = 0;
    left_ = length;
    block_ = Block::stored;
    return in_.size - in_.position >= length;
}

void Inflater::drop_to_byte() { base::drop(in_, in_.count % 8); }

bool Inflater::begin_fixed() {
    std::array<uint8_t, 288> literals{};
    for (size_t i = 0; i < literals.size(); ++i) literals[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    std::array<uint8_t, 32> distances{};
    distances.fill(5);
    block_ = Block::coded;
    return build_literals(tables_, literals) && build_distances(tables_, distances);
}

bool Inflater::begin_dynamic() {
    const unsigned literals = take(in_, 5) + 257, distances = take(in_, 5) + 1, count = take(in_, 4) + 4;
    if (literals > length_symbols || distances > distance_symbols) return false;
    std::array<uint8_t, 19> of_lengths{};
    for (unsigned i = 0; i < count; ++i) {
        base::refill_safely(in_);
        of_lengths[code_length_order[i]] = static_cast<uint8_t>(take(in_, 3));
    }
    const Code code(of_lengths);
    std::array<uint32_t, 128> table;
    if (!code.complete() || !code.fill(table, 7, plain_entry)) return false;
    std::array<uint8_t, length_symbols + distance_symbols> lengths{};
    if (!read_lengths(in_, std::span(lengths).first(literals + distances), table)) return false;
    block_ = Block::coded;
    return build_literals(tables_, Lengths(lengths).first(literals)) &&
           build_distances(tables_, Lengths(lengths).subspan(literals, distances));
}

bool Inflater::store(uint8_t*& out, uint8_t* limit) {
    const size_t count = std::min(left_, static_cast<size_t>(limit - out));
    if (count > 0) std::memcpy(out, in_.data + in_.position, count);
    out += count;
    in_.position += count;
    left_ -= count;
    if (left_ == 0) block_ = Block::none;
    return true;
}

bool Inflater::decode(uint8_t*& out, uint8_t* limit) {
    uint8_t* const begin = out;
    bool bad = false;
    const bool ended = left_ == 0 && AT_THIS_LEVEL(decode_symbols)(in_, tables_, out, limit, produced_, bad);
    if (ended) block_ = Block::none;
    return !bad && (ended || decode_tail(out, limit, produced_ + static_cast<uint64_t>(out - begin)));
}

// Symbol by symbol up to the limit, and the end of the block where it comes next. A match that does not fit is
// continued by the next call.
bool Inflater::decode_tail(uint8_t*& out, uint8_t* limit, uint64_t history) {
    while (!overran(in_)) {
        if (left_ > 0) {
            const size_t count = std::min(left_, static_cast<size_t>(limit - out));
            copy_exact(out, distance_, count);
            out += count;
            history += count;
            left_ -= count;
            if (left_ > 0) return true;
        }
        base::refill_safely(in_);
        uint32_t entry = base::look_up(tables_.literal.data(), literal_root, in_.bits);
        if (entry & is_special) {
            base::drop(in_, entry);
            block_ = Block::none;
            return (entry & is_end) != 0;
        }
        if (out == limit) return true;
        if (entry & is_literal) {
            base::drop(in_, entry);
            *out++ = static_cast<uint8_t>(value_of(entry));
            ++history;
            continue;
        }
        left_ = base::read_number(in_, entry);
        base::refill_safely(in_);
        entry = base::look_up(tables_.distance.data(), distance_root, in_.bits);
        if (entry & is_special) return false;
        distance_ = base::read_number(in_, entry);
        if (distance_ > history) return false;
    }
    return false;
}

// After the last block: the checksum, and nothing after it.
bool Inflater::finish() {
    drop_to_byte();
    const size_t end = in_.position - in_.count / 8;
    return end == in_.size && be32({in_.data, in_.size + 4}, end) == checksum_;
}

}  // namespace pixelmill
