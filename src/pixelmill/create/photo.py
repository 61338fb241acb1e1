"""Pictures as arrays, without files."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pixelmill.create.options import PictureOptions
from pixelmill.errors import ArgumentError

Pixels = npt.NDArray[np.uint8]
Array = np.ndarray[Any, Any]


def photo(seed: int, index: int, *, height: int, width: int) -> Pixels:
    """Make one photo-like picture.

    It has what a JPEG decoder and a resampler notice in a photograph: a spectrum that falls with frequency, colours
    that vary less than brightness, surfaces that hide each other behind more or less sharp edges, and sensor noise.

    Args:
        seed: Names the set of pictures.
        index: Names the picture within the set.
        height: Rows of the picture.
        width: Columns of the picture.

    Returns:
        Pixels of shape (height, width, 3). They depend on the arguments alone, not on pictures made before.
    """
    options = PictureOptions(height, width, content="photo", image_format="png", seed=seed)
    return draw(options, index)[0]


def draw(options: PictureOptions, index: int) -> tuple[Pixels, Pixels, Array, int]:
    """Draw one picture without encoding it.

    Returns:
        Pixels of shape (height, width, 3); for `shapes` a mask of shape (height, width) with the class + 1 of each
        object, else zeros; one row (class, top, left, bottom, right, pixels) for each object; the class of the picture.
    """
    if not 0 <= index < 1 << 48:
        raise ArgumentError(f"create: index must be from 0 to 2**48 - 1, got {index}")
    return options.maker().draw(index)
