"""Histogram equalization, artifacts of JPEG and WebP, and the sphere and water distortions."""

from __future__ import annotations

import math
from typing import Annotated

from pixelmill.errors import ArgumentError
from pixelmill.operators.color import check_layout
from pixelmill.operators.crop import image_layout
from pixelmill.operators.dali import CLOSE
from pixelmill.operators.declare import PerSample, Range, Tensor, operator
from pixelmill.steps.codecs import JpegDistortion, WebpDistortion
from pixelmill.steps.pixels import Clahe, Equalize, Sphere, Water
from pixelmill.types import INTERP_LINEAR, INTERP_NN, DALIInterpType


@operator("equalize", tolerance=CLOSE)
def equalize(data: Tensor) -> Tensor:
    """Equalize the histogram of every channel.

    Args:
        data: Images of type uint8.
    """
    check_layout("equalize", data.layout, ("HW", "HWC", "CHW", "FHW", "FHWC", "FCHW"))
    return Equalize(image=data, layout=data.layout).value(image_layout(data.layout))


operator("experimental.equalize", tolerance=CLOSE)(equalize)


@operator("clahe", tolerance=CLOSE)
def clahe(
    data: Tensor,
    *,
    tiles_x: Annotated[int, Range(1)],
    tiles_y: Annotated[int, Range(1)],
    clip_limit: float,
    luma_only: bool = True,
    bins: int = 256,
) -> Tensor:
    """Apply contrast-limited adaptive histogram equalization (CLAHE), tile by tile with blended borders.

    Args:
        data: Images of type uint8, grayscale or RGB.
        tiles_x: Number of tiles per row.
        tiles_y: Number of tiles per column.
        clip_limit: Largest count of a level in a tile, as a multiple of the mean count; 0 for no limit.
        luma_only: Whether to equalize only the lightness (L* of L*a*b*) instead of red, green and blue separately.
        bins: Number of histogram bins, a power of two. Accepted for compatibility; all 256 levels are always used.
    """
    check_layout("clahe", data.layout, ("HWC",))
    if bins < 1 or bins & (bins - 1):
        raise ArgumentError(f"clahe: bins must be a power of two, got {bins}")
    return Clahe(image=data, tiles_x=tiles_x, tiles_y=tiles_y, clip_limit=float(clip_limit), luma_only=luma_only).value(
        image_layout(data.layout)
    )


@operator("jpeg_compression_distortion", tolerance=CLOSE)
def jpeg_compression_distortion(data: Tensor, *, quality: PerSample[int] = 50) -> Tensor:
    """Add JPEG compression artifacts: encode images with 4:2:0 chroma subsampling and decode them again.

    Args:
        data: RGB images of type uint8.
        quality: JPEG quality, from 1 (worst) to 100; other values are clamped.
    """
    check_layout("jpeg_compression_distortion", data.layout, ("HWC", "FHWC"))
    return JpegDistortion(image=data, quality=quality, layout=data.layout).value(image_layout(data.layout))


@operator("webp_compression_distortion", dali=None)
def webp_compression_distortion(data: Tensor, *, quality: PerSample[int] = 50) -> Tensor:
    """Add WebP compression artifacts: encode images with Pillow, lossy, and decode them again.

    The pixels depend on the version of libwebp that Pillow uses, and on nothing else.

    Args:
        data: RGB images of type uint8, of at most 16383 pixels a side.
        quality: WebP quality, from 1 (worst) to 100; other values are clamped.
    """
    check_layout("webp_compression_distortion", data.layout, ("HWC", "FHWC"))
    return WebpDistortion(image=data, quality=quality, layout=data.layout).value(image_layout(data.layout))


def check_interpolation(name: str, interp_type: DALIInterpType) -> None:
    """Raise ArgumentError unless `interp_type` is one that displacements support."""
    if interp_type not in (INTERP_NN, INTERP_LINEAR):
        raise ArgumentError(f"{name}: interp_type must be INTERP_NN or INTERP_LINEAR, got {interp_type.name}")


@operator("sphere", tolerance=CLOSE)
def sphere(
    data: Tensor,
    *,
    mask: PerSample[int] = 1,
    interp_type: DALIInterpType = INTERP_NN,
    fill_value: float = 0.0,
) -> Tensor:
    """Distort images as if they were painted on a sphere.

    Args:
        data: Images of type uint8 or float.
        mask: Whether to apply the effect; 0 leaves the image unchanged.
        interp_type: Interpolation: INTERP_NN (nearest neighbor) or INTERP_LINEAR.
        fill_value: The value used outside the image.
    """
    check_layout("sphere", data.layout, ("HWC",))
    check_interpolation("sphere", interp_type)
    made = Sphere(image=data, mask=mask, layout=data.layout, interp_type=interp_type, fill_value=fill_value)
    return made.value(image_layout(data.layout))


@operator("water", tolerance=CLOSE)
def water(
    data: Tensor,
    *,
    ampl_x: float = 10.0,
    ampl_y: float = 10.0,
    freq_x: float = math.tau / 128,
    freq_y: float = math.tau / 128,
    phase_x: float = 0.0,
    phase_y: float = 0.0,
    mask: PerSample[int] = 1,
    interp_type: DALIInterpType = INTERP_NN,
    fill_value: float = 0.0,
) -> Tensor:
    """Distort images as if seen through water: a sine wave along x and a cosine wave along y.

    Args:
        data: Images of type uint8 or float.
        ampl_x: Amplitude of the wave along x, in pixels.
        ampl_y: Amplitude of the wave along y, in pixels.
        freq_x: Frequency of the wave along x, in radians per row; by default one period takes 128 rows.
        freq_y: Frequency of the wave along y, in radians per column.
        phase_x: Phase of the wave along x, in radians.
        phase_y: Phase of the wave along y, in radians.
        mask: Whether to apply the effect; 0 leaves the image unchanged.
        interp_type: Interpolation: INTERP_NN (nearest neighbor) or INTERP_LINEAR.
        fill_value: The value used outside the image.
    """
    check_layout("water", data.layout, ("HWC",))
    check_interpolation("water", interp_type)
    return Water(
        image=data,
        mask=mask,
        layout=data.layout,
        interp_type=interp_type,
        fill_value=fill_value,
        ampl_x=ampl_x,
        freq_x=freq_x,
        phase_x=phase_x,
        ampl_y=ampl_y,
        freq_y=freq_y,
        phase_y=phase_y,
    ).value(image_layout(data.layout))
