// Segments of similar pixels, some of them filled with their mean color.
#include "../kernels/superpixels.h"

#include "../kernels/draws.h"
#include "../rng.h"
#include "declared/effects.h"
#include "strided_access.h"

namespace pixelmill {

namespace {

class FillSuperpixels : public Step {
   public:
    explicit FillSuperpixels(const FillSuperpixelsParams& params) : key_(params.key) {}

    void run(Context& context, std::span<const Value> values, std::span<Value> out) const override {
        const FillSuperpixelsInputs in(values);
        require_type(in.image, {DType::u8}, "superpixels");
        if (in.image.ndim != 3)
            throw Fault(FaultKind::argument, "superpixels: one image is needed, got " + describe(in.image));
        const double segments = argument(in.segments, "superpixels: segments");
        if (!(segments >= 1 && segments <= 100000))
            throw Fault(FaultKind::argument, "superpixels: segments must be from 1 to 100000");
        const double probability = argument(in.probability, "superpixels: probability");
        if (!(probability >= 0 && probability <= 1))
            throw Fault(FaultKind::argument, "superpixels: probability must be from 0 to 1");
        const Value x = packed(context, in.image);
        out[0] = context.allocate(0, DType::u8, shape_of(x));
        if (x.elements() == 0) return;
        Superpixels found(image_at(x, 0), static_cast<int64_t>(segments), context.thread.arena);
        auto* replaced = context.thread.arena.take<uint8_t>(static_cast<size_t>(found.count()));
        const auto below = static_cast<uint64_t>(probability * 0x1p32);
        for_each_words(stream_id(key_, context.id), found.count(),
                       [&](const uint32_t* words, int64_t first, int64_t count) {
                           for (int64_t i = 0; i < count; ++i) replaced[first + i] = words[i] < below;
                       });
        found.paint(image_at(out[0], 0), replaced);
    }

   private:
    uint64_t key_;
};

}  // namespace

std::unique_ptr<Step> make_fill_superpixels(const FillSuperpixelsParams& params) {
    return std::make_unique<FillSuperpixels>(params);
}

}  // namespace pixelmill
