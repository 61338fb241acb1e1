"""From encoded images to pixels and back."""

from __future__ import annotations

from typing import ClassVar, Literal

from pixelmill.steps.step import Input, Step, declared
from pixelmill.types import INTERP_LINEAR, DALIDataType, DALIInterpType

Color = Literal["rgb", "bgr", "gray", "ycbcr", "any"]


@declared
class ImageShape(Step):
    """Read the shape of an image from its header."""

    encoded: Input
    color: Color
    orientation: bool


@declared
class Decode(Step):
    """Decode an image, or a window of it.

    With a geometry, it decodes only what resampling by it reads, perhaps at a lower resolution. The geometry that fits
    what was decoded is then its second output.
    """

    output_counts: ClassVar[range] = range(1, 3)

    encoded: Input
    window: Input | None = None
    geometry: Input | None = None
    color: Color
    dtype: DALIDataType
    orientation: bool
    fast_idct: bool
    padded_pixels: bool = False
    scaling: bool = False
    filter_min: DALIInterpType = INTERP_LINEAR
    filter_mag: DALIInterpType = INTERP_LINEAR
    antialias: bool = True

    @property
    def outputs(self) -> int:
        """One, or two with a geometry."""
        return 1 if self.geometry is None else 2


@declared
class Encode(Step):
    """Encode an image."""

    image: Input
    quality: Input
    format: Literal["jpeg", "png"]
    subsampling: Literal["4:4:4", "4:2:2", "4:2:0"]


@declared
class JpegDistortion(Step):
    """Give images the marks of JPEG compression."""

    image: Input
    quality: Input
    layout: str
