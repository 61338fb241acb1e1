// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "placement.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_placement(Declarations& all) {
    all["start_placement"] = {
        {{"shape", one, required}},
        {1, 1},
        [](Arguments&) { return make_start_placement({}); }};
    all["move_placement"] = {
        {{"placement", one, required}, {"active", one, optional}, {"numbers", many, required}},
        {2, 2},
        [](Arguments& given) { return make_move_placement({
            .move = given.choice("move", {"resize", "rescale", "letterbox", "pad", "pad_to", "crop", "crop_part", "window", "flip", "rotate90", "transpose", "rotate", "affine", "zoom", "expand", "perspective"}),
        }); }};
    all["placement_shape"] = {
        {{"placement", one, required}},
        {1, 1},
        [](Arguments&) { return make_placement_shape({}); }};
    all["placement_geometry"] = {
        {{"placement", one, required}, {"field", one, optional}},
        {1, 1},
        [](Arguments&) { return make_placement_geometry({}); }};
    all["place"] = {
        {{"image", one, required}, {"placement", one, required}, {"field", one, optional}, {"geometry", one, optional}, {"decoded", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_place({
            .linear = given.flag("linear"),
            .fill_value = given.number("fill_value"),
            .smooth = given.flag("smooth"),
        }); }};
}

}  // namespace pixelmill
