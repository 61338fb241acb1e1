"""The augmentations that the schemes draw from, for uint8 images in HWC or FHWC.

Their magnitude ranges are defaults; change one with `shear_x.augmentation(mag_range=(0, 0.5))`.
"""

from __future__ import annotations

import numpy as np

from pixelmill import fn, types
from pixelmill.auto_aug.core import augmentation
from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import as_node
from pixelmill.graph.nodes import DataNode
from pixelmill.types import Array, DALIInterpType

# Weights of red, green and blue in luma (BT.601), as Pillow uses them.
LUMA = np.array([0.299, 0.587, 0.114], np.float32)
SMOOTH = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13
UNCHANGED = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)


def _warped(data: DataNode, matrix: DataNode, fill_value: float | None, interp_type: DALIInterpType | None) -> DataNode:
    chosen = types.INTERP_LINEAR if interp_type is None else interp_type
    return fn.warp_affine(data, matrix=matrix, fill_value=fill_value, interp_type=chosen, inverse_map=False)


def warp_x_param(magnitude: float) -> Array:
    """Return the parameter for a magnitude along x."""
    return np.array([magnitude, 0], np.float32)


def warp_y_param(magnitude: float) -> Array:
    """Return the parameter for a magnitude along y."""
    return np.array([0, magnitude], np.float32)


def _shear(
    data: DataNode, shear: DataNode, fill_value: float | None = 128, interp_type: DALIInterpType | None = None
) -> DataNode:
    return _warped(data, fn.transforms.shear(shear=shear), fill_value, interp_type)


def _shift(
    data: DataNode, offset: DataNode, fill_value: float | None = 128, interp_type: DALIInterpType | None = None
) -> DataNode:
    return _warped(data, fn.transforms.translation(offset=offset), fill_value, interp_type)


shear_x = augmentation(_shear, mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_x_param, name="shear_x")
shear_y = augmentation(_shear, mag_range=(0, 0.3), randomly_negate=True, mag_to_param=warp_y_param, name="shear_y")


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_x_param)
def translate_x(
    data: DataNode,
    rel_offset: DataNode,
    shape: DataNode,
    fill_value: float | None = 128,
    interp_type: DALIInterpType | None = None,
) -> DataNode:
    """Translate images horizontally by a fraction of their width."""
    return _shift(data, rel_offset * shape[1], fill_value, interp_type)


@augmentation(mag_range=(0.0, 1.0), randomly_negate=True, mag_to_param=warp_y_param)
def translate_y(
    data: DataNode,
    rel_offset: DataNode,
    shape: DataNode,
    fill_value: float | None = 128,
    interp_type: DALIInterpType | None = None,
) -> DataNode:
    """Translate images vertically by a fraction of their height."""
    return _shift(data, rel_offset * shape[0], fill_value, interp_type)


translate_x_no_shape = augmentation(
    _shift, mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_x_param, name="translate_x"
)
translate_y_no_shape = augmentation(
    _shift, mag_range=(0, 250), randomly_negate=True, mag_to_param=warp_y_param, name="translate_y"
)


@augmentation(mag_range=(0, 30), randomly_negate=True)
def rotate(
    data: DataNode,
    angle: DataNode,
    fill_value: float | None = 128,
    interp_type: DALIInterpType | None = None,
    rotate_keep_size: bool = True,
) -> DataNode:
    """Rotate images by an angle in degrees."""
    chosen = types.INTERP_LINEAR if interp_type is None else interp_type
    return fn.rotate(data, angle=angle, fill_value=fill_value, interp_type=chosen, keep_size=rotate_keep_size)


def shift_enhance_range(magnitude: float) -> float:
    """Convert a magnitude to an enhancement factor, which is 1 for no change."""
    return 1 + magnitude


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def brightness(data: DataNode, parameter: DataNode) -> DataNode:
    """Multiply images by a factor."""
    return fn.brightness(data, brightness=parameter)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def contrast(data: DataNode, parameter: DataNode) -> DataNode:
    """Scale the distance of pixels from the mean luma, as Pillow does."""
    means = fn.reductions.mean(data, axis_names="HW", keep_dims=True)
    center = fn.reductions.sum(means * types.Constant(LUMA), axis_names="C", keep_dims=True)
    return fn.cast_like(center + (data - center) * parameter, data)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=shift_enhance_range)
def color(data: DataNode, parameter: DataNode) -> DataNode:
    """Scale the saturation of images."""
    return fn.saturation(data, saturation=parameter)


def sharpness_kernel(magnitude: float) -> Array:
    """Return the filter for a magnitude from -1 (smooth) over 0 (no change) to 1 (sharpen)."""
    return np.asarray(-magnitude * SMOOTH + (1 + magnitude) * UNCHANGED, np.float32)


def sharpness_kernel_shifted(magnitude: float) -> Array:
    """Return the same filter for a magnitude from 0 (smooth) over 1 (no change) to 2 (sharpen)."""
    return sharpness_kernel(magnitude - 1)


@augmentation(mag_range=(0, 0.9), randomly_negate=True, mag_to_param=sharpness_kernel, param_device="auto")
def sharpness(data: DataNode, kernel: DataNode) -> DataNode:
    """Smooth or sharpen images. Unlike in Pillow, the border is filtered too."""
    return fn.filter(data, kernel)


def poster_mask_uint8(magnitude: float) -> Array:
    """Return the mask that keeps the given number of leading bits, at least one."""
    bits = min(max(round(float(magnitude)), 1), 8)
    return np.array(0xFF << (8 - bits) & 0xFF, np.uint8)


@augmentation(mag_range=(0, 4), mag_to_param=poster_mask_uint8, param_device="auto")
def posterize(data: DataNode, mask: DataNode) -> DataNode:
    """Keep only the leading bits of each value."""
    return data & mask


@augmentation(mag_range=(256, 0), param_device="auto")
def solarize(data: DataNode, threshold: DataNode) -> DataNode:
    """Invert values at or above a threshold."""
    below = data < threshold
    return below * data + (below ^ True) * (types.Constant(255, dtype=types.UINT8) - data)


def solarize_add_shift(shift: float) -> Array:
    """Return the value to add to dark pixels; raises ArgumentError if it could overflow."""
    if shift >= 128:
        raise ArgumentError(f"solarize_add: magnitudes must be below 128, got {shift}")
    return np.array(shift).astype(np.uint8)


@augmentation(mag_range=(0, 110), param_device="auto", mag_to_param=solarize_add_shift)
def solarize_add(data: DataNode, shift: DataNode) -> DataNode:
    """Add a value to pixels below 128."""
    dark = data < types.Constant(128, dtype=types.UINT8)
    return dark * (data + shift) + (dark ^ True) * data


@augmentation
def invert(data: DataNode, _: None) -> DataNode:
    """Invert images."""
    return as_node(types.Constant(255, dtype=types.UINT8)) - data


@augmentation
def equalize(data: DataNode, _: None) -> DataNode:
    """Equalize the histogram of each channel."""
    return fn.equalize(data)


@augmentation
def auto_contrast(data: DataNode, _: None) -> DataNode:
    """Stretch the values of each channel to the full range; a channel with a single value is unchanged."""
    low = fn.reductions.min(data, axis_names="HW", keep_dims=True)
    span = fn.reductions.max(data, axis_names="HW", keep_dims=True) - low
    varies = span > 0
    scale = 255 / (span * varies + types.Constant(255, dtype=types.UINT8) * (varies ^ True))
    return fn.cast_like((data - low * varies) * scale, data)


@augmentation
def identity(data: DataNode, _: None) -> DataNode:
    """Return images unchanged."""
    return data
