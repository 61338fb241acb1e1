#include "jpeg_scan_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../platform/compiler.h"
#include "jpeg_zigzag.h"
#include "pack_kernels.h"

namespace pixelmill {
namespace {

// For each row of a block and each pattern of its eight coefficients: their places in the stream.
struct RowPlaces {
    std::array<std::array<uint64_t, 256>, 8> rows{};

    constexpr RowPlaces() {
        for (size_t place = 1; place < 64; ++place) {
            const size_t k = zigzag[place];
            for (size_t pattern = 0; pattern < 256; ++pattern) {
                if (pattern >> (k % 8) & 1) rows[k / 8][pattern] |= uint64_t{1} << place;
            }
        }
    }
};

constexpr RowPlaces places;

inline uint64_t nonzero_places(uint64_t nonzero) {
    uint64_t found = 0;
    for (size_t row = 0; row < 8; ++row) found |= places.rows[row][nonzero >> 8 * row & 255];
    return found;
}

// Two for the first coefficient, 63 others and 3 runs of sixteen zeros at most; the end mark takes the place of one.
constexpr size_t codes_of_block = 2 + 63 + 3;
constexpr int codes_at_once = 4;
constexpr size_t empty_codes = 8;  // at the end: as many as are written at once

constexpr std::array<uint8_t, 64> numbers_to_63 = [] {
    std::array<uint8_t, 64> numbers{};
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<uint8_t>(i);
    return numbers;
}();

}  // namespace

inline void JpegScanBits::put(uint64_t value, uint32_t size) {
    bits = bits << size | value;
    count += size;
    uint64_t stored = bits << (-count & 63);
    if constexpr (std::endian::native == std::endian::little) stored = byteswap(stored);
    std::memcpy(at, &stored, sizeof stored);
    at += count >> 3;
    count &= 7;
}

#define WIDE_BLOCKS_CODE 0
#define KERNELS "../codecs/jpeg_scan_writer.inl"
#include "../kernels/both_levels.inl"
#undef WIDE_BLOCKS_CODE

#if PIXELMILL_WIDE_BLOCKS
BEGIN_WIDE_BLOCKS_CODE
namespace wide_blocks {
#define WIDE_BLOCKS_CODE 1
#include "jpeg_scan_writer.inl"
#undef WIDE_BLOCKS_CODE
}  // namespace wide_blocks
END_WIDE_BLOCKS_CODE
#endif

namespace {

auto* block_writer() {
#if PIXELMILL_WIDE_BLOCKS
    if (uses_wide_blocks()) return wide_blocks::write_blocks;
#endif
    return AT_THIS_LEVEL(write_blocks);
}

}  // namespace

bool JpegScanTable::build(const HuffmanSpec& spec) {
    if (!spec.defined) return false;
    for (uint32_t symbol = 0; symbol < 256; ++symbol)
        codes[symbol] = JpegScanCode::of(JpegScanCode::missing, symbol & 15);
    uint32_t code = 0;
    size_t place = 0;
    for (uint32_t length = 1; length <= 16; ++length, code <<= 1) {
        if (code + spec.counts[length] > (1u << length)) return false;
        for (uint32_t i = 0; i < spec.counts[length]; ++i, ++code, ++place) {
            if (place >= spec.symbols.size()) return false;
            JpegScanCode& entry = codes[spec.symbols[place]];
            const uint32_t follow = spec.symbols[place] & 15;
            if (entry.bits() == JpegScanCode::missing) entry = JpegScanCode::of(code << follow, length + follow);
        }
    }
    return true;
}

bool JpegScanWriter::begin(std::vector<std::byte>& out, uint64_t most, const JpegFrame& frame, const JpegTables& tables,
                           const JpegScan& scan, bool zero_padding) {
    out_ = &out;
    most_ = most;
    write_blocks_ = block_writer();
    blocks_ = 0;
    for (int i = 0; i < scan.count; ++i) {
        const JpegScan::Part& part = scan.parts[static_cast<size_t>(i)];
        const JpegComponent& component = frame.components[static_cast<size_t>(part.component)];
        JpegScanTable &dc = dc_[static_cast<size_t>(part.dc)], &ac = ac_[static_cast<size_t>(part.ac)];
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

bool JpegScanWriter::write_mcu(const int16_t* const* blocks) {
    if (restart_interval_ != 0 && until_restart_-- == 0 && !restart()) return false;
    return write_blocks_(bits_, blocks, kinds_.data(), blocks_, last_.data()) &&
           (bits_.at < plain_.data() + chunk || flush());
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
