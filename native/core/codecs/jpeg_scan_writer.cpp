#include "jpeg_scan_writer.h"

#include <bit>
#include <cstdlib>
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

// Whether one of the eight bytes is 0xFF.
bool has_ff(uint64_t word) {
    const uint64_t turned = ~word;
    return ((turned - 0x0101010101010101u) & ~turned & 0x8080808080808080u) != 0;
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
            if (blocks_ == static_cast<int>(kinds_.size())) return false;
            kinds_[static_cast<size_t>(blocks_++)] = {&dc, &ac, static_cast<size_t>(part.component)};
        }
    }
    last_.fill(0);
    bits_ = 0;
    count_ = 0;
    zero_padding_ = zero_padding;
    restart_interval_ = until_restart_ = tables.restart_interval;
    next_restart_ = 0;
    buffer_.resize(room);
    used_ = 0;
    return true;
}

bool JpegScanWriter::write_mcu(const int16_t* const* blocks) {
    if (restart_interval_ != 0 && until_restart_-- == 0) restart();
    for (int i = 0; i < blocks_; ++i) {
        if (!write_block(blocks[i], kinds_[static_cast<size_t>(i)])) return false;
    }
    return used_ < flush_at || flush();
}

bool JpegScanWriter::write_block(const int16_t* block, const Block& kind) {
    const auto with_value = [this](const Code& code, int value, uint32_t size) {
        const uint32_t low = static_cast<uint32_t>(value < 0 ? value - 1 : value) & ((1u << size) - 1);
        put(code.bits << size | low, code.size + size);
    };
    int& before = last_[kind.component];
    const int difference = block[0] - before;
    const auto bits = static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(std::abs(difference))));
    if (bits > 15 || kind.dc->codes[bits].size == 0) return false;
    with_value(kind.dc->codes[bits], difference, bits);
    before = block[0];
    uint64_t left = nonzero_places(nonzero_(block));
    int place = 0;
    for (; left != 0; left &= left - 1) {
        const int next = std::countr_zero(left);
        int zeros = next - place - 1;
        place = next;
        const Code& sixteen = kind.ac->codes[0xF0];
        for (; zeros > 15; zeros -= 16) {
            if (sixteen.size == 0) return false;
            put(sixteen.bits, sixteen.size);
        }
        const int value = block[zigzag[static_cast<size_t>(next)]];
        const auto size = static_cast<uint32_t>(std::bit_width(static_cast<uint32_t>(std::abs(value))));
        if (size > 15) return false;
        const Code& code = kind.ac->codes[static_cast<size_t>(zeros) << 4 | size];
        if (code.size == 0) return false;
        with_value(code, value, size);
    }
    if (place == 63) return true;
    const Code& end = kind.ac->codes[0];
    put(end.bits, end.size);
    return end.size != 0;
}

// At most 31 bits, and fewer than 32 are left over from before.
void JpegScanWriter::put(uint32_t bits, uint32_t size) {
    bits_ = bits_ << size | bits;
    count_ += static_cast<int>(size);
    if (count_ < 32) return;
    count_ -= 32;
    const auto word = static_cast<uint32_t>(bits_ >> count_);
    if (!has_ff(word)) {
        uint32_t stored = word;
        if constexpr (std::endian::native == std::endian::little) stored = __builtin_bswap32(word);
        std::memcpy(buffer_.data() + used_, &stored, 4);
        used_ += 4;
        return;
    }
    put_word(word, 4);
}

void JpegScanWriter::put_word(uint64_t word, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) {
        const auto byte = static_cast<uint8_t>(word >> 8 * i);
        buffer_[used_++] = byte;
        if (byte == 0xFF) buffer_[used_++] = 0;
    }
}

void JpegScanWriter::pad() {
    const int missing = -count_ & 7;
    bits_ = bits_ << missing | (zero_padding_ ? 0u : (1u << missing) - 1);
    count_ += missing;
    put_word(bits_, count_ / 8);
    bits_ = 0;
    count_ = 0;
}

void JpegScanWriter::restart() {
    pad();
    buffer_[used_++] = 0xFF;
    buffer_[used_++] = static_cast<uint8_t>(0xD0 + next_restart_);
    next_restart_ = (next_restart_ + 1) % 8;
    until_restart_ = restart_interval_ - 1;
    last_.fill(0);
}

bool JpegScanWriter::flush() {
    if (out_->size() + used_ > most_) return false;
    const auto* bytes = reinterpret_cast<const std::byte*>(buffer_.data());
    out_->insert(out_->end(), bytes, bytes + used_);
    used_ = 0;
    return true;
}

bool JpegScanWriter::finish() {
    pad();
    return flush();
}

}  // namespace pixelmill
