"""Images as training sees them: decoded by our own decoders, and refused for the same reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from pixelmill import codecs
from pixelmill.conversion import pictures
from pixelmill.errors import DataError, Event
from pixelmill.formats.sample import image_type

Array = np.ndarray[Any, Any]
_NEVER_MORE = ("jpg", "bmp")  # kinds without transparency, and of 8 bits
_SEE_THROUGH = ("RGBA", "LA", "PA", "La", "RGBa")


def decode(data: bytes) -> Array:
    """Decode an image into RGB, upright; DataError says why it cannot be."""
    try:
        return codecs.decode_image(data)
    except DataError as error:
        first = error.events[0]
        message = first.message if data else "it is empty"
        raise DataError(message, (Event(first.kind, message, sample=0, epoch=0),)) from None


def beyond_rgb(data: bytes) -> Image.Image | None:
    """Decode an image by Pillow that has more than RGB of 8 bits: RGBA, or one channel of larger numbers."""
    if image_type(data) in _NEVER_MORE:
        return None
    try:
        header = pictures.opened(data)
        is_deep = header.mode == "F" or header.mode.startswith("I")
        if not is_deep and header.mode not in _SEE_THROUGH and "transparency" not in header.info:
            return None
        picture = pictures.decode(data)
        return picture if is_deep else picture.convert("RGBA")
    except (DataError, OSError, ValueError):
        return None  # our decoders have read it, and what they have read is shown
