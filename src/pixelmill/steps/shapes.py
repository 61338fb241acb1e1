"""Shapes and parts of values, most of which are views: only strides change."""

from __future__ import annotations

from typing import ClassVar, Literal

from pixelmill.steps.step import Input, Step, declared
from pixelmill.types import DALIDataType

# What to do with a window that extends beyond its data.
Policy = Literal["error", "pad", "trim_to_shape", "clamp", "reflect_1001", "reflect_101", "wrap"]


@declared
class Shape(Step):
    """Return the extents of a value."""

    data: Input


@declared
class Join(Step):
    """Join short vectors of integers."""

    parts: tuple[Input, ...]


@declared
class Scalar(Step):
    """Check that an argument is one number for each sample."""

    number: Input
    name: str


@declared
class Element(Step):
    """Return one number of a vector."""

    vector: Input
    index: int


@declared
class SpatialShape(Step):
    """Return the spatial extents of a shape."""

    shape: Input
    layout: str


@declared
class GeometryShape(Step):
    """Return the shape that an image has after resampling by a geometry."""

    geometry: Input
    shape: Input
    layout: str


@declared
class Merge(Step):
    """Select one of two values; only that one is computed."""

    condition: Input
    taken: Input
    otherwise: Input


@declared
class Choose(Step):
    """Select one of many values by its number; only that one is computed."""

    number: Input
    choices: tuple[Input, ...]


@declared
class CropWindow(Step):
    """Return start and extent of a window of given extents at a relative position."""

    output_counts: ClassVar[range] = range(2, 3)

    shape: Input
    crop_h: Input | None = None
    crop_w: Input | None = None
    crop_d: Input | None = None
    crop_pos_y: Input | None = None
    crop_pos_x: Input | None = None
    crop_pos_z: Input | None = None
    layout: str
    rounding: Literal["round", "truncate"]


@declared
class SliceWindow(Step):
    """Return start and extent of a window between given edges."""

    output_counts: ClassVar[range] = range(2, 3)

    shape: Input
    anchor: Input | None = None
    extent: Input | None = None
    start: Input | None = None
    end: Input | None = None
    rel_start: Input | None = None
    rel_end: Input | None = None
    window_shape: Input | None = None
    rel_shape: Input | None = None
    axes: tuple[int, ...]
    normalized_anchor: bool
    normalized_shape: bool


@declared
class Window(Step):
    """Take a window along some axes, or all if none are named; `channels` is the channel axis, -1 for the last."""

    data: Input
    start: Input
    extent: Input
    fill_values: Input | None = None
    axes: tuple[int, ...]
    channels: int
    policy: Policy
    name: str


@declared
class Flip(Step):
    """Mirror images along spatial axes."""

    data: Input
    horizontal: Input | None = None
    vertical: Input | None = None
    depthwise: Input | None = None
    layout: str


@declared
class Transpose(Step):
    """Permute axes; without a permutation, reverse them."""

    data: Input
    perm: tuple[int, ...]


@declared
class Pad(Step):
    """Extend values at the high end of some axes."""

    data: Input
    extents: Input
    align: Input | None = None
    fill_value: Input
    axes: tuple[int, ...]


@declared
class Contiguous(Step):
    """Make a value contiguous in memory."""

    data: Input


@declared
class Subscript(Step):
    """Take a part as Python's subscripts do; `bounds` are index, first, end and step of each axis."""

    data: Input
    bounds: tuple[Input | None, ...]


@declared
class ExpandDims(Step):
    """Insert axes of extent 1; `names` is the number of axes that have names."""

    data: Input
    axes: tuple[int, ...]
    names: int | None


@declared
class Squeeze(Step):
    """Remove axes of extent 1."""

    data: Input
    axes: tuple[int, ...]


@declared
class Reshape(Step):
    """Reinterpret the elements in another shape, and optionally as another type."""

    data: Input
    shape: Input | None = None
    rel_shape: Input | None = None
    src_dims: Input | None = None
    name: str
    dtype: DALIDataType | None
    names: int | None


@declared
class Concatenate(Step):
    """Join values along an axis, or stack them along a new one."""

    parts: tuple[Input, ...]
    axis: int
    stacks: bool
    name: str
    names: int | None
