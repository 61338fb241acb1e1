"""Images as training sees them: decoded by our own decoders, and refused for the same reasons."""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import numpy as np
from PIL import Image

from pixelmill import fn, types
from pixelmill.conversion import pictures
from pixelmill.errors import DataError, Event
from pixelmill.formats.sample import image_type
from pixelmill.pipeline import Pipeline

Array = np.ndarray[Any, Any]
_NEVER_MORE = ("jpg", "bmp")  # kinds without transparency, and of 8 bits
_SEE_THROUGH = ("RGBA", "LA", "PA", "La", "RGBa")


def decode(data: bytes) -> Array:
    """Decode an image into RGB, upright; DataError says why it cannot be."""
    return _decoder().decode(data)


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


class _Decoder:
    """A small pipeline that is fed with one file after the other."""

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
