// Images to files in memory.
#include <algorithm>
#include <cstring>

#include "../codecs/bmp_writer.h"
#include "../codecs/jpeg_writer.h"
#include "../codecs/png_writer.h"
#include "../platform/per_thread.h"
#include "declared/codecs.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

ChromaSampling sampling_named(const std::string& name) {
    return name == "4:4:4" ? ChromaSampling::full : name == "4:2:2" ? ChromaSampling::half : ChromaSampling::quarter;
}

class Encode : public Step {
   public:
    explicit Encode(const EncodeParams& params)
        : format_(params.format),
          sampling_(sampling_named(params.subsampling)),
          level_(static_cast<int>(params.level)) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const EncodeInputs in(values);
        const Value& x = in.image;
        check(x);
        PER_THREAD(std::vector<std::byte>, file);  // its memory serves image after image
        if (format_ == "jpeg") {
            const double quality = argument(in.quality, std::string(name) + ": quality");
            context.thread.jpeg_writer().encode(view(context, x, true),
                                                static_cast<int>(std::clamp(quality, 1.0, 100.0)), sampling_, file);
        } else if (format_ == "bmp") {
            encode_bmp(view(context, x, false), 0, file);
        } else {
            encode_png(view(context, x, false), {level_, static_cast<int>(8 * size_of(x.dtype))}, file);
        }
        const int64_t bytes = static_cast<int64_t>(file.size());
        out[0] = context.allocate(0, DType::u8, {&bytes, 1});
        std::memcpy(out[0].data, file.data(), file.size());
        if (file.capacity() > kept_bytes) file = {};
    }

   private:
    void check(const Value& x) const {
        const bool png = format_ == "png";
        if (png) {
            require_type(x, {DType::u8, DType::u16}, name);
        } else {
            require_type(x, {DType::u8}, name);
        }
        const bool channels = x.ndim == 3 && x.shape[2] >= 1 && x.shape[2] <= (png ? 4 : 3);
        if (channels && (png || x.shape[2] != 2) && x.elements() > 0) return;
        throw Fault(FaultKind::argument, std::string(name) + ": images with " + (png ? "one to four" : "one or three") +
                                             " channels are needed, got " + describe(x));
    }

    // Rows may lie anywhere, and JPEG takes pixels of four bytes; anything else is packed first.
    static View<const uint8_t> view(Context& context, const Value& x, bool padded) {
        if (x.dtype == DType::u16) return high_bytes_first(context, x);
        Raster raster = image_at(x, 0);
        const bool direct = raster.channel == 1 &&
                            (raster.pixel == raster.channels || (padded && raster.channels == 3 && raster.pixel == 4));
        if (!direct) raster = image_at(packed(context, x), 0);
        return {reinterpret_cast<const uint8_t*>(raster.data),
                raster.height,
                raster.width,
                raster.channels,
                raster.row,
                raster.pixel,
                1};
    }

    // Samples of two bytes as PNG stores them; strides count bytes.
    static View<const uint8_t> high_bytes_first(Context& context, const Value& x) {
        const Value from = packed(context, x), to = context.scratch(DType::u16, shape_of(x));
        const auto *samples = from.as<const uint16_t>(), *end = samples + from.elements();
        for (auto* bytes = to.as<uint8_t>(); samples != end; ++samples) {
            *bytes++ = static_cast<uint8_t>(*samples >> 8);
            *bytes++ = static_cast<uint8_t>(*samples);
        }
        const int64_t pixel = 2 * x.shape[2];
        return {to.as<const uint8_t>(), x.shape[0], x.shape[1], x.shape[2], x.shape[1] * pixel, pixel, 1};
    }

    static constexpr const char* name = "encoders.image";
    static constexpr size_t kept_bytes = size_t{16} << 20;
    std::string format_;
    ChromaSampling sampling_;
    int level_;
};

}  // namespace

std::unique_ptr<Step> make_encode(const EncodeParams& params) { return std::make_unique<Encode>(params); }

}  // namespace pixelmill
