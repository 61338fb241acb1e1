// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "codecs.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_codecs(Declarations& all) {
    all["image_shape"] = {
        {{"encoded", one, required}},
        {1, 1},
        [](Arguments& given) { return make_image_shape({
            .color = given.choice("color", {"rgb", "bgr", "gray", "ycbcr", "any", "index"}),
            .orientation = given.flag("orientation"),
        }); }};
    all["decode"] = {
        {{"encoded", one, required}, {"window", one, optional}, {"geometry", one, optional}},
        {1, 2},
        [](Arguments& given) { return make_decode({
            .color = given.choice("color", {"rgb", "bgr", "gray", "ycbcr", "any", "index"}),
            .dtype = given.optional("dtype", &Arguments::dtype),
            .orientation = given.flag("orientation"),
            .padded_pixels = given.flag("padded_pixels"),
            .scaling = given.integer("scaling"),
            .filter_min = given.filter("filter_min"),
            .filter_mag = given.filter("filter_mag"),
            .antialias = given.flag("antialias"),
        }); }};
    all["encode"] = {
        {{"image", one, required}, {"quality", one, required}},
        {1, 1},
        [](Arguments& given) { return make_encode({
            .format = given.choice("format", {"jpeg", "png", "bmp"}),
            .subsampling = given.choice("subsampling", {"4:4:4", "4:2:2", "4:2:0"}),
            .level = given.integer("level"),
        }); }};
    all["jpeg_distortion"] = {
        {{"image", one, required}, {"quality", one, required}},
        {1, 1},
        [](Arguments& given) { return make_jpeg_distortion({
            .layout = given.text("layout"),
        }); }};
    all["webp_distortion"] = {
        {{"image", one, required}, {"quality", one, required}},
        {1, 1},
        [](Arguments& given) { return make_webp_distortion({
            .layout = given.text("layout"),
        }); }};
}

}  // namespace pixelmill
