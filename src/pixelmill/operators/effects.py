"""Pictures with their levels spread out, made worse, or bent."""

from __future__ import annotations

import math
from typing import Annotated

from pixelmill.errors import ArgumentError
from pixelmill.operators.colour import check_layout
from pixelmill.operators.crop import image_layout
from pixelmill.operators.dali import CLOSE
from pixelmill.operators.declare import PerSample, Range, Tensor, operator
from pixelmill.steps.codecs import JpegDistortion
from pixelmill.steps.pixels import Clahe, Equalize, Sphere, Water
from pixelmill.types import INTERP_LINEAR, INTERP_NN, DALIInterpType


@operator("equalize", tolerance=CLOSE)
def equalize(data: Tensor) -> Tensor:
    """Spread the levels of every channel so that all occur about equally often.

    Args:
        data: Pictures of type uint8.
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
    """Spread the levels tile by tile, with limited contrast (CLAHE), and blend the tiles.

    Args:
        data: Pictures of type uint8 with one channel, or with red, green and blue.
        tiles_x: How many tiles there are in a row.
        tiles_y: How many tiles there are in a column.
        clip_limit: How often a level may occur in a tile, in multiples of the mean of all levels; 0 for no limit.
        luma_only: Change the lightness of colours alone (in L*a*b*), not each of red, green and blue.
        bins: How many levels are told apart, a power of two; all 256 are.
    """
    check_layout("clahe", data.layout, ("HWC",))
    if bins < 1 or bins & (bins - 1):
        raise ArgumentError(f"clahe: bins must be a power of two, got {bins}")
    return Clahe(image=data, tiles_x=tiles_x, tiles_y=tiles_y, clip_limit=float(clip_limit), luma_only=luma_only).value(
        image_layout(data.layout)
    )


@operator("jpeg_compression_distortion", tolerance=CLOSE)
def jpeg_compression_distortion(data: Tensor, *, quality: PerSample[int] = 50) -> Tensor:
    """Give pictures the marks of JPEG: they are written as such, with half the resolution of colours, and read again.

    Args:
        data: Pictures of type uint8 in red, green and blue.
        quality: From 1, the worst, to 100; what is outside is taken for the nearest.
    """
    check_layout("jpeg_compression_distortion", data.layout, ("HWC", "FHWC"))
    return JpegDistortion(image=data, quality=quality, layout=data.layout).value(image_layout(data.layout))


def _check_interpolation(name: str, interp_type: DALIInterpType) -> None:
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
    """Bend pictures as if they were on a ball.

    Args:
        data: Pictures of type uint8 or float.
        mask: Whether to do so; 0 leaves the picture as it is.
        interp_type: How pixels between pixels are found: INTERP_NN or INTERP_LINEAR.
        fill_value: What lies outside of the picture.
    """
    check_layout("sphere", data.layout, ("HWC",))
    _check_interpolation("sphere", interp_type)
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
    """Bend pictures as if they were seen through water: by a sine wave across and a cosine wave down.

    Args:
        data: Pictures of type uint8 or float.
        ampl_x: How far pixels are moved across, in pixels.
        ampl_y: How far they are moved down.
        freq_x: By how much the wave across goes on from row to row, in radians; a turn takes 128 when left out.
        freq_y: By how much the wave down goes on from column to column.
        phase_x: Where the wave across begins.
        phase_y: Where the wave down begins.
        mask: Whether to do so; 0 leaves the picture as it is.
        interp_type: How pixels between pixels are found: INTERP_NN or INTERP_LINEAR.
        fill_value: What lies outside of the picture.
    """
    check_layout("water", data.layout, ("HWC",))
    _check_interpolation("water", interp_type)
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
