// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "effects.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_effects(Declarations& all) {
    all["levels"] = {
        {{"image", one, required}, {"numbers", many, required}},
        {1, 1},
        [](Arguments& given) { return make_levels({
            .curve = given.choice("curve", {"gamma", "posterize", "solarize", "invert", "tone_curve"}),
        }); }};
    all["color_jitter"] = {
        {{"image", one, required}, {"brightness", one, required}, {"contrast", one, required}, {"saturation", one, required}, {"hue", one, required}, {"order", one, required}},
        {1, 1},
        [](Arguments&) { return make_color_jitter({}); }};
    all["mix_channels"] = {
        {{"image", one, required}, {"numbers", one, required}},
        {1, 1},
        [](Arguments& given) { return make_mix_channels({
            .mix = given.choice("mix", {"to_gray", "sepia", "channel_shuffle", "channel_dropout", "rgb_shift", "pca_lighting"}),
        }); }};
    all["holes"] = {
        {{"image", one, required}, {"count", one, required}, {"first", one, required}, {"second", one, required}, {"fill_value", one, required}},
        {1, 1},
        [](Arguments& given) { return make_holes({
            .key = given.key("key"),
            .by_area = given.flag("by_area"),
            .name = given.text("name"),
        }); }};
    all["sensor_noise"] = {
        {{"image", one, required}, {"luma", one, required}, {"color", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_sensor_noise({
            .key = given.key("key"),
            .name = given.text("name"),
        }); }};
    all["box_blur"] = {
        {{"image", one, required}, {"size", one, required}},
        {1, 1},
        [](Arguments&) { return make_box_blur({}); }};
    all["filter_kernel"] = {
        {{"numbers", many, required}},
        {1, 1},
        [](Arguments& given) { return make_filter_kernel({
            .shape = given.choice("shape", {"motion", "disk", "sharpen", "emboss"}),
        }); }};
    all["zoom_blur"] = {
        {{"image", one, required}, {"factor", one, required}},
        {1, 1},
        [](Arguments& given) { return make_zoom_blur({
            .samples = given.integer("samples"),
        }); }};
    all["scatter_pixels"] = {
        {{"image", one, required}, {"distance", one, required}},
        {1, 1},
        [](Arguments& given) { return make_scatter_pixels({
            .key = given.key("key"),
        }); }};
    all["fill_superpixels"] = {
        {{"image", one, required}, {"segments", one, required}, {"probability", one, required}},
        {1, 1},
        [](Arguments& given) { return make_fill_superpixels({
            .key = given.key("key"),
        }); }};
    all["weather"] = {
        {{"image", one, required}, {"numbers", many, required}},
        {1, 1},
        [](Arguments& given) { return make_weather({
            .key = given.key("key"),
            .effect = given.choice("effect", {"rain", "snow", "fog", "sun_flare", "shadow", "spatter"}),
        }); }};
}

}  // namespace pixelmill
