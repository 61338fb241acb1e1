"""The size of an encoded image from its header, and coordinates in its pixels."""

from __future__ import annotations

import warnings

import numpy as np

from pixelmill.formats.index import Array
from pixelmill.formats.optional_images import open_pillow
from pixelmill.formats.sample import image_type

_ORIENTATION, _TURNED = 0x0112, (5, 6, 7, 8)
_DECIMALS = (5, 4, 3, 2, 1, 0)


def image_extent(data: bytes) -> tuple[int, int] | None:
    """Return height and width of an image as decoders return it, upright; None if its header cannot be read."""
    if not data:
        return None
    try:
        if image_type(data) == "npy":
            from pixelmill.formats.npy.array_file import read_header  # that package imports this module

            shape = read_header(data).shape
            return (shape[0], shape[1]) if len(shape) >= 2 and min(shape[:2]) else None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = open_pillow(data)
            turned = image.getexif().get(_ORIENTATION) in _TURNED
            return (image.width, image.height) if turned else (image.height, image.width)
    except Exception:  # Pillow's plugins raise any kind of error for damaged files
        return None


def to_pixels(fractions: Array, sides: Array) -> Array:
    """Return coordinates in pixels with the fewest decimals that lead back to the same fractions in float32.

    Annotations have been made in pixels, mostly with two decimals: these come back as they were written.

    Args:
        fractions: Fractions of the width or height, float32.
        sides: The width or height of each.
    """
    target = np.asarray(fractions, np.float32)
    found: Array = target.astype(np.float64) * sides
    exact = found
    for digits in _DECIMALS:
        rounded = np.round(exact, digits)
        found = np.where((rounded / sides).astype(np.float32) == target, rounded, found)
    return found


def to_fractions(pixels: Array, sides: Array) -> Array:
    """Return coordinates in pixels as fractions of the width or height, float32."""
    with np.errstate(over="ignore"):
        fractions: Array = (np.asarray(pixels, np.float64) / sides).astype(np.float32)
    return fractions
