"""Image encoders: from pixels to the bytes of a file."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.operators.color import check_layout
from pixelmill.operators.declare import PerSample, Tensor, operator
from pixelmill.steps.codecs import Encode

SUBSAMPLINGS = ("4:4:4", "4:2:2", "4:2:0")
FORMATS = ("jpeg", "png")
PNG_LEVEL = 4  # zlib level: most of the compression for a fraction of the time


@operator("encoders.image", dali=None)
def image(
    data: Tensor,
    *,
    format: str = "jpeg",
    quality: PerSample[int] = 90,
    subsampling: str = "4:2:0",
) -> Tensor:
    """Encode images as JPEG or PNG; returns the bytes of each file as a uint8 vector.

    Args:
        data: Images of type uint8, grayscale or RGB; for PNG also with alpha, and uint16.
        format: `"jpeg"` or `"png"`.
        quality: JPEG quality, from 1 (worst) to 100; other values are clamped.
        subsampling: JPEG chroma subsampling: `"4:4:4"` (none), `"4:2:2"` or `"4:2:0"`.
    """
    check_layout("encoders.image", data.layout, ("HWC",))
    if format not in FORMATS:
        raise ArgumentError(f"encoders.image: format must be one of {', '.join(FORMATS)}, got {format!r}")
    if subsampling not in SUBSAMPLINGS:
        raise ArgumentError(
            f"encoders.image: subsampling must be one of {', '.join(SUBSAMPLINGS)}, got {subsampling!r}"
        )
    return Encode(image=data, quality=quality, format=format, subsampling=subsampling, level=PNG_LEVEL).value("")
