"""Resampling. A geometry says which part of an image is resampled to which size; one step resamples by it."""

from __future__ import annotations

from typing import ClassVar, Literal

from pixelmill.steps.step import Input, Step, declared
from pixelmill.types import DALIDataType, DALIInterpType

Mode = Literal["default", "stretch", "not_larger", "not_smaller"]


@declared
class ResizeGeometry(Step):
    """Compute the geometry of a resize."""

    shape: Input
    size: Input | None = None
    resize_z: Input | None = None
    resize_y: Input | None = None
    resize_x: Input | None = None
    resize_shorter: Input | None = None
    resize_longer: Input | None = None
    max_size: Input | None = None
    roi_start: Input | None = None
    roi_end: Input | None = None
    layout: str
    mode: Mode
    subpixel_scale: bool
    roi_relative: bool


@declared
class WindowGeometry(Step):
    """Compute the geometry that resamples a window to a size."""

    start: Input
    extent: Input
    shape: Input
    size: Input
    layout: str


@declared
class RestrictGeometry(Step):
    """Restrict a geometry to a window of its output."""

    geometry: Input
    start: Input
    extent: Input
    name: str


@declared
class ProjectGeometry(Step):
    """Replace the output of a geometry by a window, which may extend beyond it, and mirror the window."""

    geometry: Input
    start: Input | None = None
    extent: Input | None = None
    mirror: Input | None = None


@declared
class FlipGeometry(Step):
    """Mirror the output of a geometry."""

    geometry: Input
    horizontal: Input | None = None
    vertical: Input | None = None
    depthwise: Input | None = None


@declared
class Resample(Step):
    """Resample an image by a geometry, and normalize the result if a normalization was fused into it.

    `sample_filter_min` and `sample_filter_mag` choose filters from sample to sample.
    """

    image: Input
    geometry: Input
    mean: Input | None = None
    std: Input | None = None
    scale: Input | None = None
    shift: Input | None = None
    sample_filter_min: Input | None = None
    sample_filter_mag: Input | None = None
    layout: str
    filter_min: DALIInterpType
    filter_mag: DALIInterpType
    antialias: bool
    dtype: DALIDataType | None
    normalize: bool = False
    out_layout: str = ""
    pad_channels: bool = False


@declared
class TensorGeometry(Step):
    """Compute the geometry of every axis of an array."""

    shape: Input
    sizes: Input | None = None
    scales: Input | None = None
    alignment: Input | None = None
    roi_start: Input | None = None
    roi_end: Input | None = None
    max_size: Input | None = None
    axes: tuple[int, ...]
    mode: Mode
    rounding: Literal["round", "truncate", "ceil"]
    subpixel_scale: bool
    roi_relative: bool


@declared
class TensorImage(Step):
    """Reshape an array to images or volumes; also return the geometry of their axes."""

    output_counts: ClassVar[range] = range(2, 3)

    data: Input
    geometry: Input
    spatial: int


@declared
class TensorBack(Step):
    """Reshape resampled images back to the axes of the array."""

    image: Input
    geometry: Input
