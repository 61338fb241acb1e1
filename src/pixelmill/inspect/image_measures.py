"""Measures of one image that the page of a preview sorts, filters and counts by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from PIL import Image

from pixelmill.types import Array

_LUMA = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601, as Pillow's mode L
_LEVELS = np.arange(256, dtype=np.float64)
_HASH_INPUT, _HASH_SIDE = 32, 8
_SIGNATURE_SIDE = 4
_SHARPNESS_SIDE = 512
_GRAY_DISTANCE = 2.0  # JPEG's chroma rounding moves gray pixels by less


@dataclass(frozen=True, eq=False)
class Measures:
    """Measures of one image.

    Attributes:
        means: Mean of the red, green and blue values, 0 to 255.
        squares: Mean of their squares.
        brightness: Mean luma, 0 to 255.
        contrast: Standard deviation of the luma.
        sharpness: Variance of the Laplacian in the middle of the image; low if nothing has an edge.
        is_gray: Whether all channels are equal up to rounding.
        hash_bits: Perceptual hash: 64 booleans.
        signature: The image at 4 x 4 pixels, to tell apart images whose hashes agree by chance.
    """

    means: tuple[float, float, float]
    squares: tuple[float, float, float]
    brightness: float
    contrast: float
    sharpness: float
    is_gray: bool
    hash_bits: npt.NDArray[np.bool_]
    signature: npt.NDArray[np.uint8]


def measure(image: Image.Image) -> Measures:
    """Measure an RGB or RGBA image; transparency is ignored."""
    rgb = image if image.mode == "RGB" else image.convert("RGB")
    luma = rgb.convert("L")
    means, squares = _moments(rgb.histogram())
    (brightness,), (luma_square,) = _moments(luma.histogram())
    signature = np.asarray(rgb.resize((_SIGNATURE_SIDE, _SIGNATURE_SIDE), Image.Resampling.BOX))
    return Measures(
        means=(means[0], means[1], means[2]),
        squares=(squares[0], squares[1], squares[2]),
        brightness=brightness,
        contrast=max(luma_square - brightness**2, 0.0) ** 0.5,
        sharpness=_sharpness(luma),
        is_gray=_is_gray(rgb),
        hash_bits=perceptual_hash(luma),
        signature=signature,
    )


def perceptual_hash(luma: Image.Image) -> npt.NDArray[np.bool_]:
    """Return 64 bits that change little when an image is resized, re-encoded or slightly edited.

    Each bit says whether one of the 64 lowest frequencies of the image, reduced to 32 x 32, is above their median.
    """
    side = _HASH_INPUT
    small = np.asarray(luma.resize((side, side), Image.Resampling.BOX, reducing_gap=2.0), np.float64)
    basis = _cosines()
    low = (basis @ small @ basis.T).reshape(-1)
    low[0] = 0  # the mean says nothing about the shapes
    bits: npt.NDArray[np.bool_] = low > np.median(low[1:])
    return bits


@cache
def _cosines() -> Array:
    """Return the first rows of the discrete cosine transform."""
    frequencies, places = np.arange(_HASH_SIDE)[:, None], np.arange(_HASH_INPUT)[None, :]
    return np.cos(np.pi * frequencies * (2 * places + 1) / (2 * _HASH_INPUT))


def _moments(histogram: list[int]) -> tuple[list[float], list[float]]:
    """Return the means and mean squares of the channels."""
    counts = np.array(histogram, np.float64).reshape(-1, 256)
    pixels = max(float(counts[0].sum()), 1.0)
    return (counts @ _LEVELS / pixels).tolist(), (counts @ _LEVELS**2 / pixels).tolist()


def _sharpness(luma: Image.Image) -> float:
    width, height = luma.size
    side = _SHARPNESS_SIDE
    left, top = max((width - side) // 2, 0), max((height - side) // 2, 0)
    values = np.asarray(luma.crop((left, top, min(left + side, width), min(top + side, height))), np.int32)
    if min(values.shape) < 3:
        return 0.0
    middle = values[1:-1, 1:-1]
    edges = values[:-2, 1:-1] + values[2:, 1:-1] + values[1:-1, :-2] + values[1:-1, 2:] - 4 * middle
    return float(edges.var())


def _is_gray(rgb: Image.Image) -> bool:
    red, green, blue = (
        np.asarray(channel, np.int32) for channel in rgb.resize((64, 64), Image.Resampling.NEAREST).split()
    )
    return bool(max(np.abs(red - green).mean(), np.abs(green - blue).mean()) < _GRAY_DISTANCE)
