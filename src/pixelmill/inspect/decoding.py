"""Images as training sees them: decoded by our own decoders, and rejected for the same reasons."""

from __future__ import annotations

import threading
from functools import cache

import numpy as np
from PIL import Image

from pixelmill import fn, pillow_images, types
from pixelmill.errors import DataError, Event
from pixelmill.formats.sample import image_type
from pixelmill.pipeline import Pipeline
from pixelmill.types import Array

_RGB_ONLY = ("jpg", "bmp")  # 8 bits, without transparency
_TRANSPARENT = ("RGBA", "LA", "PA", "La", "RGBa")


def decode(data: bytes) -> Array:
    """Decode an image into RGB and apply its orientation. Raises DataError if it cannot be decoded."""
    return _decoder().decode(data)


def decode_beyond_rgb(data: bytes) -> Image.Image | None:
    """Decode an image with Pillow if it holds more than 8-bit RGB: RGBA, or one channel of larger numbers."""
    if image_type(data) in _RGB_ONLY:
        return None
    try:
        header = pillow_images.open_header(data)
        is_deep = header.mode == "F" or header.mode.startswith("I")
        if not is_deep and header.mode not in _TRANSPARENT and "transparency" not in header.info:
            return None
        image = pillow_images.decode(data)
        return image if is_deep else image.convert("RGBA")
    except (DataError, OSError, ValueError):
        return None  # our decoders could read it, and their result is shown


class _Decoder:
    """A small pipeline that is fed one file at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe = Pipeline(
            *(1, 1, None),
            prefetch_queue_depth=1,
            exec_async=False,
            exec_pipelined=False,
            seed=0,
            on_error="fill",
            max_errors=1 << 62,
        )
        with self._pipe:
            source = fn.external_source(name="file")
            self._pipe.set_outputs(fn.decoders.image(source, output_type=types.RGB))

    def decode(self, data: bytes) -> Array:
        with self._lock:
            self._pipe.feed_input("file", [np.frombuffer(data or b"\0", np.uint8)])
            (images,) = self._pipe.run()
            problems = [event for event in self._pipe.errors.events if event.fatal]
            self._pipe.errors.events.clear()
            if not problems:
                return np.array(images.at(0))
        first = problems[0]
        message = first.message if data else "it is empty"
        raise DataError(message, (Event(first.kind, message, sample=0, epoch=0),))


@cache
def _decoder() -> _Decoder:
    return _Decoder()
