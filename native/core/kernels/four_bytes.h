// Rows of 8-bit pixels with 4 bytes each, whatever the strides of the image: vector code loads whole pixels from them.
#pragma once

#include <cstring>

#include "pointwise.h"

namespace pixelmill {

// Rows come left to right, for the row passes.
class FourByteRows {
   public:
    FourByteRows(const Raster& in, Arena& arena)
        : forward_(in.pixel > 0 ? in : mirrored(in)),
          last_(in.row < 0 ? 0 : in.height - 1),
          reversed_(in.pixel < 0),
          spread_(arena.take<uint8_t>(static_cast<size_t>(4 * in.width))),
          turned_(reversed_ ? arena.take<uint8_t>(static_cast<size_t>(4 * in.width)) : nullptr) {}

    // Three or four channels side by side, three or four bytes apart.
    static bool fit(const Raster& in) {
        const int64_t step = in.pixel < 0 ? -in.pixel : in.pixel;
        return in.dtype == DType::u8 && in.channel == 1 && in.width > 0 &&
               ((in.channels == 3 && (step == 3 || step == 4)) || (in.channels == 4 && step == 4));
    }

    const uint8_t* row(const PixelRows& rows, int64_t y) const {
        const auto* source = reinterpret_cast<const uint8_t*>(forward_.at(y, 0));
        if (forward_.pixel == 3) {
            rows.spread3(spread_, source, forward_.width);
            source = spread_;
        } else if (y == last_ && forward_.channels == 3) {
            // The memory may end with the third byte of the last pixel.
            std::memcpy(spread_, source, static_cast<size_t>(4 * forward_.width - 1));
            source = spread_;
        }
        if (!reversed_) return source;
        rows.reverse4(turned_, source, forward_.width);
        return turned_;
    }

   private:
    Raster forward_;
    int64_t last_;
    bool reversed_;
    uint8_t *spread_, *turned_;
};

}  // namespace pixelmill
