"""Rotations and other affine warps of pictures and volumes."""

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
    """Check the extents of a result; fractions of a pixel are rounded."""
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
    """Add the warp of `data` along a matrix that maps places of the result to places of `data`."""
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
    """Rotate pictures about their centres; the result is large enough to hold the corners.

    Args:
        data: Pictures, or volumes.
        angle: In degrees; positive turns counter-clockwise.
        axis: The axis x, y, z that volumes turn about.
        size: Height and width of the result (depth before them for volumes).
        keep_size: Give the result the extents of `data`.
        fill_value: What lies outside of `data`; its edge is repeated when left out.
        interp_type: INTERP_LINEAR, or INTERP_NN, which never mixes values and so fits masks.
        dtype: Type of the result, that of `data` when left out.
    """
    volume = "D" in data.layout
    if volume and axis is None:
        raise ArgumentError("rotate: volumes need an axis to turn about, such as axis=(0, 0, 1)")
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
    """Move pictures by an affine matrix: rotate, scale, shear and shift in one pass.

    Args:
        data: Pictures, or volumes.
        transform: The matrix as an input, one for each sample.
        matrix: 2 x 3 numbers in the order x, y (3 x 4 for volumes); places are counted from the first pixel's corner.
        inverse_map: Whether the matrix maps places of the result to places of `data`, or the other way round.
        size: Height and width of the result (depth before them for volumes), those of `data` when left out.
        fill_value: What lies outside of `data`; its edge is repeated when left out.
        interp_type: INTERP_LINEAR, or INTERP_NN, which never mixes values and so fits masks.
        dtype: Type of the result, that of `data` when left out.
    """
    if transform is not None and matrix is not None:
        raise ArgumentError("warp_affine: the matrix is given twice, as an input and as an argument")
    chosen = cast("Tensor | None", transform if transform is not None else matrix)
    if chosen is None:
        raise ArgumentError("warp_affine: matrix is missing; give it as an argument or as the second input")
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
