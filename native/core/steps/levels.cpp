// Histogram equalization: equalize, and clahe, which works tile by tile.
#include "../kernels/histogram.h"
#include "../kernels/lab.h"
#include "declared/pixels.h"
#include "filtered_axes.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

View<uint8_t> view_of(const Raster& raster) {
    return {reinterpret_cast<uint8_t*>(raster.data),
            raster.height,
            raster.width,
            raster.channels,
            raster.row,
            raster.pixel,
            raster.channel};
}

class Equalize : public Step {
   public:
    explicit Equalize(const EqualizeParams& params) : layout_(params.layout) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const EqualizeInputs in(values);
        const Value& x = in.image;
        require_type(x, {DType::u8}, "equalize");
        std::string layout = layout_;
        if (layout.empty() && x.ndim == 2) layout = "HW";
        const FilteredAxes axes(x, layout_of(layout, x.ndim, "equalize"), "equalize");
        if (axes.count != 2)
            throw Fault(FaultKind::argument, "equalize: rows and columns are needed, got " + describe(x));
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        if (x.elements() == 0) return;
        const Value source = axes.rows_packed(x) ? x : packed(context, x);
        for (int64_t i = 0; i < axes.images; ++i)
            equalize(view_of(axes.raster(out[0], i)), view_of(axes.raster(source, i)));
    }

   private:
    std::string layout_;
};

class Clahe : public Step {
   public:
    explicit Clahe(const ClaheParams& params)
        : tiles_{params.tiles_y, params.tiles_x, static_cast<float>(params.clip_limit)}, luma_only_(params.luma_only) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const ClaheInputs in(values);
        const Value& x = in.image;
        require_type(x, {DType::u8}, "clahe");
        if (x.ndim != 3 || (x.shape[2] != 1 && x.shape[2] != 3)) {
            throw Fault(FaultKind::argument,
                        "clahe: expected images with one or three channels as the last axis, got " + describe(x));
        }
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        if (x.elements() == 0) return;
        const Value source = packed(context, x);
        if (x.shape[2] == 3 && luma_only_) return lightness(context, out[0], source);
        for (int64_t c = 0; c < x.shape[2]; ++c) {
            View<uint8_t> to = view_of(image_at(out[0], 0)), from = view_of(image_at(source, 0));
            to.data += c;
            from.data += c;
            equalize_tiles(to, from, tiles_, context.thread.arena);
        }
    }

   private:
    // Only the lightness changes, the colors stay.
    void lightness(Context& context, const Value& out, const Value& in) const {
        const int64_t height = in.shape[0], width = in.shape[1], pixels = height * width;
        Arena& arena = context.thread.arena;
        uint8_t* plane[3];
        for (uint8_t*& memory : plane) memory = arena.take<uint8_t>(static_cast<size_t>(pixels));
        to_lab(plane[0], plane[1], plane[2], in.as<uint8_t>(), pixels);
        const View<uint8_t> levels{plane[0], height, width, 1, width, 1, 1};
        equalize_tiles(levels, levels, tiles_, arena);
        from_lab(out.as<uint8_t>(), plane[0], plane[1], plane[2], pixels);
    }

    Tiles tiles_;
    bool luma_only_;
};

}  // namespace

std::unique_ptr<Step> make_equalize(const EqualizeParams& params) { return std::make_unique<Equalize>(params); }
std::unique_ptr<Step> make_clahe(const ClaheParams& params) { return std::make_unique<Clahe>(params); }

}  // namespace pixelmill
