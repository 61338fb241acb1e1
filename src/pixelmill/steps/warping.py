"""Affine maps: of images, of points, and as values."""

from __future__ import annotations

from typing import ClassVar

from pixelmill.steps.step import Input, Step, declared, family
from pixelmill.types import DALIDataType


@declared
class RotationMap(Step):
    """Return the map from the result of a rotation to its source, and the extents of the result."""

    output_counts: ClassVar[range] = range(2, 3)

    shape: Input
    angle: Input
    axis: Input | None = None
    size: Input | None = None
    layout: str
    keep_size: bool


@declared
class InverseMap(Step):
    """Invert an affine map."""

    matrix: Input


@declared
class WarpBox(Step):
    """Return start and extents of the part of a source that a window of a warp's result is interpolated from."""

    output_counts: ClassVar[range] = range(2, 3)

    matrix: Input
    shape: Input
    window: Input


@declared
class Warp(Step):
    """Warp an image by the map from the result to the source.

    `window` narrows the result, and `window_name` is the operator that requested it. If `image` is only a part of a
    source of the shape `source_shape`, `part_start` is the place of that part.
    """

    image: Input
    matrix: Input
    size: Input | None = None
    fill_value: Input | None = None
    window: Input | None = None
    part_start: Input | None = None
    source_shape: Input | None = None
    layout: str
    name: str
    dtype: DALIDataType | None
    linear: bool
    window_name: str = ""


@family
class TransformStep(Step):
    """A transform matrix, which is combined with `matrix` if that is given."""

    matrix: Input | None = None
    reverse_order: bool


@declared
class Translation(TransformStep):
    """Return the matrix of a translation."""

    offset: Input


@declared
class Scaling(TransformStep):
    """Return the matrix of a scaling; `ndim` is the number of axes, 0 to take it from the factors."""

    scale: Input
    center: Input | None = None
    ndim: int


@declared
class Rotation(TransformStep):
    """Return the matrix of a rotation."""

    angle: Input
    axis: Input | None = None
    center: Input | None = None


@declared
class Shear(TransformStep):
    """Return the matrix of a shear."""

    shear: Input | None = None
    angles: Input | None = None
    center: Input | None = None


@declared
class CropTransform(TransformStep):
    """Return the matrix that maps one window to another."""

    from_start: Input
    from_end: Input
    to_start: Input
    to_end: Input
    absolute: bool


@declared
class Combine(Step):
    """Multiply matrices."""

    matrices: tuple[Input, ...]
    reverse_order: bool


@declared
class CoordTransform(Step):
    """Transform points by a matrix and an offset; `fused` is whether the last column of the matrix is the offset."""

    points: Input
    matrix: Input | None = None
    offset: Input | None = None
    dtype: DALIDataType
    fused: bool


@declared
class CoordFlip(Step):
    """Mirror points."""

    points: Input
    flip_x: Input
    flip_y: Input
    flip_z: Input
    center_x: Input
    center_y: Input
    center_z: Input
    layout: str
