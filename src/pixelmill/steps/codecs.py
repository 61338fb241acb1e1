"""From encoded images to pixels and back."""

from __future__ import annotations

from typing import ClassVar, Literal

from pixelmill.steps.step import Input, Step, declared
from pixelmill.types import INTERP_LINEAR, DALIDataType, DALIInterpType

Color = Literal["rgb", "bgr", "gray", "ycbcr", "any", "index"]
FileFormat = Literal["jpeg", "png", "bmp"]
Subsampling = Literal["4:4:4", "4:2:2", "4:2:0"]


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
    what was decoded is then its second output. `scaling` is how many times the pixels of the output a lower resolution
    must keep along each side, 0 for the full one. Without a `dtype` numbers stay as they are stored.
    """

    output_counts: ClassVar[range] = range(1, 3)

    encoded: Input
    window: Input | None = None
    geometry: Input | None = None
    color: Color
    dtype: DALIDataType | None
    orientation: bool
    padded_pixels: bool = False
    scaling: int = 0
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
    format: FileFormat
    subsampling: Subsampling
    level: int  # of PNG's compression


@declared
class JpegDistortion(Step):
    """Add the artifacts of JPEG compression to images."""

    image: Input
    quality: Input
    layout: str


@declared
class WebpDistortion(Step):
    """Add the artifacts of WebP compression to images."""

    image: Input
    quality: Input
    layout: str
