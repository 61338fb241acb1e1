#include "maker.h"

#include "../codecs/png_writer.h"
#include "../platform/per_thread.h"
#include "exact_size.h"
#include "scalars.h"
#include "streams.h"

namespace pixelmill {

namespace {

// What a thread keeps from image to image.
struct Workspace {
    Arena arena;
    std::vector<uint8_t> pixels, labels, colors, alpha;
    FileWriter writer;
};

Workspace& workspace() {
    PER_THREAD(Workspace, space);
    return space;
}

View<uint8_t> packed(std::vector<uint8_t>& memory, int64_t height, int64_t width, int64_t channels) {
    memory.resize(static_cast<size_t>(height * width * channels));
    return {memory.data(), height, width, channels, width * channels, channels, 1};
}

// Which image `index` repeats: itself, or with a probability of 1 - 1 / ratio an earlier one of the same class.
uint64_t source_of(const Recipe& recipe, uint64_t index) {
    const auto classes = static_cast<uint64_t>(recipe.shapes.classes);
    while (recipe.dedup_ratio > 1 && index >= classes) {
        Stream stream(operator_key(recipe.seed, 0x6465647570), {0, index, 0});  // "dedup"
        if (stream.unit() >= 1 - 1 / recipe.dedup_ratio) break;
        index = index % classes + classes * static_cast<uint64_t>(stream.below(static_cast<int64_t>(index / classes)));
    }
    return index;
}

int64_t varied_side(Stream& stream, int64_t mean, double spread) {
    if (spread == 0) return mean;
    const double side = varied(stream, static_cast<double>(mean) * exponential(-spread * spread / 2), spread);
    return std::max<int64_t>(static_cast<int64_t>(side + 0.5), 1);
}

}  // namespace

std::optional<Content> content_named(std::string_view name) {
    if (name == "noise") return Content::noise;
    if (name == "photo") return Content::photo;
    if (name == "shapes") return Content::shapes;
    if (name == "gradient") return Content::gradient;
    return std::nullopt;
}

std::optional<FileFormat> file_format_named(std::string_view name) {
    if (name == "jpg") return FileFormat::jpg;
    if (name == "png") return FileFormat::png;
    if (name == "bmp") return FileFormat::bmp;
    return std::nullopt;
}

Plan Maker::plan(uint64_t index) const {
    Plan plan;
    plan.source = source_of(recipe, index);
    plan.label = static_cast<int64_t>(index % static_cast<uint64_t>(recipe.shapes.classes));
    Stream stream(operator_key(recipe.seed, 0x706C616E), {0, plan.source, 0});  // "plan"
    plan.height = varied_side(stream, recipe.height, recipe.spread);
    plan.width = varied_side(stream, recipe.width, recipe.spread);
    plan.quality =
        recipe.lowest_quality + static_cast<int>(stream.below(recipe.highest_quality - recipe.lowest_quality + 1));
    plan.full_color = happens(stream, recipe.full_color);
    plan.bytes = recipe.bytes == 0 ? 0 : varied_side(stream, recipe.bytes, recipe.bytes_spread);
    return plan;
}

std::vector<ObjectBox> Maker::draw(const Plan& plan, View<uint8_t> image, View<uint8_t> mask) const {
    if (!recipe.alpha) return draw_colors(plan, image, mask);
    const View<uint8_t> colors = packed(workspace().colors, plan.height, plan.width, 3);
    std::vector<ObjectBox> boxes = draw_colors(plan, colors, mask);
    add_alpha(plan, image, colors);
    return boxes;
}

// Transparency has numbers of its own, so that the colors are those of the image without it: noise for noise, soft
// transitions for everything else.
void Maker::add_alpha(const Plan& plan, View<uint8_t> image, View<const uint8_t> colors) const {
    const View<uint8_t> alpha = packed(workspace().alpha, plan.height, plan.width, 3);
    const ImageId id{operator_key(recipe.seed, 0x616C706861), plan.source};  // "alpha"
    if (recipe.content == Content::noise) {
        draw_noise(alpha, id);
    } else {
        draw_gradient(alpha, id);
    }
    for (int64_t i = 0; i < plan.height * plan.width; ++i) {
        uint8_t* const pixel = image.data + 4 * i;
        for (int64_t c = 0; c < 3; ++c) pixel[c] = colors.data[3 * i + c];
        pixel[3] = alpha.data[3 * i];
    }
}

std::vector<ObjectBox> Maker::draw_colors(const Plan& plan, View<uint8_t> image, View<uint8_t> mask) const {
    Arena& arena = workspace().arena;
    arena.reset();
    const ImageId id{recipe.seed, plan.source};
    switch (recipe.content) {
        case Content::noise: draw_noise(image, id); break;
        case Content::gradient: draw_gradient(image, id); break;
        case Content::photo: draw_photo(image, id, arena); break;
        case Content::shapes: return draw_shapes(image, mask, id, plan.label, recipe.shapes, arena);
    }
    return {};
}

void Maker::make(const Plan& plan, Made& out) const {
    Workspace& space = workspace();
    out.label = plan.label;
    out.height = plan.height;
    out.width = plan.width;
    if (recipe.content == Content::noise && recipe.format == FileFormat::jpg && plan.bytes == 0) {
        out.boxes.clear();
        space.writer.write_noise(recipe, plan, packed(space.pixels, JpegRows::at_once, plan.width, 3), out.file);
        return;
    }
    const View<uint8_t> image = packed(space.pixels, plan.height, plan.width, channels());
    const View<uint8_t> mask = recipe.masks ? packed(space.labels, plan.height, plan.width, 1) : View<uint8_t>{};
    out.boxes = draw(plan, image, mask);
    space.writer.write(recipe, plan, image, out.file);
    out.mask.clear();
    if (recipe.masks) encode_png(mask, PngFormat{}, out.mask);
}

}  // namespace pixelmill
