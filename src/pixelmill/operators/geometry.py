"""Rotation and affine warps of images and volumes."""

from __future__ import annotations

from typing import cast

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.operators.crop import image_layout
from pixelmill.operators.dali import CLOSE
from pixelmill.operators.declare import Floats, PerSample, Tensor, operator
from pixelmill.steps.shapes import Shape
from pixelmill.steps.sources import constant, constant_numbers
from pixelmill.steps.warping import InverseMap, RotationMap, Warp
from pixelmill.types import INTERP_LINEAR, INTERP_NN, DALIDataType, DALIInterpType


def warped_size(name: str, size: Tensor | None) -> Tensor | None:
    """Check the output size; fractions of a pixel are rounded."""
    numbers = constant_numbers(size)
    if numbers is None:
        return size
    if len(numbers) not in (2, 3) or any(not number > 0 for number in numbers):
        raise ArgumentError(f"{name}: size must be two positive numbers (height, width), got {tuple(numbers)}")
    return constant([max(1, int(number + 0.5)) for number in numbers], np.int64)


def warp(
    name: str,
    data: Tensor,
    matrix: Tensor,
    size: Tensor | None,
    *,
    interp_type: DALIInterpType,
    fill_value: float | None,
    dtype: DALIDataType | None,
) -> Tensor:
    """Add the warp of `data` by a matrix that maps output coordinates to input coordinates."""
    if interp_type not in (INTERP_NN, INTERP_LINEAR):
        raise ArgumentError(f"{name}: interp_type must be INTERP_NN or INTERP_LINEAR, got {interp_type.name}")
    layout = image_layout(data.layout)
    return Warp(
        image=data,
        matrix=matrix,
        size=size,
        fill_value=None if fill_value is None else constant(fill_value, np.float64),
        layout=data.layout,
        name=name,
        dtype=dtype,
        linear=interp_type == INTERP_LINEAR,
    ).value(layout)


@operator("rotate", tolerance=CLOSE, renamed={"output_dtype": "dtype"})
def rotate(
    data: Tensor,
    *,
    angle: PerSample[float],
    axis: PerSample[Floats] | None = None,
    size: PerSample[Floats] | None = None,
    keep_size: bool = False,
    fill_value: float | None = None,
    interp_type: DALIInterpType = INTERP_LINEAR,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Rotate images about their center; by default the result is large enough to hold all corners.

    Args:
        data: Images or volumes.
        angle: Rotation angle in degrees; positive angles rotate counterclockwise.
        axis: The rotation axis (x, y, z), required for volumes.
        size: Height and width of the result in pixels (preceded by depth for volumes).
        keep_size: Whether the result keeps the size of `data`.
        fill_value: The value used outside `data`; if None, the edge pixels are repeated.
        interp_type: Interpolation: INTERP_LINEAR, or INTERP_NN, which never mixes values and therefore suits masks.
        dtype: Type of the result; that of `data` if None.
    """
    volume = "D" in data.layout
    if volume and axis is None:
        raise ArgumentError("rotate: volumes need a rotation axis, such as axis=(0, 0, 1)")
    numbers = constant_numbers(axis) if volume else None
    if numbers is not None and (len(numbers) != 3 or not any(numbers)):
        raise ArgumentError(f"rotate: axis must be three numbers (x, y, z), not all of them 0, got {tuple(numbers)}")
    shape = Shape(data=data).value()
    extents = warped_size("rotate", size)
    matrix, canvas = RotationMap(
        shape=shape, angle=angle, axis=axis, size=extents, layout=data.layout, keep_size=keep_size
    ).pair()
    return warp("rotate", data, matrix, canvas, interp_type=interp_type, fill_value=fill_value, dtype=dtype)


@operator("warp_affine", tolerance=CLOSE, renamed={"output_dtype": "dtype"})
def warp_affine(
    data: Tensor,
    transform: Tensor | None = None,
    *,
    matrix: PerSample[Floats] | None = None,
    inverse_map: bool = True,
    size: PerSample[Floats] | None = None,
    fill_value: float | None = None,
    interp_type: DALIInterpType = INTERP_LINEAR,
    dtype: DALIDataType | None = None,
) -> Tensor:
    """Apply an affine transform to images: rotation, scaling, shear and translation in one pass.

    Args:
        data: Images or volumes.
        transform: The matrix as an input, one per sample.
        matrix: A 2 x 3 matrix for (x, y), or 3 x 4 for volumes. The origin is the corner of the first pixel.
        inverse_map: Whether the matrix maps output coordinates to input coordinates (the default), or the reverse.
        size: Height and width of the result in pixels (preceded by depth for volumes); those of `data` if None.
        fill_value: The value used outside `data`; if None, the edge pixels are repeated.
        interp_type: Interpolation: INTERP_LINEAR, or INTERP_NN, which never mixes values and therefore suits masks.
        dtype: Type of the result; that of `data` if None.
    """
    if transform is not None and matrix is not None:
        raise ArgumentError("warp_affine: the matrix is specified twice, as an input and as an argument")
    chosen = cast("Tensor | None", transform if transform is not None else matrix)
    if chosen is None:
        raise ArgumentError("warp_affine: matrix is missing; pass it as an argument or as the second input")
    wanted = 12 if "D" in data.layout else 6
    numbers = constant_numbers(chosen)
    if numbers is not None and len(numbers) != wanted:
        raise ArgumentError(f"warp_affine: matrix must be {wanted} numbers, got {len(numbers)}")
    if not inverse_map:
        chosen = InverseMap(matrix=chosen).value()
    return warp(
        "warp_affine",
        data,
        chosen,
        warped_size("warp_affine", size),
        interp_type=interp_type,
        fill_value=fill_value,
        dtype=dtype,
    )
