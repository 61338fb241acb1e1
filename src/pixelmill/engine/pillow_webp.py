"""Compress images by WebP, which the core leaves to Pillow. Importing this module registers the function."""

from __future__ import annotations

import io

import numpy as np

from pixelmill import _core
from pixelmill.formats.sample import pillow_message
from pixelmill.types import Array


def through_webp(data: bytes, height: int, width: int, quality: int) -> tuple[Array | None, str, str]:
    """Encode the pixels of an RGB image and decode them again.

    Returns:
        The image (height, width, 3; uint8) and two empty strings, or None with the kind of fault and a message.
    """
    from PIL import Image  # slow to import, and few programs need it

    stream = io.BytesIO()
    try:
        Image.frombytes("RGB", (width, height), data).save(stream, "WEBP", quality=quality)
        return np.asarray(Image.open(stream, formats=("WEBP",)).convert("RGB")), "", ""
    except MemoryError:
        return None, "too_large", "WebP: not enough memory to compress the image"
    except Exception as error:  # a side that is too large, or a Pillow without WebP
        return None, "unsupported", f"WebP: {pillow_message(error)}"


_core.set_webp_round_trip(through_webp)
