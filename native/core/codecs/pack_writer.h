// JPEG files to packed images.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jpeg_decoder.h"
#include "pack_decoder.h"
#include "pack_restorer.h"
#include "pack_sections.h"
#include "pack_source.h"

namespace pixelmill {

// One thread's packer, used for file after file.
class PackWriter {
   public:
    struct Result {
        Bytes packed;        // valid until the next call
        std::string reason;  // why the file was not packed; empty when it was
    };

    // A packed image has been checked: it restores the file, and has its pixels in a window. The codebook is
    // registered.
    Result pack(Bytes file, const PackCodebook& codebook);

   private:
    std::string write_sections(const PackCodebook& codebook);
    bool has_long_band() const;
    void assemble(Bytes file, uint64_t scan_end, bool zero_padding);
    bool restores(Bytes file);
    bool has_same_pixels(Bytes file);

    PackSource source_;
    PackSectionsWriter sections_;
    uint64_t codebook_ = 0;
    int64_t band_rows_ = 1;
    size_t bands_ = 0;
    std::vector<std::byte> packed_, restored_;
    PackRestorer restorer_;
    Arena arena_;
    PackDecoder decoder_{arena_};
    JpegDecoder jpeg_;
};

}  // namespace pixelmill
