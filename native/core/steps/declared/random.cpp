// Written by scripts/write_api.py from src/pixelmill/steps; `make api` writes it again.
// clang-format off
#include "random.h"

#include "../../declaration.h"

namespace pixelmill {

void declare_random(Declarations& all) {
    all["uniform"] = {
        {{"range", one, required}, {"choices", one, optional}, {"shape", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_uniform({
            .key = given.key("key"),
            .wide = given.flag("wide"),
        }); }};
    all["normal"] = {
        {{"mean", one, required}, {"stddev", one, required}, {"shape", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_normal({
            .key = given.key("key"),
        }); }};
    all["coin_flip"] = {
        {{"probability", one, required}, {"shape", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_coin_flip({
            .key = given.key("key"),
        }); }};
    all["choice"] = {
        {{"choices", one, required}, {"weights", one, optional}, {"shape", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_choice({
            .key = given.key("key"),
        }); }};
    all["beta"] = {
        {{"alpha", one, required}, {"beta", one, required}, {"shape", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_beta({
            .key = given.key("key"),
            .wide = given.flag("wide"),
        }); }};
    all["random_window"] = {
        {{"shape", one, required}},
        {2, 2},
        [](Arguments& given) { return make_random_window({
            .key = given.key("key"),
            .area = given.numbers("area"),
            .ratio = given.numbers("ratio"),
            .attempts = given.integer("attempts"),
            .layout = given.text("layout"),
        }); }};
    all["random_box_crop"] = {
        {{"boxes", one, required}, {"labels", one, optional}, {"crop_shape", one, optional}, {"input_shape", one, optional}},
        {3, 5},
        [](Arguments& given) { return make_random_box_crop({
            .key = given.key("key"),
            .layout = given.text("layout"),
            .shape_layout = given.text("shape_layout"),
            .thresholds = given.numbers("thresholds"),
            .aspect_ratio = given.numbers("aspect_ratio"),
            .scaling = given.numbers("scaling"),
            .prune_threshold = given.optional("prune_threshold", &Arguments::number),
            .attempts = given.integer("attempts"),
            .total_attempts = given.integer("total_attempts"),
            .overlap = given.flag("overlap"),
            .every_box = given.flag("every_box"),
            .allow_no_crop = given.flag("allow_no_crop"),
            .output_indices = given.flag("output_indices"),
        }); }};
    all["region_crop"] = {
        {{"crop_shape", one, required}, {"roi_start", one, required}, {"roi_end", one, optional}, {"roi_shape", one, optional}, {"in_shape", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_region_crop({
            .key = given.key("key"),
        }); }};
    all["random_object"] = {
        {{"mask", one, required}, {"foreground_prob", one, required}, {"background", one, optional}, {"classes", one, optional}, {"class_weights", one, optional}, {"threshold", one, optional}},
        {1, 3},
        [](Arguments& given) { return make_random_object({
            .key = given.key("key"),
            .format = given.choice("format", {"anchor_shape", "start_end", "box"}),
            .k_largest = given.integer("k_largest"),
            .ignore_class = given.flag("ignore_class"),
            .output_class = given.flag("output_class"),
        }); }};
    all["random_pixel"] = {
        {{"mask", one, required}, {"foreground", one, required}, {"wanted", one, optional}, {"threshold", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_random_pixel({
            .key = given.key("key"),
        }); }};
    all["gaussian_noise"] = {
        {{"data", one, required}, {"mean", one, required}, {"stddev", one, required}},
        {1, 1},
        [](Arguments& given) { return make_gaussian_noise({
            .key = given.key("key"),
        }); }};
    all["salt_and_pepper"] = {
        {{"data", one, required}, {"prob", one, required}, {"salt_vs_pepper", one, required}, {"salt_val", one, optional}, {"pepper_val", one, optional}},
        {1, 1},
        [](Arguments& given) { return make_salt_and_pepper({
            .key = given.key("key"),
            .channel = given.integer("channel"),
        }); }};
    all["shot_noise"] = {
        {{"data", one, required}, {"factor", one, required}},
        {1, 1},
        [](Arguments& given) { return make_shot_noise({
            .key = given.key("key"),
        }); }};
}

}  // namespace pixelmill
