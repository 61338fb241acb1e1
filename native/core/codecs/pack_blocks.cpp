#include "pack_blocks.h"

#include <string>

#include "../fault.h"
#include "../records/crc32c.h"

namespace pixelmill {
namespace {

const char* name_of(PackSection section) {
    return section == PackSection::dc ? "DC" : section == PackSection::chroma ? "chroma" : "luma";
}

[[noreturn]] void refuse(PackSection section, size_t band) {
    throw Fault(FaultKind::corrupt, std::string("corrupt packed image: the lengths of its ") + name_of(section) +
                                        " rows do not add up in band " + std::to_string(band));
}

}  // namespace

void PackBlocks::begin(Bytes file, const PackLayout& layout, const PackCodebook& codebook, const Needs& needs) {
    parts_.fill({file, 0});
    layout_ = &layout;
    codebook_ = &codebook;
    kernels_ = &pack_kernels();
    needs_ = needs;
}

Bytes PackBlocks::check(const PackBand& band, PackSection section) const {
    const auto number = static_cast<size_t>(section);
    const Part& part = parts_[number];
    const Bytes bytes = part.bytes.subspan(band.offset[number] - part.offset, band.length[number]);
    if (crc32c(bytes) != band.checksum[number]) {
        throw Fault(FaultKind::checksum, std::string("packed image: the checksum of its ") + name_of(section) +
                                             " band " + std::to_string(band_) + " does not fit");
    }
    return bytes;
}

void PackBlocks::open_band(size_t band) {
    band_ = band;
    const PackBand& index = layout_->bands[band];
    const int64_t mcu_rows = layout_->rows_of(band);
    find_dc(check(index, PackSection::dc), mcu_rows);
    if (needs_[1] || needs_[2]) find_blocks(check(index, PackSection::chroma), 1, layout_->frame.count, mcu_rows);
    if (needs_[0]) find_blocks(check(index, PackSection::luma), 0, 1, mcu_rows);
}

void PackBlocks::find_dc(Bytes section, int64_t mcu_rows) {
    uint64_t at = 0;
    for (int i = 0; i < layout_->frame.count; ++i) {
        const PackComponent& component = layout_->components[static_cast<size_t>(i)];
        const auto groups = static_cast<uint64_t>(component.blocks + 7) / 8;
        for (int64_t row = 0; row < mcu_rows * component.v; ++row) {
            const uint64_t widths = at + 2;
            if (!holds(section, at, 2 + (groups + 1) / 2)) refuse(PackSection::dc, band_);
            row_of(i, row).dc = reinterpret_cast<const uint8_t*>(section.data()) + at;
            at = widths + (groups + 1) / 2;
            for (uint64_t group = 0; group < groups; ++group) {
                const uint32_t number = byte_at(section, widths + group / 2) >> group % 2 * 4 & 15;
                if (number >= pack_dc_widths.size()) refuse(PackSection::dc, band_);
                at += pack_dc_widths[number];
            }
        }
    }
    if (at != section.size()) refuse(PackSection::dc, band_);
}

void PackBlocks::find_blocks(Bytes section, int first, int end, int64_t mcu_rows) {
    const PackSection name = first == 0 ? PackSection::luma : PackSection::chroma;
    uint64_t at = 0;
    for (int i = first; i < end; ++i) {
        const PackComponent& component = layout_->components[static_cast<size_t>(i)];
        const int64_t rows = mcu_rows * component.v;
        if (!holds(section, at, static_cast<uint64_t>(rows * component.blocks))) refuse(name, band_);
        const auto* ids = reinterpret_cast<const uint8_t*>(section.data()) + at;
        at += static_cast<uint64_t>(rows * component.blocks);
        for (int64_t row = 0; row < rows; ++row, ids += component.blocks) {
            row_of(i, row).ids = ids;
            row_of(i, row).payload = reinterpret_cast<const uint8_t*>(section.data()) + at;
            at += kernels_->payload_bytes(ids, component.blocks, book(i));
        }
        if (at > section.size()) refuse(name, band_);
    }
    if (at != section.size()) refuse(name, band_);
}

void PackBlocks::read_dc(int16_t* out, int component, int64_t row) const {
    const uint8_t* from = row_of(component, row).dc;
    const int64_t groups = (layout_->components[static_cast<size_t>(component)].blocks + 7) / 8;
    const auto first = static_cast<int16_t>(from[0] | from[1] << 8);
    kernels_->unpack_dc(out, from + 2, from + 2 + (groups + 1) / 2, groups, first);
}

PackBlocks::Cursor PackBlocks::at(int component, int64_t row, int64_t column) const {
    const Row& from = row_of(component, row);
    return {from.ids + column, from.payload + kernels_->payload_bytes(from.ids, column, book(component))};
}

void PackBlocks::read(int16_t* blocks, uint8_t* last, Cursor& cursor, const int16_t* dc, int component,
                      int64_t count) const {
    cursor.payload = kernels_->unpack_blocks(blocks, last, cursor.ids, cursor.payload, dc, count, book(component));
    cursor.ids += count;
}

}  // namespace pixelmill
