#include <map>
#include <stdexcept>

#include "steps.h"

namespace pixelmill {

std::unique_ptr<Step> make_step(const std::string& kind, const Params& params) {
    static const std::map<std::string, StepFactory*> factories = {
        {"read", make_read},
        {"column", make_column},
        {"image_shape", make_image_shape},
        {"decode", make_decode},
        {"uniform", make_uniform},
        {"normal", make_normal},
        {"coin_flip", make_coin_flip},
        {"choice", make_choice},
        {"beta", make_beta},
        {"cut_paste", make_cut_paste},
        {"join", make_join},
        {"element", make_element},
        {"spatial_shape", make_spatial_shape},
        {"geometry_shape", make_geometry_shape},
        {"merge", make_merge},
        {"choose", make_choose},
        {"crop_window", make_crop_window},
        {"slice_window", make_slice_window},
        {"random_window", make_random_window},
        {"resize_geometry", make_resize_geometry},
        {"window_geometry", make_window_geometry},
        {"restrict_geometry", make_restrict_geometry},
        {"project_geometry", make_project_geometry},
        {"flip_geometry", make_flip_geometry},
        {"shape", make_shape},
        {"window", make_window},
        {"flip", make_flip},
        {"transpose", make_transpose},
        {"pad", make_pad},
        {"contiguous", make_contiguous},
        {"resample", make_resample},
        {"normalize", make_normalize},
        {"cast", make_cast},
        {"arithmetic", make_arithmetic},
        {"expression", make_expression},
        {"reduce", make_reduce},
        {"subscript", make_subscript},
        {"expand_dims", make_expand_dims},
        {"squeeze", make_squeeze},
        {"reshape", make_reshape},
        {"concatenate", make_concatenate},
        {"full", make_full},
        {"one_hot", make_one_hot},
        {"look_up", make_look_up},
        {"cast_like", make_cast_like},
        {"source_info", make_source_info},
        {"rotation_map", make_rotation_map},
        {"inverse_map", make_inverse_map},
        {"warp", make_warp},
        {"brightness_contrast", make_brightness_contrast},
        {"colour_twist", make_colour_twist},
        {"colour_space", make_colour_space},
        {"gaussian_blur", make_gaussian_blur},
        {"laplacian", make_laplacian},
        {"filter", make_filter},
    };
    const auto found = factories.find(kind);
    if (found == factories.end()) throw std::logic_error("there is no step '" + kind + "'");
    return found->second(params);
}

}  // namespace pixelmill
