// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "boxes.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_boxes(Declarations& all) {
    all["box_flip"] = {
        {{"boxes", one, required}, {"horizontal", one, required}, {"vertical", one, required}},
        {1, 1},
        [](Arguments& given) { return make_box_flip({
            .layout = given.text("layout"),
        }); }};
    all["box_paste"] = {
        {{"boxes", one, required}, {"ratio", one, required}, {"paste_x", one, required}, {"paste_y", one, required}},
        {1, 1},
        [](Arguments& given) { return make_box_paste({
            .ltrb = given.flag("ltrb"),
        }); }};
    all["box_rotate"] = {
        {{"boxes", one, required}, {"labels", one, optional}, {"angle", one, required}, {"input_shape", one, required}, {"size", one, optional}},
        {1, 2},
        [](Arguments& given) { return make_box_rotate({
            .layout = given.text("layout"),
            .normalized = given.flag("normalized"),
            .keep_size = given.flag("keep_size"),
            .mode = given.choice("mode", {"expand", "fixed", "halfway"}),
            .remove_threshold = given.number("remove_threshold"),
            .shape_layout = given.text("shape_layout"),
        }); }};
    all["box_encoder"] = {
        {{"boxes", one, required}, {"labels", one, required}},
        {2, 2},
        [](Arguments& given) { return make_box_encoder({
            .anchors = given.numbers("anchors"),
            .criteria = given.number("criteria"),
            .offset = given.flag("offset"),
            .scale = given.number("scale"),
            .means = given.numbers("means"),
            .stds = given.numbers("stds"),
        }); }};
    all["select_masks"] = {
        {{"mask_ids", one, required}, {"polygons", one, required}, {"vertices", one, required}},
        {2, 2},
        [](Arguments& given) { return make_select_masks({
            .reindex_masks = given.flag("reindex_masks"),
        }); }};
}

}  // namespace pixelmill
