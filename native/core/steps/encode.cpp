// Pictures to files in memory.
#include <algorithm>
#include <cstring>

#include "../codecs/jpeg_writer.h"
#include "../codecs/png_writer.h"
#include "declared/codecs.h"
#include "pictures.h"

namespace pixelmill {

namespace {

ChromaSampling sampling_named(const std::string& name) {
    return name == "4:4:4" ? ChromaSampling::full : name == "4:2:2" ? ChromaSampling::half : ChromaSampling::quarter;
}

class Encode : public Step {
   public:
    explicit Encode(const EncodeParams& params)
        : jpeg_(params.format == "jpeg"), sampling_(sampling_named(params.subsampling)) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const EncodeInputs in(values);
        const Value& x = in.image;
        require_type(x, {DType::u8}, name);
        const bool picture = x.ndim == 3 && (x.shape[2] == 1 || x.shape[2] == 3) && x.elements() > 0;
        if (!picture) {
            throw Fault(FaultKind::argument,
                        std::string(name) + ": pictures with one or three channels are needed, got " + describe(x));
        }
        thread_local std::vector<std::byte> file;  // its memory serves picture after picture
        if (jpeg_) {
            const double quality = argument(in.quality, std::string(name) + ": quality");
            context.thread.jpeg_writer->encode(view(context, x, true),
                                               static_cast<int>(std::clamp(quality, 1.0, 100.0)), sampling_, file);
        } else {
            encode_png(view(context, x, false), PngEffort::fast, file);
        }
        const int64_t bytes = static_cast<int64_t>(file.size());
        out[0] = context.allocate(0, DType::u8, {&bytes, 1});
        std::memcpy(out[0].data, file.data(), file.size());
    }

   private:
    // Rows may lie anywhere, and JPEG takes pixels of four bytes; anything else is packed first.
    static View<const uint8_t> view(Context& context, const Value& x, bool padded) {
        Raster raster = picture_at(x, 0);
        const bool direct = raster.channel == 1 &&
                            (raster.pixel == raster.channels || (padded && raster.channels == 3 && raster.pixel == 4));
        if (!direct) raster = picture_at(packed(context, x), 0);
        return {reinterpret_cast<const uint8_t*>(raster.data),
                raster.height,
                raster.width,
                raster.channels,
                raster.row,
                raster.pixel,
                1};
    }

    static constexpr const char* name = "encoders.image";
    bool jpeg_;
    ChromaSampling sampling_;
};

}  // namespace

std::unique_ptr<Step> make_encode(const EncodeParams& params) { return std::make_unique<Encode>(params); }

}  // namespace pixelmill
