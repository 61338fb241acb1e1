#include "pack_sections.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../platform/compiler.h"

namespace pixelmill {
namespace {

// The number of the smallest width of at least so many bits.
constexpr std::array<uint8_t, 17> dc_width_numbers = [] {
    std::array<uint8_t, 17> numbers{};
    for (size_t bits = 1; bits < numbers.size(); ++bits)
        numbers[bits] = static_cast<uint8_t>(numbers[bits - 1] + (pack_dc_widths[numbers[bits - 1]] < bits ? 1 : 0));
    return numbers;
}();

// The number of the smallest width that holds eight differences.
uint8_t dc_width_of(const int16_t* differences) {
    int any = 0, bits = 0;  // what is the same as the sign needs no bit but that of the sign
    for (int k = 0; k < 8; ++k) {
        any |= differences[k];
        bits |= differences[k] ^ differences[k] >> 15;
    }
    return dc_width_numbers[any == 0 ? 0 : static_cast<size_t>(pack_width(bits))];
}

void store_little_endian(uint8_t* to, uint64_t value) {
    if constexpr (std::endian::native == std::endian::big) value = byteswap(value);
    std::memcpy(to, &value, sizeof value);
}

uint64_t four_fields(const int16_t* values, uint32_t width) {
    uint64_t fields = 0;
    for (uint32_t k = 0; k < 4; ++k) fields |= uint64_t{values[k] & ((1u << width) - 1)} << k * width;
    return fields;
}

// Writes eight fields of `width` bytes in all, and zeros after them. Those of odd widths have 9 bits at most.
void put_eight(uint8_t* to, const int16_t* values, uint32_t width) {
    const uint64_t first = four_fields(values, width), second = four_fields(values + 4, width);
    const uint32_t whole = width / 2;  // bytes of four fields; half a byte is left of those of an odd width
    store_little_endian(to, first);
    store_little_endian(to + whole, width % 2 == 0 ? second : first >> 8 * whole | second << 4);
}

}  // namespace

void PackSectionWriter::clear() {
    used_ = 0;
    ends_.clear();
}

uint8_t* PackSectionWriter::add(size_t bytes) {
    const size_t need = used_ + bytes + slack;
    if (memory_.size() < need) memory_.resize(std::max(need, 2 * memory_.size()));
    uint8_t* const at = memory_.data() + used_;
    std::fill_n(at, bytes + slack, uint8_t{0});
    used_ += bytes;
    return at;
}

void PackSectionWriter::end_band() { ends_.push_back(used_); }

Bytes PackSectionWriter::band(size_t number) const {
    const size_t first = number == 0 ? 0 : ends_[number - 1];
    return bytes().subspan(first, ends_[number] - first);
}

void PackSectionsWriter::begin(const PackCodebook& codebook) {
    codebook_ = &codebook;
    kernels_ = &pack_kernels();
    for (PackSectionWriter& section : sections_) section.clear();
}

bool PackSectionsWriter::add_band(const PackSource& source, int64_t mcu_rows) {
    const auto& components = source.frame().components;
    for (int i = 0; i < source.frame().count; ++i) {
        const int64_t rows = mcu_rows * components[static_cast<size_t>(i)].v;
        for (int64_t row = 0; row < rows; ++row) add_dc_row(source, i, row);
        const PackSection section = i == 0 ? PackSection::luma : PackSection::chroma;
        if (!add_blocks(sections_[static_cast<size_t>(section)], source, i, rows)) return false;
    }
    for (PackSectionWriter& section : sections_) section.end_band();
    return true;
}

void PackSectionsWriter::add_dc_row(const PackSource& source, int component, int64_t row) {
    const int64_t blocks = source.blocks_a_row(component);
    const auto groups = static_cast<size_t>(blocks + 7) / 8;
    PackSectionWriter& out = sections_[static_cast<size_t>(PackSection::dc)];
    differences_.assign(8 * groups, 0);
    const int16_t* block = source.block(component, row, 0);
    for (size_t i = 1; i < static_cast<size_t>(blocks); ++i)
        differences_[i] = static_cast<int16_t>(block[64 * i] - block[64 * (i - 1)]);
    uint8_t* const first = out.add(2);
    first[0] = static_cast<uint8_t>(block[0]);
    first[1] = static_cast<uint8_t>(block[0] >> 8);
    uint8_t* const widths = out.add((groups + 1) / 2);
    std::array<uint8_t, 8200 / 8> numbers;  // a row of 65500 pixels has 8188 blocks, and an MCU's padding
    size_t total = 0;
    for (size_t group = 0; group < groups; ++group) {
        numbers[group] = dc_width_of(differences_.data() + 8 * group);
        widths[group / 2] = static_cast<uint8_t>(widths[group / 2] | numbers[group] << group % 2 * 4);
        total += pack_dc_widths[numbers[group]];
    }
    uint8_t* to = out.add(total);
    for (size_t group = 0; group < groups; ++group) {
        const uint32_t width = pack_dc_widths[numbers[group]];
        put_eight(to, differences_.data() + 8 * group, width);
        to += width;
    }
}

bool PackSectionsWriter::add_blocks(PackSectionWriter& out, const PackSource& source, int component, int64_t rows) {
    const PackBook& book = component == 0 ? codebook_->luma() : codebook_->chroma();
    const auto count = static_cast<size_t>(rows * source.blocks_a_row(component));
    const int16_t* const blocks = source.block(component, 0, 0);
    nonzero_.resize(count);
    ids_.resize(count);
    if (!choose_profiles(ids_.data(), nonzero_.data(), blocks, count, book)) return false;
    std::copy(ids_.begin(), ids_.end(), out.add(count));
    uint8_t* const to = out.add(kernels_->payload_bytes(ids_.data(), static_cast<int64_t>(count), book));
    write_payloads(to, ids_.data(), nonzero_.data(), blocks, count, book);
    return true;
}

}  // namespace pixelmill
