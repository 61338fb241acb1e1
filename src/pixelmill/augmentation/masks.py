"""Masks on their way through a program: as files whose values the core reads and writes, or as arrays."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.sample import image_type, is_cut

Array = np.ndarray[Any, Any]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = slice(12, 29)  # the kind of the first chunk and its content, which its checksum covers
_FIRST = 33  # the first byte behind the header chunk
_COLOUR_TYPE = 25
_GRAY, _PALETTE = 0, 3
_KEPT = (b"PLTE", b"tRNS")


@dataclass(frozen=True)
class MaskKind:
    """How a mask was stored, so that it is stored like that again.

    Attributes:
        kind: `file` for a PNG that the core reads and writes; `png` and `npy` for what goes as an array.
        size: Height and width.
        squeezed: An array without an axis for channels.
        palette: Chunks of a PNG file with the colours of the class numbers.
        colours: The same as Pillow has it.
    """

    kind: str
    size: tuple[int, int]
    squeezed: bool = False
    palette: bytes = b""
    colours: tuple[str, bytes] | None = None


def prepared(data: bytes) -> tuple[Array, MaskKind]:
    """Give a mask as a program takes it. DataError if it has not one channel or cannot be read."""
    if image_type(data) == "npy":
        mask = npy.decode(data)
        if mask.ndim not in (2, 3) or (mask.ndim == 3 and mask.shape[2] != 1):
            raise DataError(f"a mask of shape {mask.shape} has not one channel")
        height, width = mask.shape[:2]
        return mask.reshape(height, width, 1), MaskKind("npy", (height, width), squeezed=mask.ndim == 2)
    return _as_file(data) or _decoded(data)


def class_numbers(data: bytes) -> Array:
    """Give the numbers of a mask, height by width; palettes are not looked up. DataError as `prepared`."""
    mask = prepared(data)[0] if image_type(data) == "npy" else _decoded(data)[0]
    numbers: Array = mask[:, :, 0]
    return numbers


def finished(mask: Array, kind: MaskKind) -> bytes:
    """Give a mask that came out of a program as it was stored before."""
    if kind.kind == "file":
        data = mask.tobytes()
        return _with_palette(data, kind.palette) if kind.palette else data
    if kind.kind == "npy":
        return npy.encode(mask[:, :, 0] if kind.squeezed else mask)
    from PIL import Image

    picture: Image.Image = Image.fromarray(np.ascontiguousarray(mask[:, :, 0]))
    if kind.colours is not None:
        picture = picture.convert("L")
        picture.putpalette(kind.colours[1], kind.colours[0])
    stream = io.BytesIO()
    picture.save(stream, "png")
    return stream.getvalue()


def _as_file(data: bytes) -> tuple[Array, MaskKind] | None:
    """Give a PNG of 8 bits for the core to decode; the numbers of a palette are read like levels of gray."""
    if not data.startswith(_SIGNATURE) or len(data) < _FIRST or data[12:16] != b"IHDR":
        return None
    width, height, depth, colour_type = struct.unpack(">IIBB", data[16:26])
    whole = zlib.crc32(data[_HEADER]) == int.from_bytes(data[29:_FIRST], "big")
    if not whole or depth != 8 or colour_type not in (_GRAY, _PALETTE):
        return None
    kept = [data[begin:end] for kind, begin, end in _chunks(data) if kind in _KEPT]
    palette = b"".join(kept) if colour_type == _PALETTE else b""
    if kept:
        data = _plain(data)
    return np.frombuffer(data, np.uint8), MaskKind("file", (height, width), palette=palette)


def _chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Give kind, begin and end of the chunks between the header and the pixels."""
    at = _FIRST
    while at + 12 <= len(data):
        kind, end = data[at + 4 : at + 8], at + 12 + int.from_bytes(data[at : at + 4], "big")
        if kind == b"IDAT" or end > len(data):
            return
        yield kind, at, end
        at = end


def _plain(data: bytes) -> bytes:
    """Make a PNG one of gray levels, without the chunks that only say what the numbers look like."""
    others = [data[begin:end] for kind, begin, end in _chunks(data) if kind not in _KEPT]
    behind = max((end for _, _, end in _chunks(data)), default=_FIRST)
    return b"".join([_header(data, _GRAY), *others, data[behind:]])


def _with_palette(data: bytes, palette: bytes) -> bytes:
    return b"".join([_header(data, _PALETTE), palette, data[_FIRST:]])


def _header(data: bytes, colour_type: int) -> bytes:
    content = data[12:_COLOUR_TYPE] + bytes([colour_type]) + data[_COLOUR_TYPE + 1 : 29]
    return data[:12] + content + struct.pack(">I", zlib.crc32(content))


def _decoded(data: bytes) -> tuple[Array, MaskKind]:
    """Decode by Pillow: class numbers, palettes are not looked up."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            picture: Image.Image = Image.open(io.BytesIO(data))
            picture.load()
    except Exception as error:  # Pillow's plugins raise whatever they like on damaged files
        kind = "not_an_image" if image_type(data) is None else "truncated" if is_cut(data) else "corrupt"
        message = f"mask: {error}" if len(data) else "mask: it is empty"
        raise DataError(message, (Event(kind, message, sample=0, epoch=0),)) from None
    colours = None
    if picture.mode == "P" and picture.palette is not None:
        colours = (picture.palette.mode, bytes(picture.palette.palette))
    elif picture.mode == "1":
        picture = picture.convert("L")
    elif picture.mode not in ("L", "I;16", "I;16B"):
        raise DataError(f"the mask has the mode {picture.mode}; one channel of class numbers is needed")
    array = np.asarray(picture)
    array = array.astype(array.dtype.newbyteorder("=")) if array.dtype.itemsize > 1 else array
    return array[:, :, None], MaskKind("png", (picture.height, picture.width), colours=colours)
