// The last stage of a resize of bytes: where its rows go.
#pragma once

#include <cstring>

#include "../kernels/resample.h"
#include "normalize.h"

namespace pixelmill {

// Finished rows of bytes go out packed, or normalized to float in either channel order.
class RasterSink : public RowSink {
   public:
    RasterSink(const Raster& out, int64_t channels, const Scaling* scaling)
        : out_(out),
          channels_(static_cast<int>(channels)),
          scaling_(scaling),
          to_planes_(out.leaves ? rows_.stream_planes : rows_.to_planes) {
        if (scaling == nullptr || out.pixel != 1) return;
        planes_ = {reinterpret_cast<float*>(out.data), out.row, out.channel, *scaling, out.leaves};
    }

    const FloatPlanes* planes() const override { return planes_.data != nullptr ? &planes_ : nullptr; }

    // After the last row.
    void finish() const { rows_.fence(); }

    void row(int64_t y, const uint8_t* pixels) override {
        if (scaling_ == nullptr) {
            auto* to = reinterpret_cast<uint8_t*>(out_.at(y, 0));
            if (channels_ == 3) return rows_.pack3(to, pixels, out_.width);
            std::memcpy(to, pixels, static_cast<size_t>(out_.width * channels_));
            return;
        }
        auto* to = reinterpret_cast<float*>(out_.at(y, 0));
        if (channels_ == 1) {
            for (int64_t x = 0; x < out_.width; ++x) {
                to[x] = (static_cast<float>(pixels[x]) - scaling_->subtract[0]) * scaling_->multiply[0];
            }
        } else if (out_.pixel == 1) {
            to_planes_(to, out_.channel, pixels, out_.width, channels_, *scaling_);
        } else {
            rows_.to_pixels(to, pixels, out_.width, channels_, *scaling_);
        }
    }

   private:
    const PixelRows& rows_ = pixel_rows();
    Raster out_;
    int channels_;
    const Scaling* scaling_;
    PixelRows::ToPlanes* to_planes_;
    FloatPlanes planes_{};
};

}  // namespace pixelmill
