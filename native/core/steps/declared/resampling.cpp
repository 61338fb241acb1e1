// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "resampling.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_resampling(Declarations& all) {
    all["resize_geometry"] = {
        {{"shape", one, required}, {"size", one, optional}, {"resize_z", one, optional}, {"resize_y", one, optional}, {"resize_x", one, optional}, {"resize_shorter", one, optional}, {"resize_longer", one, optional}, {"max_size", one, optional}, {"roi_start", one, optional}, {"roi_end", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_resize_geometry({
            .layout = given.text("layout"),
            .mode = given.choice("mode", {"default", "stretch", "not_larger", "not_smaller"}),
            .subpixel_scale = given.flag("subpixel_scale"),
            .roi_relative = given.flag("roi_relative"),
        }); }};
    all["window_geometry"] = {
        {{"start", one, required}, {"extent", one, required}, {"shape", one, required}, {"size", one, required}},
        {1, 1},
        [](Arguments& given) { return make_window_geometry({
            .layout = given.text("layout"),
        }); }};
    all["restrict_geometry"] = {
        {{"geometry", one, required}, {"start", one, required}, {"extent", one, required}},
        {1, 1},
        [](Arguments& given) { return make_restrict_geometry({
            .name = given.text("name"),
        }); }};
    all["project_geometry"] = {
        {{"geometry", one, required}, {"start", one, optional}, {"extent", one, optional}, {"mirror", one, optional}},
        {1, 1},
        [](Arguments&) { return make_project_geometry({}); }};
    all["flip_geometry"] = {
        {{"geometry", one, required}, {"horizontal", one, optional}, {"vertical", one, optional}, {"depthwise", one, optional}},
        {1, 1},
        [](Arguments&) { return make_flip_geometry({}); }};
    all["resample"] = {
        {{"image", one, required}, {"geometry", one, required}, {"mean", one, optional}, {"std", one, optional}, {"scale", one, optional}, {"shift", one, optional}, {"sample_filter_min", one, optional}, {"sample_filter_mag", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_resample({
            .layout = given.text("layout"),
            .filter_min = given.filter("filter_min"),
            .filter_mag = given.filter("filter_mag"),
            .antialias = given.flag("antialias"),
            .dtype = given.optional("dtype", &Arguments::dtype),
            .normalize = given.flag("normalize"),
            .out_layout = given.text("out_layout"),
            .pad_channels = given.flag("pad_channels"),
        }); }};
    all["tensor_geometry"] = {
        {{"shape", one, required}, {"sizes", one, optional}, {"scales", one, optional}, {"alignment", one, optional}, {"roi_start", one, optional}, {"roi_end", one, optional}, {"max_size", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_tensor_geometry({
            .axes = given.integers("axes"),
            .mode = given.choice("mode", {"default", "stretch", "not_larger", "not_smaller"}),
            .rounding = given.choice("rounding", {"round", "truncate", "ceil"}),
            .subpixel_scale = given.flag("subpixel_scale"),
            .roi_relative = given.flag("roi_relative"),
        }); }};
    all["tensor_image"] = {
        {{"data", one, required}, {"geometry", one, required}},
        {2, 2},
        [](Arguments& given) { return make_tensor_image({
            .spatial = given.integer("spatial"),
        }); }};
    all["tensor_back"] = {
        {{"image", one, required}, {"geometry", one, required}},
        {1, 1},
        [](Arguments&) { return make_tensor_back({}); }};
}

}  // namespace pixelmill
