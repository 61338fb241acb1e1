"""Boxes and masks of samples: checked, made ready for a program, and stored again as they were."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.sample import Boxes, image_type, is_cut, pillow_message
from pixelmill.types import Array

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = slice(12, 29)  # the kind of the first chunk and its content, which its checksum covers
_FIRST = 33  # the first byte after the header chunk
_COLOR_TYPE = 25
_GRAY, _PALETTE = 0, 3
_KEPT = (b"PLTE", b"tRNS")


@dataclass(frozen=True)
class MaskStorage:
    """How a mask was stored, so that it is stored the same way again.

    Attributes:
        kind: `file` for a PNG that the core decodes and encodes; `png` and `npy` for masks that are passed as arrays.
        size: Height and width.
        squeezed: Whether the array had no channel axis.
        palette: PNG chunks with the colors of the class numbers.
        colors: The palette of a mask that Pillow decoded: its mode and its bytes.
    """

    kind: str
    size: tuple[int, int]
    squeezed: bool = False
    palette: bytes = b""
    colors: tuple[str, bytes] | None = None


def check_boxes(boxes: Boxes) -> None:
    """Raise DataError for a box that ends before it begins."""
    turned = (boxes.ltrb[:, 2:] < boxes.ltrb[:, :2]).any(axis=1)
    if turned.any():
        number = int(turned.argmax())
        raise DataError(f"box {number} ends before it begins: left, top, right, bottom {boxes.ltrb[number].tolist()}")


def load_mask(data: bytes) -> tuple[Array, MaskStorage]:
    """Return a mask as a program takes it. Raises DataError if it cannot be read or has more than one channel."""
    if image_type(data) == "npy":
        mask = npy.decode(data)
        if mask.ndim not in (2, 3) or (mask.ndim == 3 and mask.shape[2] != 1):
            raise DataError(f"a mask of shape {mask.shape} must have one channel")
        height, width = mask.shape[:2]
        return mask.reshape(height, width, 1), MaskStorage("npy", (height, width), squeezed=mask.ndim == 2)
    return _as_file(data) or _decoded(data)


def class_numbers(data: bytes) -> Array:
    """Return the class numbers of a mask, height by width, without applying a palette.

    Raises DataError as `load_mask` does.
    """
    mask = load_mask(data)[0] if image_type(data) == "npy" else _decoded(data)[0]
    numbers: Array = mask[:, :, 0]
    return numbers


def store_mask(mask: Array, storage: MaskStorage) -> bytes:
    """Return the mask that a program made, stored as the original was."""
    if storage.kind == "file":
        data = mask.tobytes()
        return _with_palette(data, storage.palette) if storage.palette else data
    if storage.kind == "npy":
        return npy.encode(mask[:, :, 0] if storage.squeezed else mask)
    from PIL import Image

    image: Image.Image = Image.fromarray(np.ascontiguousarray(mask[:, :, 0]))
    if storage.colors is not None:
        image = image.convert("L")
        image.putpalette(storage.colors[1], storage.colors[0])
    stream = io.BytesIO()
    image.save(stream, "png")
    return stream.getvalue()


def _as_file(data: bytes) -> tuple[Array, MaskStorage] | None:
    """Return an 8-bit PNG for the core to decode; palette indices are read as gray levels."""
    if not data.startswith(_SIGNATURE) or len(data) < _FIRST or data[12:16] != b"IHDR":
        return None
    width, height, depth, color_type = struct.unpack(">IIBB", data[16:26])
    whole = zlib.crc32(data[_HEADER]) == int.from_bytes(data[29:_FIRST], "big")
    if not whole or depth != 8 or color_type not in (_GRAY, _PALETTE):
        return None
    kept = [data[begin:end] for kind, begin, end in _chunks(data) if kind in _KEPT]
    palette = b"".join(kept) if color_type == _PALETTE else b""
    if kept:
        data = _plain(data)
    return np.frombuffer(data, np.uint8), MaskStorage("file", (height, width), palette=palette)


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield type, start and end of the chunks between the header and the pixels."""
    at = _FIRST
    while at + 12 <= len(data):
        kind, end = data[at + 4 : at + 8], at + 12 + int.from_bytes(data[at : at + 4], "big")
        if kind == b"IDAT" or end > len(data):
            return
        yield kind, at, end
        at = end


def _plain(data: bytes) -> bytes:
    """Turn a palette PNG into a grayscale one by removing the chunks that only give colors to the numbers."""
    others = [data[begin:end] for kind, begin, end in _chunks(data) if kind not in _KEPT]
    pixels = max((end for _, _, end in _chunks(data)), default=_FIRST)
    return b"".join([_header(data, _GRAY), *others, data[pixels:]])


def _with_palette(data: bytes, palette: bytes) -> bytes:
    return b"".join([_header(data, _PALETTE), palette, data[_FIRST:]])


def _header(data: bytes, color_type: int) -> bytes:
    content = data[12:_COLOR_TYPE] + bytes([color_type]) + data[_COLOR_TYPE + 1 : 29]
    return data[:12] + content + struct.pack(">I", zlib.crc32(content))


def _decoded(data: bytes) -> tuple[Array, MaskStorage]:
    """Decode with Pillow into class numbers, without applying a palette."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image: Image.Image = Image.open(io.BytesIO(data))
            image.load()
    except Exception as error:  # Pillow's plugins raise any kind of error for damaged files
        kind = "not_an_image" if image_type(data) is None else "truncated" if is_cut(data) else "corrupt"
        message = f"mask: {pillow_message(error)}" if len(data) else "mask: it is empty"
        raise DataError(message, (Event(kind, message, sample=0, epoch=0),)) from None
    colors = None
    if image.mode == "P" and image.palette is not None:
        colors = (image.palette.mode, bytes(image.palette.palette))
    elif image.mode == "1":
        image = image.convert("L")
    elif image.mode not in ("L", "I;16", "I;16B"):
        raise DataError(f"the mask has the mode {image.mode}; one channel of class numbers is needed")
    array = np.asarray(image)
    array = array.astype(array.dtype.newbyteorder("=")) if array.dtype.itemsize > 1 else array
    return array[:, :, None], MaskStorage("png", (image.height, image.width), colors=colors)
