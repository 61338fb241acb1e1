// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "warping.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_warping(Declarations& all) {
    all["rotation_map"] = {
        {{"shape", one, required}, {"angle", one, required}, {"axis", one, optional}, {"size", one, optional}},
        {2, 2},
        [](Arguments& given) { return make_rotation_map({
            .layout = given.text("layout"),
            .keep_size = given.flag("keep_size"),
        }); }};
    all["inverse_map"] = {
        {{"matrix", one, required}},
        {1, 1},
        [](Arguments&) { return make_inverse_map({}); }};
    all["warp_box"] = {
        {{"matrix", one, required}, {"shape", one, required}, {"window", one, required}},
        {2, 2},
        [](Arguments&) { return make_warp_box({}); }};
    all["warp"] = {
        {{"image", one, required}, {"matrix", one, required}, {"size", one, optional}, {"fill_value", one, optional}, {"window", one, optional}, {"part_start", one, optional}, {"source_shape", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_warp({
            .layout = given.text("layout"),
            .name = given.text("name"),
            .dtype = given.optional("dtype", &Arguments::dtype),
            .linear = given.flag("linear"),
            .window_name = given.text("window_name"),
        }); }};
    all["translation"] = {
        {{"matrix", one, optional}, {"offset", one, required}},
        {1, 1},
        [](Arguments& given) { return make_translation({
            .reverse_order = given.flag("reverse_order"),
        }); }};
    all["scaling"] = {
        {{"matrix", one, optional}, {"scale", one, required}, {"center", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_scaling({
            .reverse_order = given.flag("reverse_order"),
            .ndim = given.integer("ndim"),
        }); }};
    all["rotation"] = {
        {{"matrix", one, optional}, {"angle", one, required}, {"axis", one, optional}, {"center", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_rotation({
            .reverse_order = given.flag("reverse_order"),
        }); }};
    all["shear"] = {
        {{"matrix", one, optional}, {"shear", one, optional}, {"angles", one, optional}, {"center", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_shear({
            .reverse_order = given.flag("reverse_order"),
        }); }};
    all["crop_transform"] = {
        {{"matrix", one, optional}, {"from_start", one, required}, {"from_end", one, required}, {"to_start", one, required}, {"to_end", one, required}},
        {1, 1},
        [](Arguments& given) { return make_crop_transform({
            .reverse_order = given.flag("reverse_order"),
            .absolute = given.flag("absolute"),
        }); }};
    all["combine"] = {
        {{"matrices", many, required}},
        {1, 1},
        [](Arguments& given) { return make_combine({
            .reverse_order = given.flag("reverse_order"),
        }); }};
    all["coord_transform"] = {
        {{"points", one, required}, {"matrix", one, optional}, {"offset", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_coord_transform({
            .dtype = given.dtype("dtype"),
            .fused = given.flag("fused"),
        }); }};
    all["coord_flip"] = {
        {{"points", one, required}, {"flip_x", one, required}, {"flip_y", one, required}, {"flip_z", one, required}, {"center_x", one, required}, {"center_y", one, required}, {"center_z", one, required}},
        {1, 1},
        [](Arguments& given) { return make_coord_flip({
            .layout = given.text("layout"),
        }); }};
}

}  // namespace pixelmill
