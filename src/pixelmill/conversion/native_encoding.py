"""Re-encode JPEG and PNG files with our own codecs: decode, resize and encode in one pass.

A JPEG that becomes much smaller is decoded at a smaller scale, which takes a fraction of the time. Images that Pillow
reads in another mode (palettes, transparency, CMYK, more than 8 bits) are left to Pillow.
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


def upright_size(data: bytes, image: Image.Image, format: str) -> tuple[int, int] | None:
    """Return width and height of an image after EXIF rotation, or None if Pillow has to encode it.

    Args:
        data: The file.
        image: The same, opened but not decoded.
        format: The new format.
    """
    if format not in FORMATS or image.format not in _SOURCES or image.mode not in _MODES:
        return None
    if image.format == "PNG" and any(name in image.info for name in _KEPT_IN_PNG):
        return None
    if format == "png" and "icc_profile" in image.info:
        return None
    if image.format == "PNG" and "exif" not in image.info:
        # Pillow would decode the whole image to see whether an orientation follows the pixels.
        return None if b"eXIf" in data else image.size
    try:
        turned = image.getexif().get(_ORIENTATION) in _TURNED
    except (OSError, ValueError, SyntaxError, struct.error):
        return None
    return (image.height, image.width) if turned else image.size


def encode(
    data: bytes, *, size: tuple[int, int] | None, format: str, quality: int, refused: tuple[str, ...]
) -> tuple[bytes, tuple[str, ...]]:
    """Re-encode a file; return it with the kinds of notes about it. Raises DataError if it cannot be decoded.

    Args:
        data: The file.
        size: The new width and height; None keeps the size.
        format: `jpeg` or `png`.
        quality: Quality of JPEG.
        refused: Kinds of notes of the decoder that are errors.
    """
    return _encoder(format, quality, size is not None, refused).encode(data, size)


def check(data: bytes, *, refused: tuple[str, ...]) -> tuple[str, ...]:
    """Decode a file and return the kinds of notes about it. Raises DataError if it cannot be decoded."""
    return _encoder(None, 0, False, refused).encode(data, None)[1]


class _Encoder:
    """A small pipeline that is fed one file at a time."""

    def __init__(self, format: str | None, quality: int, resizes: bool, refused: tuple[str, ...]) -> None:
        self._lock = threading.Lock()
        self._resizes = resizes
        self._encodes = format is not None
        self._pipe = Pipeline(
            1, 1, None, prefetch_queue_depth=1, exec_async=False, exec_pipelined=False, seed=0, strict=refused
        )
        with self._pipe:
            image = fn.decoders.image(fn.external_source(name="file"), output_type=types.ANY_DATA)
            if resizes:
                size = fn.external_source(name="size")
                image = fn.resize(image, size=size, interp_type=types.INTERP_LANCZOS3)
            made = image if format is None else fn.encoders.image(image, format=format, quality=quality)
            self._pipe.set_outputs(made)

    def encode(self, data: bytes, size: tuple[int, int] | None) -> tuple[bytes, tuple[str, ...]]:
        with self._lock:
            self._pipe.feed_input("file", [np.frombuffer(data, np.uint8)])
            if size is not None:
                self._pipe.feed_input("size", [np.array(size[::-1], np.float32)])
            try:
                (made,) = self._pipe.run()
            except DataError as error:
                _encoder.cache_clear()  # this pipeline still waits for a replacement of the bad file
                first = error.events[0]
                message = f"the image cannot be decoded: {first.message}"
                raise DataError(message, (Event(first.kind, message, sample=0, epoch=0),)) from None
            notes = tuple(event.kind for event in self._pipe.errors.events)
            self._pipe.errors.events.clear()
            return (bytes(np.asarray(made.at(0))) if self._encodes else b""), notes


@cache
def _encoder(format: str | None, quality: int, resizes: bool, refused: tuple[str, ...]) -> _Encoder:
    return _Encoder(format, quality, resizes, refused)
