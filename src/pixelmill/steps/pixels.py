"""Pixels of images: colors, filters, effects, and compositions of images."""

from __future__ import annotations

from typing import ClassVar, Literal

from pixelmill.steps.step import Input, Step, declared, family
from pixelmill.types import DALIDataType, DALIInterpType

Space = Literal["rgb", "bgr", "gray", "ycbcr"]
Border = Literal["reflect_101", "reflect_1001", "clamp", "wrap", "constant"]


@declared
class BrightnessContrast(Step):
    """Scale and shift levels."""

    image: Input
    brightness: Input | None = None
    brightness_shift: Input | None = None
    contrast: Input | None = None
    contrast_center: Input | None = None
    name: str
    layout: str
    dtype: DALIDataType | None


@declared
class ColorTwist(Step):
    """Rotate hues, and scale saturation, value, brightness and contrast."""

    image: Input
    hue: Input | None = None
    saturation: Input | None = None
    hsv_value: Input | None = None
    brightness: Input | None = None
    contrast: Input | None = None
    name: str
    layout: str
    dtype: DALIDataType | None


@declared
class ColorSpace(Step):
    """Convert from one color space to another."""

    image: Input
    layout: str
    source: Space
    target: Space


@declared
class GaussianBlur(Step):
    """Blur with a Gaussian along the spatial axes."""

    image: Input
    sigma: Input
    window_size: Input
    layout: str
    dtype: DALIDataType | None


@declared
class Laplacian(Step):
    """Sum the second derivatives along the spatial axes."""

    image: Input
    window_size: Input
    smoothing_size: Input | None = None
    scale: Input | None = None
    layout: str
    dtype: DALIDataType | None
    normalized: bool


@declared
class Filter(Step):
    """Correlate with a filter that is an input."""

    image: Input
    filter: Input
    fill_value: Input | None = None
    anchor: Input
    layout: str
    dtype: DALIDataType | None
    border: Border
    valid: bool


@declared
class MedianBlur(Step):
    """Replace pixels by the median of their neighborhood."""

    image: Input
    window_size: Input
    layout: str


@declared
class Equalize(Step):
    """Equalize the histogram of each channel."""

    image: Input
    layout: str


@declared
class Clahe(Step):
    """Equalize the histogram tile by tile, with limited contrast (CLAHE)."""

    image: Input
    tiles_x: int
    tiles_y: int
    clip_limit: float
    luma_only: bool


@family
class DisplacementStep(Step):
    """A step that displaces pixels if `mask` is not 0."""

    image: Input
    mask: Input
    layout: str
    interp_type: DALIInterpType
    fill_value: float


@declared
class Sphere(DisplacementStep):
    """Distort an image as if on a sphere."""


@declared
class Water(DisplacementStep):
    """Distort an image as if under water."""

    ampl_x: float
    freq_x: float
    phase_x: float
    ampl_y: float
    freq_y: float
    phase_y: float


@declared
class Paste(Step):
    """Paste an image onto a larger canvas."""

    image: Input
    fill_value: Input
    ratio: Input
    paste_x: Input
    paste_y: Input
    min_canvas_size: Input


@declared
class MultiPaste(Step):
    """Paste parts of images onto a canvas; later ones cover earlier ones."""

    output_size: Input | None = None
    in_anchors: Input | None = None
    in_anchors_rel: Input | None = None
    shapes: Input | None = None
    shapes_rel: Input | None = None
    out_anchors: Input | None = None
    out_anchors_rel: Input | None = None
    images: tuple[Input, ...]
    dtype: DALIDataType | None


@declared
class Erase(Step):
    """Fill rectangles."""

    data: Input
    anchor: Input | None = None
    shape: Input | None = None
    fill_value: Input
    layout: str
    axes: tuple[int, ...]
    normalized_anchor: bool
    normalized_shape: bool
    centered_anchor: bool


@declared
class GridMask(Step):
    """Black out the squares of a grid."""

    image: Input
    tile: Input
    ratio: Input
    angle: Input
    shift_x: Input
    shift_y: Input


@declared
class CutPaste(Step):
    """Paste a window of another image into an image; also return the fraction that is unchanged."""

    output_counts: ClassVar[range] = range(2, 3)

    image: Input
    other: Input
    fraction: Input
    center: Input
    layout: str
