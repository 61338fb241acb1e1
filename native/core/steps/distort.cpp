// Pictures made worse or bent: the marks of JPEG, a ball, water.
#include <algorithm>

#include "../codecs/jpeg.h"
#include "../codecs/jpeg_writer.h"
#include "../kernels/displace.h"
#include "pictures.h"
#include "steps.h"

namespace pixelmill {

namespace {

// in: x, quality
class JpegDistortion : public Step {
   public:
    explicit JpegDistortion(const Params& params) : layout_(params.text("layout")) {}

    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const Value& x = in[0];
        layout_of(layout_, x.ndim, name);
        require_type(x, {DType::u8}, name);
        if (x.shape[x.ndim - 1] != 3 || x.elements() == 0) {
            throw Fault(FaultKind::argument,
                        std::string(name) + ": pictures with three channels are needed, got " + describe(x));
        }
        const double quality = argument(in[1], std::string(name) + ": quality");
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        const Raster first = picture_at(x, 0);
        const bool direct = first.channel == 1 && (first.pixel == 3 || first.pixel == 4);
        const Value source = direct ? x : packed(context, x);
        for (int64_t i = 0; i < picture_count(x); ++i) {
            through_jpeg(context, picture_at(out[0], i), picture_at(source, i),
                         static_cast<int>(std::clamp(quality, 1.0, 100.0)));
        }
    }

   private:
    static void through_jpeg(Context& context, const Raster& out, const Raster& in, int quality) {
        const auto view = [](const Raster& r) {
            const int64_t pixel = r.width == 1 ? 3 : r.pixel;  // nobody cares how far away a second pixel would be
            return View<uint8_t>{reinterpret_cast<uint8_t*>(r.data), r.height, r.width, 3, r.row, pixel, 1};
        };
        thread_local std::vector<std::byte> file;  // its memory serves picture after picture
        context.thread.jpeg_writer->encode(view(in), quality, ChromaSampling::quarter, file);
        JpegReader& reader = *context.thread.jpeg;
        reader.open(file, context.limits);
        JpegRequest request;
        request.window = {0, 0, out.height, out.width};
        reader.decode(request, view(out));
    }

    static constexpr const char* name = "jpeg_compression_distortion";
    std::string layout_;
};

// in: x, mask
class Displaced : public Step {
   public:
    explicit Displaced(const Params& params)
        : name_(params.text("name")),
          layout_(params.text("layout")),
          linear_(params.integer("interp_type") == 1),
          fill_(static_cast<float>(params.number("fill_value"))) {}

    void run(Context& context, std::span<const Value> in, std::span<Value> out) const override {
        const Value& x = in[0];
        layout_of(layout_, x.ndim, name_);
        require_type(x, {DType::u8, DType::f32}, name_);
        if (x.ndim != 3) throw Fault(FaultKind::argument, name_ + ": single pictures are needed, got " + describe(x));
        if (argument(in[1], name_ + ": mask") == 0) {
            out[0] = x;
            return;
        }
        out[0] = context.allocate(0, x.dtype, shape_of(x));
        if (x.elements() == 0) return;
        const bool together = x.stride[2] == 1 && x.stride[1] > 0;
        displaced(picture_at(out[0], 0), picture_at(together ? x : packed(context, x), 0), context.thread.arena);
    }

   protected:
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
    using Displaced::Displaced;

   protected:
    void displaced(const Raster& out, const Raster& in, Arena& arena) const override {
        apply(out, in, Ball(in.height, in.width), arena);
    }
};

class Water : public Displaced {
   public:
    explicit Water(const Params& params) : Displaced(params), across_(wave(params, "_x")), down_(wave(params, "_y")) {}

   protected:
    void displaced(const Raster& out, const Raster& in, Arena& arena) const override {
        apply(out, in, Ripples(across_, down_, in.width, arena), arena);
    }

   private:
    static Wave wave(const Params& params, const std::string& direction) {
        const auto number = [&](const std::string& key) { return static_cast<float>(params.number(key + direction)); };
        return {number("ampl"), number("freq"), number("phase")};
    }
    Wave across_, down_;
};

}  // namespace

std::unique_ptr<Step> make_jpeg_distortion(const Params& params) { return std::make_unique<JpegDistortion>(params); }
std::unique_ptr<Step> make_sphere(const Params& params) { return std::make_unique<Sphere>(params); }
std::unique_ptr<Step> make_water(const Params& params) { return std::make_unique<Water>(params); }

}  // namespace pixelmill
