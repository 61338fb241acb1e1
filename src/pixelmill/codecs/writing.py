"""From arrays to files and bytes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pixelmill import _core, storage
from pixelmill.codecs import programs
from pixelmill.codecs.programs import native_limits
from pixelmill.errors import ArgumentError, OutputError
from pixelmill.storage.system import replace
from pixelmill.types import Array

Order: TypeAlias = Literal["RGB", "BGR"]
Subsampling: TypeAlias = Literal["4:4:4", "4:2:2", "4:2:0"]

_FORMATS = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png", ".bmp": "bmp"}
_CHANNELS = {"jpeg": (1, 3), "png": (1, 2, 3, 4), "bmp": (1, 3)}


def encode_jpeg(
    image: ArrayLike, *, quality: int = 90, subsampling: Subsampling = "4:2:0", order: Order = "RGB"
) -> bytes:
    """Encode an image as a baseline JPEG.

    Args:
        image: A uint8 array: height, width, and 1 or 3 channels; gray may omit the last axis.
        quality: From 1, the worst, to 100.
        subsampling: How much of the color JPEG keeps: `"4:4:4"` all, `"4:2:2"` half, `"4:2:0"` a quarter.
        order: The order of the channels in `image`.
    """
    _check_jpeg("encode_jpeg", quality, subsampling)
    return _encoded("encode_jpeg", image, ("jpeg", subsampling, 0), order, quality)


def encode_png(image: ArrayLike, *, level: int = 4, order: Order = "RGB") -> bytes:
    """Encode an image as a PNG.

    Args:
        image: A uint8 or uint16 array: height, width, and 1 to 4 channels (gray, gray and alpha, RGB, RGBA); gray may
            omit the last axis.
        level: How hard to compress, from 0, not at all, to 9.
        order: The order of the color channels in `image`; alpha stays last.
    """
    _check_png("encode_png", level)
    return _encoded("encode_png", image, ("png", "4:4:4", level), order, 0)


def imwrite(
    path: str | os.PathLike[str],
    image: ArrayLike,
    *,
    quality: int = 90,
    subsampling: Subsampling = "4:2:0",
    level: int = 4,
    order: Order = "RGB",
) -> None:
    """Write an image file. The extension decides its format: `.jpg`, `.jpeg`, `.png` or `.bmp`.

    The file appears under its name when it is complete; until then, and if anything fails, an older file stays.

    Args:
        path: The file on this machine.
        image: As for `encode_jpeg` and `encode_png`; BMP takes what JPEG takes.
        quality: Of a JPEG, as for `encode_jpeg`.
        subsampling: Of a JPEG, as for `encode_jpeg`.
        level: Of a PNG, as for `encode_png`.
        order: The order of the color channels in `image`.

    Raises:
        OutputError: The file cannot be written.
        ArgumentError: An argument has no meaning, or the format cannot hold the image.
    """
    name = os.fspath(path)
    format = _FORMATS.get(Path(name).suffix.lower())
    if format is None:
        raise ArgumentError(f"imwrite: the extension must be one of {', '.join(_FORMATS)}, got {name!r}")
    if storage.is_remote(name):
        raise ArgumentError(f"imwrite: expected a file on this machine, got {name!r}")
    _check_jpeg("imwrite", quality, subsampling)
    _check_png("imwrite", level)
    encoding = (format, subsampling, level)
    _write(name, _encoded("imwrite", image, encoding, order, quality))


def _encoded(call: str, image: ArrayLike, encoding: tuple[str, str, int], order: str, quality: int) -> bytes:
    array = _checked(call, image, encoding[0])
    if order not in get_args(Order):
        raise ArgumentError(f"{call}: order must be one of {', '.join(get_args(Order))}, got {order!r}")
    if order == "BGR" and array.shape[2] > 2:
        array = array[..., [2, 1, 0, 3][: array.shape[2]]]
    made: NDArray[np.uint8]
    made, fault, _, message = _core.call_program(programs.encoder(*encoding), native_limits(None), array, (quality,))
    if fault is not None:
        raise ArgumentError(f"{call}: {message.removeprefix('encoders.image: ')}")
    return made.tobytes()


def _checked(call: str, image: ArrayLike, format: str) -> Array:
    array = np.asarray(image)
    if array.ndim == 2:
        array = array[:, :, None]
    types = ("uint8", "uint16") if format == "png" else ("uint8",)
    channels = _CHANNELS[format]
    if array.dtype.name not in types or array.ndim != 3 or array.shape[2] not in channels or array.size == 0:
        raise ArgumentError(
            f"{call}: {format.upper()} holds {' or '.join(types)} of shape (height, width, channels) with "
            f"{', '.join(map(str, channels))} channels, got {array.dtype} {np.shape(image)}"
        )
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _check_jpeg(call: str, quality: int, subsampling: str) -> None:
    if not 1 <= quality <= 100:
        raise ArgumentError(f"{call}: quality must be from 1 to 100, got {quality}")
    if subsampling not in get_args(Subsampling):
        raise ArgumentError(
            f"{call}: subsampling must be one of {', '.join(get_args(Subsampling))}, got {subsampling!r}"
        )


def _check_png(call: str, level: int) -> None:
    if not 0 <= level <= 9:
        raise ArgumentError(f"{call}: level must be from 0 to 9, got {level}")


def _write(name: str, data: bytes) -> None:
    """Write to another name first, so that a reader never sees half a file; a symbolic link stays one."""
    target = Path(os.path.realpath(name))
    temporary = target.with_name(f".{target.name}.{os.urandom(6).hex()}.tmp")
    try:
        try:
            temporary.write_bytes(data)
            replace(temporary, target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(error.errno, f"imwrite: {error.strerror}", name) from None
