// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "pixels.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_pixels(Declarations& all) {
    all["brightness_contrast"] = {
        {{"image", one, required}, {"brightness", one, optional}, {"brightness_shift", one, optional}, {"contrast", one, optional}, {"contrast_center", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_brightness_contrast({
            .name = given.text("name"),
            .layout = given.text("layout"),
            .dtype = given.optional("dtype", &Arguments::dtype),
        }); }};
    all["color_twist"] = {
        {{"image", one, required}, {"hue", one, optional}, {"saturation", one, optional}, {"hsv_value", one, optional}, {"brightness", one, optional}, {"contrast", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_color_twist({
            .name = given.text("name"),
            .layout = given.text("layout"),
            .dtype = given.optional("dtype", &Arguments::dtype),
        }); }};
    all["color_space"] = {
        {{"image", one, required}},
        {1, 1},
        [](Arguments& given) { return make_color_space({
            .layout = given.text("layout"),
            .source = given.choice("source", {"rgb", "bgr", "gray", "ycbcr"}),
            .target = given.choice("target", {"rgb", "bgr", "gray", "ycbcr"}),
        }); }};
    all["gaussian_blur"] = {
        {{"image", one, required}, {"sigma", one, required}, {"window_size", one, required}},
        {1, 1},
        [](Arguments& given) { return make_gaussian_blur({
            .layout = given.text("layout"),
            .dtype = given.optional("dtype", &Arguments::dtype),
        }); }};
    all["laplacian"] = {
        {{"image", one, required}, {"window_size", one, required}, {"smoothing_size", one, optional}, {"scale", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_laplacian({
            .layout = given.text("layout"),
            .dtype = given.optional("dtype", &Arguments::dtype),
            .normalized = given.flag("normalized"),
        }); }};
    all["filter"] = {
        {{"image", one, required}, {"filter", one, required}, {"fill_value", one, optional}, {"anchor", one, required}},
        {1, 1},
        [](Arguments& given) { return make_filter({
            .layout = given.text("layout"),
            .dtype = given.optional("dtype", &Arguments::dtype),
            .border = given.choice("border", {"reflect_101", "reflect_1001", "clamp", "wrap", "constant"}),
            .valid = given.flag("valid"),
        }); }};
    all["median_blur"] = {
        {{"image", one, required}, {"window_size", one, required}},
        {1, 1},
        [](Arguments& given) { return make_median_blur({
            .layout = given.text("layout"),
        }); }};
    all["equalize"] = {
        {{"image", one, required}},
        {1, 1},
        [](Arguments& given) { return make_equalize({
            .layout = given.text("layout"),
        }); }};
    all["clahe"] = {
        {{"image", one, required}},
        {1, 1},
        [](Arguments& given) { return make_clahe({
            .tiles_x = given.integer("tiles_x"),
            .tiles_y = given.integer("tiles_y"),
            .clip_limit = given.number("clip_limit"),
            .luma_only = given.flag("luma_only"),
        }); }};
    all["sphere"] = {
        {{"image", one, required}, {"mask", one, required}},
        {1, 1},
        [](Arguments& given) { return make_sphere({
            .layout = given.text("layout"),
            .interp_type = given.filter("interp_type"),
            .fill_value = given.number("fill_value"),
        }); }};
    all["water"] = {
        {{"image", one, required}, {"mask", one, required}},
        {1, 1},
        [](Arguments& given) { return make_water({
            .layout = given.text("layout"),
            .interp_type = given.filter("interp_type"),
            .fill_value = given.number("fill_value"),
            .ampl_x = given.number("ampl_x"),
            .freq_x = given.number("freq_x"),
            .phase_x = given.number("phase_x"),
            .ampl_y = given.number("ampl_y"),
            .freq_y = given.number("freq_y"),
            .phase_y = given.number("phase_y"),
        }); }};
    all["paste"] = {
        {{"image", one, required}, {"fill_value", one, required}, {"ratio", one, required}, {"paste_x", one, required}, {"paste_y", one, required}, {"min_canvas_size", one, required}},
        {1, 1},
        [](Arguments&) { return make_paste({}); }};
    all["multi_paste"] = {
        {{"output_size", one, optional}, {"in_anchors", one, optional}, {"in_anchors_rel", one, optional}, {"shapes", one, optional}, {"shapes_rel", one, optional}, {"out_anchors", one, optional}, {"out_anchors_rel", one, optional}, {"images", many, required}},
        {1, 1},
        [](Arguments& given) { return make_multi_paste({
            .dtype = given.optional("dtype", &Arguments::dtype),
        }); }};
    all["erase"] = {
        {{"data", one, required}, {"anchor", one, optional}, {"shape", one, optional}, {"fill_value", one, required}},
        {1, 1},
        [](Arguments& given) { return make_erase({
            .layout = given.text("layout"),
            .axes = given.integers("axes"),
            .normalized_anchor = given.flag("normalized_anchor"),
            .normalized_shape = given.flag("normalized_shape"),
            .centered_anchor = given.flag("centered_anchor"),
        }); }};
    all["grid_mask"] = {
        {{"image", one, required}, {"tile", one, required}, {"ratio", one, required}, {"angle", one, required}, {"shift_x", one, required}, {"shift_y", one, required}},
        {1, 1},
        [](Arguments&) { return make_grid_mask({}); }};
    all["cut_paste"] = {
        {{"image", one, required}, {"other", one, required}, {"fraction", one, required}, {"center", one, required}},
        {2, 2},
        [](Arguments& given) { return make_cut_paste({
            .layout = given.text("layout"),
        }); }};
}

}  // namespace pixelmill
