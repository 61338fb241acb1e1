"""Images and masks by Pillow: opened, decoded, resized and encoded, each failure as a DataError that says why."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.sample import image_type, is_cut

MAX_PIXELS = 1 << 27


def image_size(data: bytes) -> tuple[int, int]:
    """Give height and width from the header of an encoded image; DataError if it has none."""
    if image_type(data) == "npy":
        shape = npy.read_header(data).shape
        return (shape[0], shape[1]) if len(shape) >= 2 else (1, shape[0] if shape else 1)
    picture = opened(data)
    return picture.height, picture.width


def decode(data: bytes) -> Image.Image:
    """Decode an image, upright; DataError says why it cannot be."""
    if image_type(data) == "npy":
        array = npy.decode(data)
        if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
            raise DataError(f"an array of {array.dtype} with shape {array.shape} is not an image")
        return Image.fromarray(array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array)
    picture = opened(data)
    try:
        with _quiet():
            picture.load()
            return ImageOps.exif_transpose(picture)
    except Exception as error:  # Pillow's plugins raise whatever they like on damaged files
        kind = "truncated" if "truncated" in str(error) or is_cut(data) else "corrupt"
        raise _refused(kind, f"the {picture.format} image cannot be decoded: {error}") from None


def encode(picture: Image.Image, format: str, quality: int) -> bytes:
    """Encode an image; the same pixels always give the same bytes."""
    if format == "npy":
        array = np.asarray(_eight_bits(picture))
        return npy.encode(array if array.ndim == 3 else array[:, :, None])
    options: dict[str, Any] = {}
    if format in ("jpeg", "webp"):
        options["quality"] = quality
    if format in ("jpeg", "bmp"):
        picture = _eight_bits(picture)
    stream = io.BytesIO()
    picture.save(stream, format, **options)
    return stream.getvalue()


def opened(data: bytes) -> Image.Image:
    """Open an image by its header; DataError says why it cannot be."""
    try:
        with _quiet():
            picture: Image.Image = Image.open(io.BytesIO(data))
    except Image.DecompressionBombError as error:
        raise _refused("too_large", f"too large: {error}") from None
    except Exception as error:  # Pillow's plugins raise whatever they like on damaged files
        if image_type(data) is None:
            what = f"it begins with {data[:16]!r}" if data else "it is empty"
            raise _refused("not_an_image", f"not an image: {what}") from None
        kind = "truncated" if is_cut(data) else "corrupt"
        raise _refused(kind, f"the header of the {image_type(data)} image cannot be read: {error}") from None
    if picture.width * picture.height > MAX_PIXELS:
        message = f"too large: {picture.height} x {picture.width} pixels, the limit is {MAX_PIXELS}"
        raise _refused("too_large", message)
    return picture


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Pillow from warning about what is checked here, or found while decoding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _refused(kind: str, message: str) -> DataError:
    return DataError(message, (Event(kind, message, sample=0, epoch=0),))


def _eight_bits(picture: Image.Image) -> Image.Image:
    if picture.mode in ("L", "RGB"):
        return picture
    if picture.mode.startswith("I"):
        return Image.fromarray((np.asarray(picture).astype(np.uint32) >> 8).astype(np.uint8))
    return picture.convert("RGB")


def resized(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Give an image another width and height."""
    if size == picture.size:
        return picture
    if picture.mode in ("P", "1"):
        picture = picture.convert("RGB")
    return picture.resize(size, Image.Resampling.LANCZOS)


def resized_mask(mask: bytes, size: tuple[int, int], *, before: tuple[int, int]) -> bytes:
    """Take the nearest value for each place: classes cannot be mixed."""
    if image_type(mask) == "npy":
        array = npy.decode(mask)
        _check_mask_size((array.shape[1], array.shape[0]) if array.ndim >= 2 else (0, 0), before)
        rows = np.minimum((np.arange(size[1]) + 0.5) * array.shape[0] / size[1], array.shape[0] - 1).astype(np.intp)
        columns = np.minimum((np.arange(size[0]) + 0.5) * array.shape[1] / size[0], array.shape[1] - 1).astype(np.intp)
        return npy.encode(array[rows][:, columns])
    picture = decode(mask)
    _check_mask_size(picture.size, before)
    stream = io.BytesIO()
    picture.resize(size, Image.Resampling.NEAREST).save(stream, "png")
    return stream.getvalue()


def _check_mask_size(mask: tuple[int, int], image: tuple[int, int]) -> None:
    if mask != image:
        message = f"the mask has {mask[1]} x {mask[0]} pixels, its image {image[1]} x {image[0]}"
        raise _refused("corrupt", message)
