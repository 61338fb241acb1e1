// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "shapes.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_shapes(Declarations& all) {
    all["shape"] = {
        {{"data", one, required}},
        {1, 1},
        [](Arguments&) { return make_shape({}); }};
    all["join"] = {
        {{"parts", many, required}},
        {1, 1},
        [](Arguments&) { return make_join({}); }};
    all["scalar"] = {
        {{"number", one, required}},
        {1, 1},
        [](Arguments& given) { return make_scalar({
            .name = given.text("name"),
        }); }};
    all["element"] = {
        {{"vector", one, required}},
        {1, 1},
        [](Arguments& given) { return make_element({
            .index = given.integer("index"),
        }); }};
    all["spatial_shape"] = {
        {{"shape", one, required}},
        {1, 1},
        [](Arguments& given) { return make_spatial_shape({
            .layout = given.text("layout"),
        }); }};
    all["geometry_shape"] = {
        {{"geometry", one, required}, {"shape", one, required}},
        {1, 1},
        [](Arguments& given) { return make_geometry_shape({
            .layout = given.text("layout"),
        }); }};
    all["merge"] = {
        {{"condition", one, required}, {"taken", one, required}, {"otherwise", one, required}},
        {1, 1},
        [](Arguments&) { return make_merge({}); }};
    all["choose"] = {
        {{"number", one, required}, {"choices", many, required}},
        {1, 1},
        [](Arguments&) { return make_choose({}); }};
    all["crop_window"] = {
        {{"shape", one, required}, {"crop_h", one, optional}, {"crop_w", one, optional}, {"crop_d", one, optional}, {"crop_pos_y", one, optional}, {"crop_pos_x", one, optional}, {"crop_pos_z", one, optional}},
        {2, 2},
        [](Arguments& given) { return make_crop_window({
            .layout = given.text("layout"),
            .rounding = given.choice("rounding", {"round", "truncate"}),
        }); }};
    all["slice_window"] = {
        {{"shape", one, required}, {"anchor", one, optional}, {"extent", one, optional}, {"start", one, optional}, {"end", one, optional}, {"rel_start", one, optional}, {"rel_end", one, optional}, {"window_shape", one, optional}, {"rel_shape", one, optional}},
        {2, 2},
        [](Arguments& given) { return make_slice_window({
            .axes = given.integers("axes"),
            .normalized_anchor = given.flag("normalized_anchor"),
            .normalized_shape = given.flag("normalized_shape"),
        }); }};
    all["window"] = {
        {{"data", one, required}, {"start", one, required}, {"extent", one, required}, {"fill_values", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_window({
            .axes = given.integers("axes"),
            .channels = given.integer("channels"),
            .policy = given.choice("policy", {"error", "pad", "trim_to_shape", "clamp", "reflect_1001", "reflect_101", "wrap"}),
            .name = given.text("name"),
        }); }};
    all["flip"] = {
        {{"data", one, required}, {"horizontal", one, optional}, {"vertical", one, optional}, {"depthwise", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_flip({
            .layout = given.text("layout"),
        }); }};
    all["transpose"] = {
        {{"data", one, required}},
        {1, 1},
        [](Arguments& given) { return make_transpose({
            .perm = given.integers("perm"),
        }); }};
    all["pad"] = {
        {{"data", one, required}, {"extents", one, required}, {"align", one, optional}, {"fill_value", one, required}},
        {1, 1},
        [](Arguments& given) { return make_pad({
            .axes = given.integers("axes"),
        }); }};
    all["contiguous"] = {
        {{"data", one, required}},
        {1, 1},
        [](Arguments&) { return make_contiguous({}); }};
    all["subscript"] = {
        {{"data", one, required}, {"bounds", many, optional}},
        {1, 1},
        [](Arguments&) { return make_subscript({}); }};
    all["expand_dims"] = {
        {{"data", one, required}},
        {1, 1},
        [](Arguments& given) { return make_expand_dims({
            .axes = given.integers("axes"),
            .names = given.optional("names", &Arguments::integer),
        }); }};
    all["squeeze"] = {
        {{"data", one, required}},
        {1, 1},
        [](Arguments& given) { return make_squeeze({
            .axes = given.integers("axes"),
        }); }};
    all["reshape"] = {
        {{"data", one, required}, {"shape", one, optional}, {"rel_shape", one, optional}, {"src_dims", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_reshape({
            .name = given.text("name"),
            .dtype = given.optional("dtype", &Arguments::dtype),
            .names = given.optional("names", &Arguments::integer),
        }); }};
    all["concatenate"] = {
        {{"parts", many, required}},
        {1, 1},
        [](Arguments& given) { return make_concatenate({
            .axis = given.integer("axis"),
            .stacks = given.flag("stacks"),
            .name = given.text("name"),
            .names = given.optional("names", &Arguments::integer),
        }); }};
}

}  // namespace pixelmill
