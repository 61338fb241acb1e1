// The factories of all steps; each is defined in the file of its topic.
#pragma once

#include <memory>

#include "../step.h"

namespace pixelmill {

using StepFactory = std::unique_ptr<Step>(const Params&);

// read.cpp
StepFactory make_read, make_column;
// decode.cpp
StepFactory make_image_shape, make_decode;
// random.cpp
StepFactory make_uniform, make_normal, make_coin_flip, make_choice;
// beta.cpp, mixing.cpp
StepFactory make_beta, make_cut_paste;
// vectors.cpp
StepFactory make_join, make_element, make_spatial_shape, make_geometry_shape, make_merge, make_choose;
// geometry.cpp
StepFactory make_crop_window, make_slice_window, make_random_window, make_resize_geometry, make_window_geometry,
    make_restrict_geometry, make_project_geometry, make_flip_geometry;
// views.cpp
StepFactory make_shape, make_window, make_flip, make_transpose, make_pad, make_contiguous;
// resample.cpp, pointwise.cpp
StepFactory make_resample, make_normalize, make_cast;
// warp.cpp
StepFactory make_rotation_map, make_inverse_map, make_warp;
// expression.cpp
StepFactory make_arithmetic, make_expression;
// reductions.cpp
StepFactory make_reduce;
// subscript.cpp
StepFactory make_subscript, make_expand_dims, make_squeeze, make_reshape;
// values.cpp
StepFactory make_concatenate, make_full, make_one_hot, make_look_up, make_cast_like, make_source_info;
// colour.cpp
StepFactory make_brightness_contrast, make_colour_twist, make_colour_space;
// blur.cpp, filter.cpp
StepFactory make_gaussian_blur, make_laplacian, make_filter;

}  // namespace pixelmill
