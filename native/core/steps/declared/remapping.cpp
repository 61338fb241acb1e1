// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "remapping.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_remapping(Declarations& all) {
    all["warp_perspective"] = {
        {{"image", one, required}, {"matrix", one, required}, {"size", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_warp_perspective({
            .layout = given.text("layout"),
            .interp_type = given.filter("interp_type"),
            .border = given.choice("border", {"reflect_101", "reflect_1001", "clamp", "wrap", "constant"}),
            .fill_value = given.numbers("fill_value"),
            .inverse = given.flag("inverse"),
            .centered = given.flag("centered"),
        }); }};
    all["remap"] = {
        {{"image", one, required}, {"map_x", one, required}, {"map_y", one, required}},
        {1, 1},
        [](Arguments& given) { return make_remap({
            .layout = given.text("layout"),
            .interp_type = given.filter("interp_type"),
            .centered = given.flag("centered"),
        }); }};
    all["dilate"] = {
        {{"image", one, required}, {"mask_size", one, required}, {"anchor", one, required}},
        {1, 1},
        [](Arguments& given) { return make_dilate({
            .layout = given.text("layout"),
            .iterations = given.integer("iterations"),
            .border = given.choice("border", {"reflect_101", "reflect_1001", "clamp", "wrap", "constant"}),
        }); }};
    all["erode"] = {
        {{"image", one, required}, {"mask_size", one, required}, {"anchor", one, required}},
        {1, 1},
        [](Arguments& given) { return make_erode({
            .layout = given.text("layout"),
            .iterations = given.integer("iterations"),
            .border = given.choice("border", {"reflect_101", "reflect_1001", "clamp", "wrap", "constant"}),
        }); }};
    all["rearrange_frames"] = {
        {{"data", one, required}, {"new_order", one, required}},
        {1, 1},
        [](Arguments&) { return make_rearrange_frames({}); }};
}

}  // namespace pixelmill
