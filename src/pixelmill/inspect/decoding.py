"""Images as training sees them: decoded by our own decoders, and rejected for the reasons that `verify` gives."""

from __future__ import annotations

from PIL import Image

from pixelmill import codecs
from pixelmill.codecs import pillow_images
from pixelmill.errors import MISSING_PIXELS, DataError, Event
from pixelmill.formats.sample import image_type
from pixelmill.types import Array

_RGB_ONLY = ("jpg", "bmp")  # 8 bits, without transparency
_TRANSPARENT = ("RGBA", "LA", "PA", "La", "RGBa")


def decode(data: bytes, *, size: tuple[int, int] | None = None) -> Array:
    """Decode an image into RGB and apply its orientation. Raises DataError if it cannot be decoded.

    Args:
        data: The file.
        size: Height and width to reduce it to while it is decoded.
    """
    try:
        return codecs.decode_image(data, size=size, strict=[MISSING_PIXELS])
    except DataError as error:
        first = error.events[0]
        message = first.message if data else "it is empty"
        raise DataError(message, (Event(first.kind, message, sample=0, epoch=0),)) from None


def decode_reduced(data: bytes, *, least: int) -> tuple[Array, tuple[int, int]] | None:
    """Decode a JPEG at 1/2, 1/4 or 1/8 of its size, with the longer side not below `least` pixels.

    Returns:
        The pixels, and height and width of the image; None if it is not a JPEG, or too small to be reduced.
    """
    if image_type(data) != "jpg":
        return None
    try:
        header = codecs.image_info(data)
    except DataError:
        return None  # decoding it says what is wrong
    longer = max(header.height, header.width)
    divisor = next((divisor for divisor in (8, 4, 2) if longer // divisor >= least), None)
    if divisor is None:
        return None
    size = -(-header.height // divisor), -(-header.width // divisor)
    return decode(data, size=size), (header.height, header.width)


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
