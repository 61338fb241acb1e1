"""Pictures that the core hands to Pillow: BMP, GIF, TIFF, WebP, PNM, JPEG 2000. The core has checked their headers."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from pixelmill import _core
from pixelmill.formats.sample import is_cut

PILLOW_FORMATS = {
    "BMP": ("BMP", "DIB"),
    "GIF": ("GIF",),
    "TIFF": ("TIFF",),
    "WebP": ("WEBP",),
    "PNM": ("PPM",),
    "JPEG 2000": ("JPEG2000",),
}
# How a mode of Pillow becomes one of 1 to 4 channels of 8 or 16 bits.
PLAIN_MODES = ("L", "LA", "RGB", "RGBA", "I;16")
CONVERSIONS = {"1": "L", "P": "RGBA", "PA": "RGBA", "La": "LA", "RGBa": "RGBA", "RGBX": "RGB"}
CONVERSIONS |= dict.fromkeys(("CMYK", "YCbCr", "LAB", "HSV"), "RGB")


def decode(data: bytes, name: str) -> tuple[Any, str, str]:
    """Decode the first frame.

    Returns:
        The picture (height, width, channels; uint8 or uint16), or None and the kind and the text of the fault.
    """
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=PILLOW_FORMATS[name]) as opened:
            opened.load()
            picture: Image.Image = opened
            mode = "I;16" if picture.mode.startswith("I;16") else picture.mode
            if mode not in PLAIN_MODES:
                if mode not in CONVERSIONS:
                    return None, "unsupported", f"{name} with pixels of Pillow's mode {mode!r}"
                picture = picture.convert(CONVERSIONS[mode])
            pixels = np.asarray(picture)
    except MemoryError:
        return None, "too_large", "not enough memory to decode it"
    except Exception as error:  # Pillow's plugins raise whatever they like on damaged files
        text = f"{name}: {error or type(error).__name__}"
        return None, "truncated" if "truncated" in text.lower() or is_cut(data) else "corrupt", text
    pixels = pixels.astype(np.uint16 if pixels.dtype.itemsize == 2 else np.uint8, copy=False)
    return np.ascontiguousarray(pixels.reshape(*pixels.shape[:2], -1)), "", ""


_core.set_foreign_decoder(decode)
