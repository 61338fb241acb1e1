// The factories of all steps; each is defined in the file of its topic.
#pragma once

#include <memory>

#include "../step.h"

namespace pixelmill {

using StepFactory = std::unique_ptr<Step>(const Params&);

// read_example.cpp
StepFactory make_read_example;
// read.cpp
StepFactory make_read, make_column, make_read_named, make_view_as;
void check_encoded_bytes(const Context& context, int64_t bytes);
// coco.cpp, npy.cpp, recordio.cpp
StepFactory make_label_picture, make_coordinates_of_vertices;
StepFactory make_npy_shape, make_read_npy, make_decode_npy, make_read_recordio;
// decode.cpp
StepFactory make_image_shape, make_decode, make_encode;
// random.cpp
StepFactory make_uniform, make_normal, make_coin_flip, make_choice;
// beta.cpp, mixing.cpp
StepFactory make_beta, make_cut_paste;
// vectors.cpp
StepFactory make_join, make_scalar, make_element, make_spatial_shape, make_geometry_shape, make_merge, make_choose;
// geometry.cpp
StepFactory make_crop_window, make_slice_window, make_random_window, make_resize_geometry, make_window_geometry,
    make_restrict_geometry, make_project_geometry, make_flip_geometry;
// views.cpp
StepFactory make_shape, make_window, make_flip, make_transpose, make_pad, make_contiguous;
// resample.cpp, pointwise.cpp
StepFactory make_resample, make_normalize, make_cast;
// warp.cpp
StepFactory make_rotation_map, make_inverse_map, make_warp, make_warp_box;
// transforms.cpp
StepFactory make_translation, make_scaling, make_rotation, make_shear, make_crop_transform, make_combine;
// coords.cpp, boxes.cpp, box_encoder.cpp, box_crop.cpp
StepFactory make_coord_transform, make_coord_flip, make_box_flip, make_box_paste, make_box_rotate, make_box_encoder,
    make_random_box_crop, make_region_crop;
// paste.cpp, erase.cpp
StepFactory make_paste, make_multi_paste, make_erase, make_grid_mask;
// segmentation.cpp
StepFactory make_random_object, make_random_pixel, make_select_masks;
// tensor_resize.cpp
StepFactory make_tensor_geometry, make_tensor_picture, make_tensor_back;
// expression.cpp
StepFactory make_arithmetic, make_expression;
// reductions.cpp
StepFactory make_reduce, make_inverse_deviation, make_inverse_of, make_moments;
// subscript.cpp
StepFactory make_subscript, make_expand_dims, make_squeeze, make_reshape;
// values.cpp
StepFactory make_concatenate, make_full, make_one_hot, make_look_up, make_cast_like, make_source_info;
// colour.cpp
StepFactory make_brightness_contrast, make_colour_twist, make_colour_space;
// blur.cpp, filter.cpp
StepFactory make_gaussian_blur, make_laplacian, make_filter, make_median_blur;
// levels.cpp, distort.cpp
StepFactory make_equalize, make_clahe, make_jpeg_distortion, make_sphere, make_water;
// noise.cpp
StepFactory make_gaussian_noise, make_salt_and_pepper, make_shot_noise;

}  // namespace pixelmill
