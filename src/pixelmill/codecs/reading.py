"""From files and bytes to arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pixelmill import _core, storage
from pixelmill.codecs import programs
from pixelmill.codecs.programs import native_limits
from pixelmill.engine import pillow_decoder as pillow_decoder  # registers the Pillow decoder with the core
from pixelmill.errors import NOTES, ArgumentError, DataError, Event
from pixelmill.types import Limits

Image: TypeAlias = NDArray[Any]  # uint8, or uint16
Data: TypeAlias = bytes | bytearray | memoryview | NDArray[np.uint8]
Path: TypeAlias = str | os.PathLike[str]
Mode: TypeAlias = Literal["RGB", "BGR", "GRAY", "unchanged"]

_ADVICE = {
    "not_an_image": "formats that can be read: JPEG, PNG, BMP, GIF, TIFF, WebP, PNM, JPEG 2000, AVIF, HEIC",
    "truncated": "the data ends early: copy or download it again",
    "corrupt": "the data is damaged: copy or download it again",
    "too_large": "limits=pixelmill.types.Limits(...) allows larger images",
    "unsupported": "convert it to a common kind of JPEG or PNG",
    "io": "the file must exist and be readable",
}


@dataclass(frozen=True)
class ImageInfo:
    """What the header of an image says.

    Attributes:
        format: `JPEG`, `PNG`, `BMP`, `GIF`, `TIFF`, `WebP`, `PNM`, `JPEG 2000`, `AVIF` or `HEIC`.
        height: Rows of the upright image, as `imread` returns it.
        width: Columns of the upright image.
        channels: Channels of the file: 1 or 3, and 2 or 4 with alpha; 4 for CMYK.
        bits: Bits of a sample.
        orientation: The EXIF orientation, 1 to 8.
        has_more_frames: Whether images follow the first one, which is the one that is read.
    """

    format: str
    height: int
    width: int
    channels: int
    bits: int
    orientation: int
    has_more_frames: bool


def imread(
    path: Path,
    mode: Mode = "RGB",
    *,
    size: Sequence[int] | None = None,
    window: Sequence[int] | None = None,
    orientation: bool = True,
    limits: Limits | None = None,
    strict: Sequence[str] = (),
) -> Image:
    """Read an image file.

    Args:
        path: A file, or an address for fsspec such as `s3://bucket/photo.jpg`.
        mode: `"RGB"`, `"BGR"` or `"GRAY"` for uint8; `"unchanged"` keeps the channels of the file, alpha included, and
            returns uint16 for 16 bits.
        size: Height and width of the result. A JPEG is decoded at the smallest of the scales 1, 1/2, 1/4 and 1/8 that
            is not below it, then resampled to it, as any other format is.
        window: Row, column, height and width of the part to decode, in pixels of the upright image.
        orientation: Whether to apply the EXIF orientation.
        limits: What an image may cost; the default of `pixelmill.types.Limits` if omitted.
        strict: Notes to treat as errors, such as `"decoder_warning"`.

    Returns:
        The image: height, width, channels. Gray has one channel.

    Raises:
        DataError: The file cannot be read or decoded; its event says which file, and why.
        ArgumentError: An argument has no meaning, or the window leaves the image.
    """
    if isinstance(path, (bytes, bytearray, memoryview, np.ndarray)):
        raise ArgumentError("imread: expected a path; decode_image decodes bytes")
    name = os.fspath(path)
    request = _Request("imread", mode, size, window, orientation, limits, strict, name)
    if storage.is_remote(name):
        return _decoded(request, storage.read_file(name, limit=(limits or Limits()).encoded_bytes), from_file=False)
    return _decoded(request, os.fsencode(name), from_file=True)


def decode_image(
    data: Data,
    mode: Mode = "RGB",
    *,
    size: Sequence[int] | None = None,
    window: Sequence[int] | None = None,
    orientation: bool = True,
    limits: Limits | None = None,
    strict: Sequence[str] = (),
) -> Image:
    """Decode an image file that is in memory.

    Args:
        data: The bytes of the file: bytes, bytearray, memoryview, or a uint8 array with one axis.
        mode: As for `imread`.
        size: As for `imread`.
        window: As for `imread`.
        orientation: As for `imread`.
        limits: As for `imread`.
        strict: As for `imread`.

    Returns:
        The image: height, width, channels.

    Raises:
        DataError: The data cannot be decoded; its event says why.
        ArgumentError: An argument has no meaning, or the window leaves the image.
    """
    request = _Request("decode_image", mode, size, window, orientation, limits, strict, None)
    return _decoded(request, data, from_file=False)


def image_info(source: Path | Data, *, limits: Limits | None = None) -> ImageInfo:
    """Read the header of an image without decoding it.

    Args:
        source: A path, or the bytes of a file.
        limits: What an image may cost; the default of `pixelmill.types.Limits` if omitted.

    Raises:
        DataError: There is no image, or its header is damaged.
    """
    data, name = source, None
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        data = _file_bytes(name, limits)
    try:
        found, fault, message = _core.image_info(data, native_limits(limits))
    except (TypeError, BufferError) as error:
        raise ArgumentError(f"image_info: expected a path or the bytes of an image: {error}") from None
    if found is None:
        _fail("image_info", fault or "corrupt", message, name)
    format, height, width, channels, bits, orientation, has_more_frames = found
    if orientation > 4:  # it swaps the sides
        height, width = width, height
    return ImageInfo(format, height, width, channels, bits, orientation, has_more_frames)


class _Request(NamedTuple):
    call: str
    mode: str
    size: Sequence[int] | None
    window: Sequence[int] | None
    orientation: bool
    limits: Limits | None
    strict: Sequence[str]
    path: str | None


def _decoded(request: _Request, source: Data, *, from_file: bool) -> Image:
    call, mode, size, window, orientation, limits, strict, path = request
    if mode not in programs.COLORS:
        raise ArgumentError(f"{call}: mode must be one of {', '.join(programs.COLORS)}, got {mode!r}")
    program = programs.decoder(mode, orientation, from_file, size is not None, window is not None)
    if size is not None:
        size = _numbers(call, "size", size, ("height", "width"), least=1)
    if window is not None:
        window = _numbers(call, "window", window, ("row", "column", "height", "width"), least=0)
    try:
        image, fault, notes, message = _core.call_program(program, native_limits(limits), source, window, size)
    except (TypeError, ValueError, BufferError) as error:
        raise ArgumentError(f"{call}: expected the bytes of an image: {error}") from None
    if fault is not None:
        _fail(call, fault, message, path)
    if strict:
        _check_notes(call, notes, message, strict, path)
    made: Image = image
    return made


def _check_notes(call: str, notes: int, message: str, strict: Sequence[str], path: str | None) -> None:
    for kind in strict:
        if kind not in NOTES.values():
            raise ArgumentError(f"{call}: strict: there is no note {kind!r}, only {', '.join(NOTES.values())}")
    for bit, kind in NOTES.items():
        if notes & bit and kind in strict:
            _fail(call, kind, message, path)


def _file_bytes(name: str, limits: Limits | None) -> Data:
    if storage.is_remote(name):
        return storage.read_file(name, limit=(limits or Limits()).encoded_bytes)
    data: Data
    data, fault, _, message = _core.call_program(programs.reader(), native_limits(limits), os.fsencode(name))
    if fault is not None:
        _fail("image_info", fault, message, name)
    return data


def _numbers(call: str, name: str, given: Sequence[int], parts: tuple[str, ...], *, least: int) -> tuple[int, ...]:
    try:
        numbers = tuple(map(index, given))
    except TypeError:
        numbers = ()
    if len(numbers) != len(parts) or not all(least <= number < 1 << 31 for number in numbers):
        what = "positive integers" if least else "integers from 0"
        raise ArgumentError(f"{call}: {name} must be {len(parts)} {what} ({', '.join(parts)}), got {given!r}")
    return numbers


def _fail(call: str, kind: str, message: str, path: str | None) -> NoReturn:
    """Raise DataError for a fault of the decoder, with the file and the next step."""
    if path is not None:
        message = message.removeprefix(f"{path}: ")
    message = message.removeprefix("decode: ")
    if kind == "argument":
        raise ArgumentError(f"{call}: {message}" + (f", {path}" if path else ""))
    event = Event(kind, message, sample=0, epoch=0, path=path, operator=call)
    where = f", {path}" if path else ""
    advice = f"\n  {_ADVICE[kind]}" if kind in _ADVICE else ""
    raise DataError(f"{call}: {kind}: {message}{where}{advice}", (event,))
