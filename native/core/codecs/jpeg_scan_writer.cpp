#include "jpeg_scan_writer.h"

#include <bit>
#include <cstring>

#include "jpeg_zigzag.h"
#include "pack_kernels.h"

namespace pixelmill {
namespace {

// For each row of a block and each pattern of its eight coefficients: their places in the stream.
struct RowPlaces {
    std::array<std::array<uint64_t, 256>, 8> rows{};

    RowPlaces() {
        for (size_t place = 1; place < 64; ++place) {
            const size_t k = zigzag[place];
            for (size_t pattern = 0; pattern < 256; ++pattern) {
                if (pattern >> (k % 8) & 1) rows[k / 8][pattern] |= uint64_t{1} << place;
            }
        }
    }
};

uint64_t nonzero_places(uint64_t nonzero) {
    static const RowPlaces places;
    uint64_t found = 0;
    for (size_t row = 0; row < 8; ++row) found |= places.rows[row][nonzero >> 8 * row & 255];
    return found;
}

}  // namespace

bool JpegScanWriter::Table::build(const HuffmanSpec& spec) {
    if (!spec.defined) return false;
    codes.fill({});
    uint32_t code = 0;
    size_t place = 0;
    for (uint32_t length = 1; length <= 16; ++length, code <<= 1) {
        if (code + spec.counts[length] > (1u << length)) return false;
        for (uint32_t i = 0; i < spec.counts[length]; ++i, ++code, ++place) {
            if (place >= spec.symbols.size()) return false;
            Code& entry = codes[spec.symbols[place]];
            if (entry.size == 0) entry = {code, length};
        }
    }
    return true;
}

bool JpegScanWriter::begin(std::vector<std::byte>& out, uint64_t most, const JpegFrame& frame, const JpegTables& tables,
                           const JpegScan& scan, bool zero_padding) {
    out_ = &out;
    nonzero_ = pack_kernels().nonzero;
    most_ = most;
    blocks_ = 0;
    for (int i = 0; i < scan.count; ++i) {
        const JpegScan::Part& part = scan.parts[static_cast<size_t>(i)];
        const JpegComponent& component = frame.components[static_cast<size_t>(part.component)];
        Table &dc = dc_[static_cast<size_t>(part.dc)], &ac = ac_[static_cast<size_t>(part.ac)];
        if (!dc.build(tables.dc[static_cast<size_t>(part.dc)]) || !ac.build(tables.ac[static_cast<size_t>(part.ac)]))
            return false;
        for (int block = 0; block < component.h * component.v; ++block) {
            if (blocks_ == most_blocks) return false;
            kinds_[blocks_++] = {&dc, &ac, static_cast<size_t>(part.component)};
        }
    }
    last_.fill(0);
    zero_padding_ = zero_padding;
    restart_interval_ = until_restart_ = tables.restart_interval;
    next_restart_ = 0;
    bits_ = {plain_.data(), 0, 0};
    return true;
}

// Each call writes 8 bytes and only the whole ones count: the next call overwrites the rest.
inline void JpegScanWriter::Bits::put(uint32_t value, uint32_t size) {
    bits = bits << size | value;
    count += size;
    uint64_t stored = bits << (-count & 63);
    if constexpr (std::endian::native == std::endian::little) stored = __builtin_bswap64(stored);
    std::memcpy(at, &stored, sizeof stored);
    at += count >> 3;
    count &= 7;
}

bool JpegScanWriter::write_mcu(const int16_t* const* blocks) {
    if (restart_interval_ != 0 && until_restart_-- == 0 && !restart()) return false;
    Bits to = bits_;  // a copy, which the compiler keeps in registers
    bool sound = true;
    for (size_t i = 0; i < blocks_; ++i) sound = write_block(to, blocks[i], kinds_[i]) && sound;
    bits_ = to;
    return sound && (to.at < plain_.data() + chunk || flush());
}

inline bool JpegScanWriter::write_block(Bits& to, const int16_t* block, const Block& kind) {
    // Signs are as good as random, so nothing here branches on them.
    const auto size_of = [](int value) {
        const int negative = value >> 31;
        return static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>((value ^ negative) - negative)));
    };
    const auto put = [&](const Code& code, int value, uint32_t size) {
        const uint32_t low = static_cast<uint32_t>(value + (value >> 31)) & ((1u << size) - 1);
        to.put(code.bits << size | low, code.size + size);
        return code.size != 0;
    };
    int& before = last_[kind.component];
    const int difference = block[0] - before;
    if (size_of(difference) > 15) return false;
    bool sound = put(kind.dc->codes[size_of(difference)], difference, size_of(difference));
    before = block[0];
    int place = 0;
    for (uint64_t left = nonzero_places(nonzero_(block)); left != 0; left &= left - 1) {
        const int next = std::countr_zero(left);
        int zeros = next - place - 1;
        place = next;
        for (; zeros > 15; zeros -= 16) sound = put(kind.ac->codes[0xF0], 0, 0) && sound;
        const int value = block[zigzag[static_cast<size_t>(next)]];
        const uint32_t size = size_of(value) & 15;  // packed values have 12 bits
        sound = put(kind.ac->codes[static_cast<size_t>(zeros) << 4 | size], value, size) && sound;
    }
    return place == 63 ? sound : put(kind.ac->codes[0], 0, 0) && sound;
}

void JpegScanWriter::pad() {
    const uint32_t missing = -bits_.count & 7;
    bits_.put(zero_padding_ ? 0 : (1u << missing) - 1, missing);
}

bool JpegScanWriter::restart() {
    pad();
    if (!flush()) return false;
    out_->push_back(std::byte{0xFF});
    out_->push_back(static_cast<std::byte>(0xD0 + next_restart_));
    next_restart_ = (next_restart_ + 1) % 8;
    until_restart_ = restart_interval_ - 1;
    last_.fill(0);
    return true;
}

// Appends the whole bytes, with a zero after each 0xFF.
bool JpegScanWriter::flush() {
    const uint8_t* from = plain_.data();
    const auto whole = static_cast<size_t>(bits_.at - from);
    if (out_->size() + whole + 2 > most_) return false;  // 2: of a restart marker
    while (from < bits_.at) {
        const auto left = static_cast<size_t>(bits_.at - from);
        const void* found = std::memchr(from, 0xFF, left);
        const size_t count =
            found != nullptr ? static_cast<size_t>(static_cast<const uint8_t*>(found) + 1 - from) : left;
        const auto* bytes = reinterpret_cast<const std::byte*>(from);
        out_->insert(out_->end(), bytes, bytes + count);
        if (found != nullptr) out_->push_back(std::byte{0});
        from += count;
    }
    bits_.at = plain_.data();
    return true;
}

bool JpegScanWriter::finish() {
    pad();
    return flush();
}

}  // namespace pixelmill
