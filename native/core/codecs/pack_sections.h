// Coefficients to the sections of a packed image.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pack_kernels.h"
#include "pack_layout.h"
#include "pack_payloads.h"
#include "pack_source.h"

namespace pixelmill {

// A buffer that grows and is used for image after image.
class PackSectionWriter {
   public:
    void clear();
    static constexpr size_t slack = pack_payload_slack;

    // Appends bytes of zero, with `slack` more that may be written. Valid until the next call.
    uint8_t* add(size_t bytes);
    void end_band();

    Bytes bytes() const { return {reinterpret_cast<const std::byte*>(memory_.data()), used_}; }
    Bytes band(size_t number) const;

   private:
    std::vector<uint8_t> memory_;
    size_t used_ = 0;
    std::vector<size_t> ends_;
};

class PackSectionsWriter {
   public:
    void begin(const PackCodebook& codebook);

    // The band that `source` holds. False for coefficients that no profile holds.
    bool add_band(const PackSource& source, int64_t mcu_rows);

    const PackSectionWriter& operator[](size_t section) const { return sections_[section]; }

   private:
    void add_dc_row(const PackSource& source, int component, int64_t row);
    bool add_blocks(PackSectionWriter& out, const PackSource& source, int component, int64_t rows);

    const PackCodebook* codebook_ = nullptr;
    const PackKernels* kernels_ = nullptr;
    std::array<PackSectionWriter, pack_sections> sections_;
    std::vector<int16_t> differences_;
    std::vector<uint64_t> nonzero_;
    std::vector<uint8_t> ids_;
};

}  // namespace pixelmill
