// Distortions of images: artifacts of JPEG and WebP, sphere and water.
#include <algorithm>

#include "../codecs/external_webp.h"
#include "../codecs/jpeg.h"
#include "../codecs/jpeg_writer.h"
#include "../kernels/displace.h"
#include "../platform/per_thread.h"
#include "declared/codecs.h"
#include "declared/pixels.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

// Images that are encoded and decoded again.
class Recompressed : public Step {
   protected:
    Recompressed(std::string name, std::string layout) : name_(std::move(name)), layout_(std::move(layout)) {}

    void distort(Context& context, const Value& x, const Value& quality, std::span<Value> out) const {
        layout_of(layout_, x.ndim, name_);
        require_type(x, {DType::u8}, name_);
        if (x.shape[x.ndim - 1] != 3 || x.elements() == 0) {
            throw Fault(FaultKind::argument, name_ + ": expected images with three channels, got " + describe(x));
        }
        const double number = std::clamp(argument(quality, name_ + ": quality"), 1.0, 100.0);
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        const Value source = takes(image_at(x, 0)) ? x : packed(context, x);
        for (int64_t i = 0; i < image_count(x); ++i) {
            recompress(context, image_at(out[0], i), image_at(source, i), static_cast<int>(number));
        }
    }

    // Whether images with these strides need not be packed.
    virtual bool takes(const Raster& image) const = 0;
    virtual void recompress(Context& context, const Raster& out, const Raster& in, int quality) const = 0;

   private:
    std::string name_, layout_;
};

class JpegDistortion : public Recompressed {
   public:
    explicit JpegDistortion(const JpegDistortionParams& params)
        : Recompressed("jpeg_compression_distortion", params.layout) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const JpegDistortionInputs in(values);
        distort(context, in.image, in.quality, out);
    }

   protected:
    bool takes(const Raster& image) const override {
        return image.channel == 1 && (image.pixel == 3 || image.pixel == 4);
    }

    void recompress(Context& context, const Raster& out, const Raster& in, int quality) const override {
        const auto view = [](const Raster& r) {
            const int64_t pixel = r.width == 1 ? 3 : r.pixel;  // the stride of a single column does not matter
            return View<uint8_t>{reinterpret_cast<uint8_t*>(r.data), r.height, r.width, 3, r.row, pixel, 1};
        };
        PER_THREAD(std::vector<std::byte>, file);  // its memory serves image after image
        context.thread.jpeg_writer().encode(view(in), quality, ChromaSampling::quarter, file);
        JpegReader& reader = context.thread.jpeg_reader();
        reader.open(file, context.limits);
        JpegRequest request;
        request.window = {0, 0, out.height, out.width};
        reader.decode(request, view(out));
    }
};

class WebpDistortion : public Recompressed {
   public:
    explicit WebpDistortion(const WebpDistortionParams& params)
        : Recompressed("webp_compression_distortion", params.layout) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const WebpDistortionInputs in(values);
        distort(context, in.image, in.quality, out);
    }

   protected:
    bool takes(const Raster&) const override { return false; }

    void recompress(Context&, const Raster& out, const Raster& in, int quality) const override {
        const WebpPixels pixels{reinterpret_cast<const uint8_t*>(in.data), in.height, in.width};
        through_webp(reinterpret_cast<uint8_t*>(out.data), pixels, quality);
    }
};

class Displaced : public Step {
   public:
    template <class Params>
    Displaced(std::string name, const Params& params)
        : name_(std::move(name)),
          layout_(params.layout),
          linear_(params.interp_type == Filter::linear),
          fill_(static_cast<float>(params.fill_value)) {}

   protected:
    void distort(Context& context, const Value& x, const Value& mask, std::span<Value> out) const {
        layout_of(layout_, x.ndim, name_);
        require_type(x, {DType::u8, DType::f32}, name_);
        if (x.ndim != 3) throw Fault(FaultKind::argument, name_ + ": expected a single image, got " + describe(x));
        if (argument(mask, name_ + ": mask") == 0) {
            out[0] = x;
            return;
        }
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        if (x.elements() == 0) return;
        const bool together = x.stride[2] == 1 && x.stride[1] > 0;
        displaced(image_at(out[0], 0), image_at(together ? x : packed(context, x), 0), context.thread.arena);
    }

    virtual void displaced(const Raster& out, const Raster& in, Arena& arena) const = 0;
    void apply(const Raster& out, const Raster& in, const Displacement& displacement, Arena& arena) const {
        displace(out, in, displacement, linear_, fill_, arena);
    }

   private:
    std::string name_, layout_;
    bool linear_;
    float fill_;
};

class Sphere : public Displaced {
   public:
    explicit Sphere(const SphereParams& params) : Displaced("sphere", params) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const SphereInputs in(values);
        distort(context, in.image, in.mask, out);
    }

   protected:
    void displaced(const Raster& out, const Raster& in, Arena& arena) const override {
        apply(out, in, Ball(in.height, in.width), arena);
    }
};

class Water : public Displaced {
   public:
    explicit Water(const WaterParams& params)
        : Displaced("water", params),
          across_(wave(params.ampl_x, params.freq_x, params.phase_x)),
          down_(wave(params.ampl_y, params.freq_y, params.phase_y)) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const WaterInputs in(values);
        distort(context, in.image, in.mask, out);
    }

   protected:
    void displaced(const Raster& out, const Raster& in, Arena& arena) const override {
        apply(out, in, Ripples(across_, down_, in.width, arena), arena);
    }

   private:
    static Wave wave(double amplitude, double frequency, double phase) {
        return {static_cast<float>(amplitude), static_cast<float>(frequency), static_cast<float>(phase)};
    }
    Wave across_, down_;
};

}  // namespace

std::unique_ptr<Step> make_jpeg_distortion(const JpegDistortionParams& params) {
    return std::make_unique<JpegDistortion>(params);
}
std::unique_ptr<Step> make_webp_distortion(const WebpDistortionParams& params) {
    return std::make_unique<WebpDistortion>(params);
}
std::unique_ptr<Step> make_sphere(const SphereParams& params) { return std::make_unique<Sphere>(params); }
std::unique_ptr<Step> make_water(const WaterParams& params) { return std::make_unique<Water>(params); }

}  // namespace pixelmill
