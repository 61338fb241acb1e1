"""From pixels to the bytes of a file."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.operators.colour import check_layout
from pixelmill.operators.declare import PerSample, Tensor, operator
from pixelmill.steps.codecs import Encode

SUBSAMPLINGS = ("4:4:4", "4:2:2", "4:2:0")
FORMATS = ("jpeg", "png")
PNG_LEVEL = 4  # of zlib: most of the size for a fraction of the time


@operator("encoders.image", dali=None)
def image(
    data: Tensor,
    *,
    format: str = "jpeg",
    quality: PerSample[int] = 90,
    subsampling: str = "4:2:0",
) -> Tensor:
    """Write pictures as files in memory: uint8 with one axis, each as long as its file.

    Args:
        data: Pictures of type uint8, gray or in red, green and blue; PNG also holds alpha, and uint16.
        format: `"jpeg"` or `"png"`.
        quality: Of JPEG, from 1, the worst, to 100; what is outside is taken for the nearest.
        subsampling: How much of the colours JPEG keeps: `"4:4:4"` all, `"4:2:2"` half, `"4:2:0"` a quarter.
    """
    check_layout("encoders.image", data.layout, ("HWC",))
    if format not in FORMATS:
        raise ArgumentError(f"encoders.image: format must be one of {', '.join(FORMATS)}, got {format!r}")
    if subsampling not in SUBSAMPLINGS:
        raise ArgumentError(
            f"encoders.image: subsampling must be one of {', '.join(SUBSAMPLINGS)}, got {subsampling!r}"
        )
    return Encode(image=data, quality=quality, format=format, subsampling=subsampling, level=PNG_LEVEL).value("")
