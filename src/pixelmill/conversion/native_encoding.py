"""Encode JPEG and PNG files anew by our own codecs: decoded, resized and encoded in one go.

A JPEG that is to become much smaller is decoded at a smaller scale, which takes a fraction of the time. What Pillow
reads in another form (palettes, transparency, CMYK, more than 8 bits) is left to Pillow.
"""

from __future__ import annotations

import struct
import threading
from functools import cache

import numpy as np
from PIL import Image

from pixelmill import fn, types
from pixelmill.errors import DataError, Event
from pixelmill.pipeline import Pipeline

FORMATS = ("jpeg", "png")
_SOURCES = ("JPEG", "PNG")
_MODES = ("L", "RGB")
_KEPT_IN_PNG = ("transparency", "icc_profile", "gamma", "srgb", "chromaticity")  # Pillow writes or applies these
_ORIENTATION, _TURNED = 0x0112, (5, 6, 7, 8)


def upright_size(data: bytes, picture: Image.Image, format: str) -> tuple[int, int] | None:
    """Give width and height of a picture as it is to be seen; None where Pillow has to encode it.

    Args:
        data: The file.
        picture: The same, opened and not yet decoded.
        format: What it is to become.
    """
    if format not in FORMATS or picture.format not in _SOURCES or picture.mode not in _MODES:
        return None
    if picture.format == "PNG" and any(name in picture.info for name in _KEPT_IN_PNG):
        return None
    if format == "png" and "icc_profile" in picture.info:
        return None
    if picture.format == "PNG" and "exif" not in picture.info:
        # Pillow would decode the picture to see whether the orientation stands behind the pixels.
        return None if b"eXIf" in data else picture.size
    try:
        turned = picture.getexif().get(_ORIENTATION) in _TURNED
    except (OSError, ValueError, SyntaxError, struct.error):
        return None
    return (picture.height, picture.width) if turned else picture.size


def encode(data: bytes, *, size: tuple[int, int] | None, format: str, quality: int) -> bytes:
    """Encode a file anew; DataError if it cannot be decoded.

    Args:
        data: The file.
        size: The new width and height; the size stays without it.
        format: `jpeg` or `png`.
        quality: Of JPEG.
    """
    return _encoder(format, quality, size is not None).encode(data, size)


class _Encoder:
    """A small pipeline that is fed with one file after the other."""

    def __init__(self, format: str, quality: int, resizes: bool) -> None:
        self._lock = threading.Lock()
        self._resizes = resizes
        self._pipe = Pipeline(1, 1, None, prefetch_queue_depth=1, exec_async=False, exec_pipelined=False, seed=0)
        with self._pipe:
            picture = fn.decoders.image(fn.external_source(name="file"), output_type=types.ANY_DATA)
            if resizes:
                size = fn.external_source(name="size")
                picture = fn.resize(picture, size=size, interp_type=types.INTERP_LANCZOS3)
            self._pipe.set_outputs(fn.encoders.image(picture, format=format, quality=quality))

    def encode(self, data: bytes, size: tuple[int, int] | None) -> bytes:
        with self._lock:
            self._pipe.feed_input("file", [np.frombuffer(data, np.uint8)])
            if size is not None:
                self._pipe.feed_input("size", [np.array(size[::-1], np.float32)])
            try:
                (made,) = self._pipe.run()
            except DataError as error:
                _encoder.cache_clear()  # the pipeline waits for another file in the place of this one
                first = error.events[0]
                message = f"the image cannot be decoded: {first.message}"
                raise DataError(message, (Event(first.kind, message, sample=0, epoch=0),)) from None
            return bytes(np.asarray(made.at(0)))


@cache
def _encoder(format: str, quality: int, resizes: bool) -> _Encoder:
    return _Encoder(format, quality, resizes)
