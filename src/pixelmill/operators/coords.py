"""Points, given as rows of coordinates."""

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
    """Move points by a matrix and a shift: `M * point + T`.

    Args:
        points: Rows of coordinates.
        M: The matrix, row by row; one number stands for that number on the diagonal. Nothing changes when left out.
        T: The shift; one number stands for all.
        MT: Matrix and shift as one table, the shift in its last column.
        dtype: Type of the result.
    """
    if MT is not None and (M is not None or T is not None):
        raise ArgumentError("coord_transform: MT already says what M and T would say")
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
    """Mirror points, as `flip` mirrors the picture that they lie in.

    Args:
        points: Rows of coordinates.
        flip_x: Swap left and right.
        flip_y: Swap top and bottom.
        flip_z: Swap front and back.
        center_x: The middle of the picture along x.
        center_y: The middle along y.
        center_z: The middle along z.
        layout: The order of the coordinates; `"xy"` for two of them when left out.
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
