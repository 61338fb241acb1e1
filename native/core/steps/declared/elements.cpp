// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "elements.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_elements(Declarations& all) {
    all["cast"] = {
        {{"data", one, required}},
        {1, 1},
        [](Arguments& given) { return make_cast({
            .dtype = given.dtype("dtype"),
        }); }};
    all["cast_like"] = {
        {{"data", one, required}, {"like", one, required}},
        {1, 1},
        [](Arguments&) { return make_cast_like({}); }};
    all["normalize"] = {
        {{"image", one, required}, {"mirror", one, optional}, {"mean", one, optional}, {"std", one, optional}, {"scale", one, optional}, {"shift", one, optional}, {"channel_fill", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_normalize({
            .layout = given.text("layout"),
            .out_layout = given.text("out_layout"),
            .dtype = given.dtype("dtype"),
            .pad_channels = given.flag("pad_channels"),
            .name = given.text("name"),
        }); }};
    all["arithmetic"] = {
        {{"operands", many, required}},
        {1, 1},
        [](Arguments& given) { return make_arithmetic({
            .operation = given.text("operation"),
        }); }};
    all["expression"] = {
        {{"operands", many, required}},
        {1, 1},
        [](Arguments& given) { return make_expression({
            .code = given.text("code"),
        }); }};
    all["reduce"] = {
        {{"data", one, required}, {"guide", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_reduce({
            .axes = given.integers("axes"),
            .all = given.flag("all"),
            .like = given.flag("like"),
            .keep_dims = given.flag("keep_dims"),
            .name = given.text("name"),
            .operation = given.text("operation"),
            .dtype = given.optional("dtype", &Arguments::dtype),
            .ddof = given.integer("ddof"),
        }); }};
    all["inverse_deviation"] = {
        {{"data", one, required}, {"mean", one, required}},
        {1, 1},
        [](Arguments& given) { return make_inverse_deviation({
            .axes = given.integers("axes"),
            .all = given.flag("all"),
            .like = given.flag("like"),
            .keep_dims = given.flag("keep_dims"),
            .name = given.text("name"),
            .ddof = given.integer("ddof"),
            .epsilon = given.number("epsilon"),
            .scale = given.number("scale"),
        }); }};
    all["inverse_of"] = {
        {{"stddev", one, required}},
        {1, 1},
        [](Arguments& given) { return make_inverse_of({
            .ddof = given.integer("ddof"),
            .epsilon = given.number("epsilon"),
            .scale = given.number("scale"),
        }); }};
    all["moments"] = {
        {{"data", one, required}},
        {3, 3},
        [](Arguments& given) { return make_moments({
            .axes = given.integers("axes"),
            .all = given.flag("all"),
            .like = given.flag("like"),
            .keep_dims = given.flag("keep_dims"),
            .name = given.text("name"),
        }); }};
    all["full"] = {
        {{"fill_value", one, required}, {"shape", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_full({
            .name = given.text("name"),
            .dtype = given.optional("dtype", &Arguments::dtype),
            .like = given.flag("like"),
            .names = given.optional("names", &Arguments::integer),
        }); }};
    all["one_hot"] = {
        {{"data", one, required}, {"single", one, required}},
        {1, 1},
        [](Arguments& given) { return make_one_hot({
            .classes = given.integer("classes"),
            .axis = given.integer("axis"),
            .dtype = given.dtype("dtype"),
            .on_value = given.number("on_value"),
            .off_value = given.number("off_value"),
            .names = given.optional("names", &Arguments::integer),
        }); }};
    all["look_up"] = {
        {{"data", one, required}, {"table", one, required}},
        {1, 1},
        [](Arguments&) { return make_look_up({}); }};
}

}  // namespace pixelmill
