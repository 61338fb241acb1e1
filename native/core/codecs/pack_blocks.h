// The blocks of a packed image, one band of rows after the other.
#pragma once

#include <array>
#include <cstdint>

#include "pack_kernels.h"
#include "pack_layout.h"

namespace pixelmill {

class PackBlocks {
   public:
    // Which components need more than their first coefficients.
    using Needs = std::array<bool, JpegFrame::most_components>;

    // All of these outlive the use of this object.
    void begin(Bytes file, const PackLayout& layout, const PackCodebook& codebook, const Needs& needs);

    // Takes a section from `bytes` from now on, which begin at byte `offset` of the file. `begin` takes all from there.
    void take_from(PackSection section, Bytes bytes, uint64_t offset) {
        parts_[static_cast<size_t>(section)] = {bytes, offset};
    }

    // Checks the sections of a band that are needed, and finds their rows. Faults: checksum, corrupt.
    void open_band(size_t band);

    // The first coefficients of a row of blocks of the band; whole groups of eight.
    void read_dc(int16_t* out, int component, int64_t row) const;

    // Where the coefficients of a row of blocks are, from block `column` on.
    struct Cursor {
        const uint8_t* ids = nullptr;
        const uint8_t* payload = nullptr;
    };
    Cursor at(int component, int64_t row, int64_t column) const;

    // Unpacks the next blocks and moves the cursor past them. `blocks` is 32-byte aligned.
    void read(int16_t* blocks, uint8_t* last, Cursor& cursor, const int16_t* dc, int component, int64_t count) const;

    const PackBook& book(int component) const { return component == 0 ? codebook_->luma() : codebook_->chroma(); }

   private:
    struct Part {
        Bytes bytes;
        uint64_t offset = 0;
    };
    struct Row {
        const uint8_t* dc = nullptr;
        const uint8_t* ids = nullptr;
        const uint8_t* payload = nullptr;
    };

    Bytes check(const PackBand& band, PackSection section) const;
    void find_dc(Bytes section, int64_t mcu_rows);
    void find_blocks(Bytes section, int first, int end, int64_t mcu_rows);
    Row& row_of(int component, int64_t row) { return rows_[static_cast<size_t>(component)][static_cast<size_t>(row)]; }
    const Row& row_of(int component, int64_t row) const {
        return rows_[static_cast<size_t>(component)][static_cast<size_t>(row)];
    }

    std::array<Part, pack_sections> parts_{};
    const PackLayout* layout_ = nullptr;
    const PackCodebook* codebook_ = nullptr;
    const PackKernels* kernels_ = nullptr;
    Needs needs_{};
    size_t band_ = 0;
    std::array<std::array<Row, most_band_rows>, JpegFrame::most_components> rows_{};
};

}  // namespace pixelmill
