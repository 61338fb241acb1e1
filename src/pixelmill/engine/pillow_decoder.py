"""Decode the formats that the core leaves to Pillow: BMP, GIF, TIFF, WebP, PNM and JPEG 2000.

Importing this module registers the decoder. The core reads headers itself and enforces the limits before it calls it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np

from pixelmill import _core
from pixelmill.engine import libtiff_messages
from pixelmill.formats.sample import is_cut, pillow_message
from pixelmill.types import Array

PILLOW_FORMATS = {
    "BMP": ("BMP", "DIB"),
    "GIF": ("GIF",),
    "TIFF": ("TIFF",),
    "WebP": ("WEBP",),
    "PNM": ("PPM",),
    "JPEG 2000": ("JPEG2000",),
}
# Pillow modes with 1 to 4 channels of 8 or 16 bits, and the mode that others are converted to.
PLAIN_MODES = ("L", "LA", "RGB", "RGBA", "I;16")
CONVERSIONS = {"1": "L", "P": "RGBA", "PA": "RGBA", "La": "LA", "RGBa": "RGBA", "RGBX": "RGB"}
CONVERSIONS |= dict.fromkeys(("CMYK", "YCbCr", "LAB", "HSV"), "RGB")


def decode(data: bytes, name: str) -> tuple[Array | None, str, str]:
    """Decode the first frame of an image.

    Returns:
        The image (height, width, channels; uint8 or uint16) and two empty strings, or None with the kind of fault and a
        message.
    """
    from PIL import Image  # slow to import, and most programs read only JPEG and PNG

    errors: Sequence[str] = ()
    try:
        with libtiff_messages.collected() if name == "TIFF" else nullcontext(()) as errors:
            opened = Image.open(io.BytesIO(data), formats=PILLOW_FORMATS[name])
            opened.load()
            if errors:
                return None, "corrupt", f"{name}: {errors[0]}"
            image: Image.Image = opened
            mode = "I;16" if image.mode.startswith("I;16") else image.mode
            if mode not in PLAIN_MODES:
                if mode not in CONVERSIONS:
                    return None, "unsupported", f"{name} with pixels of Pillow's mode {mode!r}"
                image = image.convert(CONVERSIONS[mode])
            pixels = np.asarray(image)
    except MemoryError:
        return None, "too_large", "not enough memory to decode it"
    except Exception as error:  # Pillow's plugins raise all kinds of exceptions for damaged files
        said = errors[0] if errors else pillow_message(error)
        text = f"{name}: {said}"
        return None, "truncated" if "truncated" in text.lower() or is_cut(data) else "corrupt", text
    pixels = pixels.astype(np.uint16 if pixels.dtype.itemsize == 2 else np.uint8, copy=False)
    return np.ascontiguousarray(pixels.reshape(*pixels.shape[:2], -1)), "", ""


_core.set_foreign_decoder(decode)
