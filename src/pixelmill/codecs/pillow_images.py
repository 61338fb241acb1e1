"""Images and masks through Pillow: open, decode, resize and encode. Every failure is a DataError that says why."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from PIL import Image, ImageOps

from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.optional_images import TITLES, is_readable, open_pillow, way_in
from pixelmill.formats.sample import image_type, is_cut, pillow_message

MAX_PIXELS = 1 << 27


def image_size(data: bytes) -> tuple[int, int]:
    """Return height and width from the header of an encoded image. Raises DataError if it cannot be read."""
    if image_type(data) == "npy":
        shape = npy.read_header(data).shape
        return (shape[0], shape[1]) if len(shape) >= 2 else (1, shape[0] if shape else 1)
    image = open_header(data)
    return image.height, image.width


def decode(data: bytes) -> Image.Image:
    """Decode an image and apply its EXIF orientation. Raises DataError if it cannot be decoded."""
    if image_type(data) == "npy":
        array = npy.decode(data)
        if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
            raise DataError(f"an array of {array.dtype} with shape {array.shape} is not an image")
        return Image.fromarray(array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array)
    image = open_header(data)
    try:
        with _quiet():
            image.load()
            return ImageOps.exif_transpose(image)
    except Exception as error:  # Pillow's plugins raise any kind of error for damaged files
        kind = "truncated" if "truncated" in str(error) or is_cut(data) else "corrupt"
        raise _refused(kind, f"the {image.format} image cannot be decoded: {error}") from None


def reencode(data: bytes, *, size: tuple[int, int] | None, format: str, quality: int) -> bytes:
    """Decode an image, resize it to (width, height) unless None, and encode it."""
    image = decode(data)
    if size is not None and size != image.size:
        image = image.convert("RGB") if image.mode in ("P", "1") else image
        image = image.resize(size, Image.Resampling.LANCZOS)
    return encode(image, format, quality)


def encode(image: Image.Image, format: str, quality: int) -> bytes:
    """Encode an image; the same pixels always give the same bytes."""
    if format == "npy":
        array = np.asarray(_eight_bits(image))
        return npy.encode(array if array.ndim == 3 else array[:, :, None])
    options: dict[str, int | bool] = {}
    if format in ("jpeg", "webp"):
        options["quality"] = quality
    if format in ("jpeg", "bmp"):
        image = _eight_bits(image)
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def open_header(data: bytes) -> Image.Image:
    """Open an image without decoding its pixels. Raises DataError if its header cannot be read."""
    try:
        with _quiet():
            image = open_pillow(data)
    except Image.DecompressionBombError as error:
        raise _refused("too_large", f"too large: {error}") from None
    except Exception as error:  # Pillow's plugins raise any kind of error for damaged files
        if image_type(data) is None:
            what = f"it begins with {data[:16]!r}" if data else "it is empty"
            raise _refused("not_an_image", f"not an image: {what}") from None
        if image_type(data) in TITLES and not is_readable(str(image_type(data))):
            raise _refused("unsupported", f"{TITLES[str(image_type(data))]}; {way_in(str(image_type(data)))}") from None
        kind = "truncated" if is_cut(data) else "corrupt"
        raise _refused(
            kind, f"the header of the {image_type(data)} image cannot be read: {pillow_message(error)}"
        ) from None
    if image.width * image.height > MAX_PIXELS:
        message = f"too large: {image.height} x {image.width} pixels, the limit is {MAX_PIXELS}"
        raise _refused("too_large", message)
    return image


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Pillow's warnings about what is checked here or found while decoding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _refused(kind: str, message: str) -> DataError:
    return DataError(message, (Event(kind, message, sample=0, epoch=0),))


def _eight_bits(image: Image.Image) -> Image.Image:
    if image.mode in ("L", "RGB"):
        return image
    if image.mode.startswith("I"):
        return Image.fromarray((np.asarray(image).astype(np.uint32) >> 8).astype(np.uint8))
    return image.convert("RGB")


def resize_mask(mask: bytes, size: tuple[int, int], *, before: tuple[int, int]) -> bytes:
    """Resize a mask to (width, height) by nearest neighbor: class numbers cannot be interpolated."""
    if image_type(mask) == "npy":
        array = npy.decode(mask)
        _check_mask_size((array.shape[1], array.shape[0]) if array.ndim >= 2 else (0, 0), before)
        rows = np.minimum((np.arange(size[1]) + 0.5) * array.shape[0] / size[1], array.shape[0] - 1).astype(np.intp)
        columns = np.minimum((np.arange(size[0]) + 0.5) * array.shape[1] / size[0], array.shape[1] - 1).astype(np.intp)
        return npy.encode(array[rows][:, columns])
    image = decode(mask)
    _check_mask_size(image.size, before)
    stream = io.BytesIO()
    image.resize(size, Image.Resampling.NEAREST).save(stream, "png")
    return stream.getvalue()


def _check_mask_size(mask: tuple[int, int], image: tuple[int, int]) -> None:
    if mask != image:
        message = f"the mask has {mask[1]} x {mask[0]} pixels, its image {image[1]} x {image[0]}"
        raise _refused("corrupt", message)
