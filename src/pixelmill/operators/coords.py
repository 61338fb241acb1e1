"""Transforms of points, given as rows of coordinates."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import NEARLY
from pixelmill.operators.declare import Floats, PerSample, Tensor, operator
from pixelmill.steps.warping import CoordFlip, CoordTransform
from pixelmill.types import FLOAT, DALIDataType


@operator("coord_transform", tolerance=NEARLY)
def coord_transform(
    points: Tensor,
    *,
    M: PerSample[Floats] | None = None,  # noqa: N803 - DALI's names
    T: PerSample[Floats] | None = None,  # noqa: N803
    MT: PerSample[Floats] | None = None,  # noqa: N803
    dtype: DALIDataType = FLOAT,
) -> Tensor:
    """Apply an affine transform to points: `M * point + T`.

    Args:
        points: Points, one row of coordinates each.
        M: The matrix, row by row; a single number is used for the whole diagonal. The identity if None.
        T: The translation; a single number is used for all coordinates.
        MT: Matrix and translation as one matrix, with the translation in the last column.
        dtype: Type of the result.
    """
    if MT is not None and (M is not None or T is not None):
        raise ArgumentError("coord_transform: MT cannot be combined with M or T")
    matrix = M if MT is None else MT
    fused = MT is not None
    return CoordTransform(points=points, matrix=matrix, offset=T, dtype=dtype, fused=fused).value(points.layout)


@operator("coord_flip", tolerance=NEARLY)
def coord_flip(
    points: Tensor,
    *,
    flip_x: PerSample[int] = 1,
    flip_y: PerSample[int] = 0,
    flip_z: PerSample[int] = 0,
    center_x: PerSample[float] = 0.5,
    center_y: PerSample[float] = 0.5,
    center_z: PerSample[float] = 0.5,
    layout: str = "",
) -> Tensor:
    """Flip points the way `flip` flips the image that they belong to.

    Args:
        points: Points, one row of coordinates each.
        flip_x: Whether to swap left and right.
        flip_y: Whether to swap top and bottom.
        flip_z: Whether to swap front and back.
        center_x: The center of the image along x.
        center_y: The center along y.
        center_z: The center along z.
        layout: The order of the coordinates; `"x"`, `"xy"` or `"xyz"`, by their number, if empty.
    """
    if sorted(layout) != sorted("xyz"[: len(layout)]):
        raise ArgumentError(f"coord_flip: layout must be 'x', 'xy' or 'xyz' in any order, got {layout!r}")
    return CoordFlip(
        points=points,
        flip_x=flip_x,
        flip_y=flip_y,
        flip_z=flip_z,
        center_x=center_x,
        center_y=center_y,
        center_z=center_z,
        layout=layout,
    ).value(points.layout)
