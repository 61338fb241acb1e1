"""Decode the formats that the core leaves to Pillow: BMP, GIF, TIFF, WebP, PNM, JPEG 2000, AVIF, and HEIC.

Importing this module registers the decoder. The core reads headers itself and enforces the limits before it calls it.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np

from pixelmill import _core
from pixelmill.engine import libtiff_messages
from pixelmill.formats.optional_images import TITLES, is_readable, way_in
from pixelmill.formats.sample import is_cut, pillow_message
from pixelmill.types import Array

PILLOW_FORMATS = {
    "BMP": ("BMP", "DIB"),
    "GIF": ("GIF",),
    "TIFF": ("TIFF",),
    "WebP": ("WEBP",),
    "PNM": ("PPM",),
    "JPEG 2000": ("JPEG2000",),
    "AVIF": ("AVIF",),
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
    from PIL import Image, ImageOps  # slow to import, and most programs read only JPEG and PNG

    kind = name.lower()
    if kind in TITLES and not is_readable(kind):
        return None, "unsupported", f"{name}: {way_in(kind)}"
    errors: Sequence[str] = ()
    try:
        with libtiff_messages.collected() if name == "TIFF" else nullcontext(()) as errors:
            if name == "HEIC":
                return _heic(data), "", ""
            opened: Image.Image = Image.open(io.BytesIO(data), formats=PILLOW_FORMATS[name])
            opened.load()
            if name == "AVIF":  # Pillow returns rotations, which belong to the image, as an orientation
                opened = ImageOps.exif_transpose(opened)
            if errors:
                return None, "corrupt", f"{name}: {errors[0]}"
            image = opened
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


def _heic(data: bytes) -> Array:
    """Decode the primary image, upright; 10 and 12 bits become 16."""
    import pillow_heif

    found = pillow_heif.open_heif(io.BytesIO(data), convert_hdr_to_8bit=False)
    pixels = np.array(found)  # a copy: the pixels that pillow-heif lends may be freed with `found`
    return pixels.reshape(*pixels.shape[:2], -1)


_core.set_foreign_decoder(decode)
