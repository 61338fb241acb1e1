"""Encode images anew: another size, format or quality. Boxes are shares of the image and stay; masks follow."""

from __future__ import annotations

import io
import re
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PIL import Image, ImageOps

from pixelmill.conversion import native_encoding
from pixelmill.errors import ArgumentError, DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.sample import Sample, image_type, is_cut

FORMATS = {"jpeg": "jpg", "png": "png", "webp": "webp", "bmp": "bmp", "npy": "npy"}
MAX_PIXELS = 1 << 27
_TYPES = {"jpg": "jpeg", "png": "png", "webp": "webp", "bmp": "bmp", "npy": "npy"}
_QUALITY = 95
_SIZE = re.compile(r"(\d+)(?:x(\d+))?")


@dataclass(frozen=True)
class Encoding:
    """How images are encoded anew; without any wish they stay byte for byte.

    Attributes:
        resize: Height and width; one number is the length of the shorter side.
        max_side: Shrink larger images until their longer side has this length.
        format: One of `FORMATS`; the format stays without it.
        quality: For JPEG and WebP, 1 to 100; 95 without it.
    """

    resize: tuple[int, ...] | None = None
    max_side: int | None = None
    format: str | None = None
    quality: int | None = None

    def __post_init__(self) -> None:
        if self.resize is not None and (len(self.resize) not in (1, 2) or not all(1 <= n < 65536 for n in self.resize)):
            raise ArgumentError(f"resize: one or two lengths from 1 to 65535, got {self.resize}")
        if self.max_side is not None and not 1 <= self.max_side < 65536:
            raise ArgumentError(f"max_side: a length from 1 to 65535, got {self.max_side}")
        if self.format is not None and self.format not in FORMATS:
            raise ArgumentError(f"format: one of {', '.join(FORMATS)}, got {self.format!r}")
        if self.quality is not None and not 1 <= self.quality <= 100:
            raise ArgumentError(f"quality: a number from 1 to 100, got {self.quality}")

    @property
    def is_needed(self) -> bool:
        """Whether anything is to be done at all."""
        return any(wish is not None for wish in (self.resize, self.max_side, self.format, self.quality))

    def apply(self, sample: Sample) -> Sample:
        """Encode the image of a sample anew, and its mask if the size changes; DataError if it cannot be decoded."""
        if not self.is_needed:
            return sample
        kind = image_type(sample.image) or ""
        format = self.format or _TYPES.get(kind, "png")
        ours = None if kind == "npy" else native_encoding.upright_size(sample.image, _open(sample.image), format)
        before = ours or decode(sample.image).size
        size = self._size(before)
        if size == before and self.quality is None and self.resize is None and format == _TYPES.get(kind):
            decode(sample.image)  # it stays as it is, if it is whole
            return sample
        image = self._encoded(sample.image, None if size == before else size, format, by_us=ours is not None)
        extension = sample.extension if format == _TYPES.get(kind) else FORMATS[format]
        mask = sample.mask
        if mask is not None and size != before:
            mask = _resized_mask(mask, size, before=before)
        return replace(sample, image=image, extension=extension, mask=mask)

    def _encoded(self, data: bytes, size: tuple[int, int] | None, format: str, *, by_us: bool) -> bytes:
        if by_us:
            return native_encoding.encode(data, size=size, format=format, quality=self.quality or _QUALITY)
        picture = decode(data)
        return encode(_resized(picture, size or picture.size), format, self.quality)

    def _size(self, size: tuple[int, int]) -> tuple[int, int]:
        """Give the new width and height."""
        width, height = size
        if self.resize is not None:
            if len(self.resize) == 2:
                height, width = self.resize
            else:
                scale = self.resize[0] / min(width, height)
                width, height = max(1, round(width * scale)), max(1, round(height * scale))
        if self.max_side is not None and max(width, height) > self.max_side:
            scale = self.max_side / max(width, height)
            width, height = max(1, round(width * scale)), max(1, round(height * scale))
        return width, height


def parse_size(text: str) -> tuple[int, ...]:
    """Read `224` or `224x256`, height first; ValueError for anything else."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return tuple(int(number) for number in found.groups() if number is not None)


def image_size(data: bytes) -> tuple[int, int]:
    """Give height and width from the header of an encoded image; DataError if it has none."""
    if image_type(data) == "npy":
        shape = npy.read_header(data).shape
        return (shape[0], shape[1]) if len(shape) >= 2 else (1, shape[0] if shape else 1)
    picture = _open(data)
    return picture.height, picture.width


def decode(data: bytes) -> Image.Image:
    """Decode an image, upright; DataError says why it cannot be."""
    if image_type(data) == "npy":
        array = npy.decode(data)
        if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3, 4)):
            raise DataError(f"an array of {array.dtype} with shape {array.shape} is not an image")
        return Image.fromarray(array[:, :, 0] if array.ndim == 3 and array.shape[2] == 1 else array)
    picture = _open(data)
    try:
        picture.load()
        return ImageOps.exif_transpose(picture)
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, Image.DecompressionBombError) as error:
        kind = "truncated" if "truncated" in str(error) or is_cut(data) else "corrupt"
        raise _refused(kind, f"the {picture.format} image cannot be decoded: {error}") from None


def encode(picture: Image.Image, format: str, quality: int | None) -> bytes:
    """Encode an image; the same pixels always give the same bytes."""
    if format == "npy":
        array = np.asarray(_eight_bits(picture))
        return npy.encode(array if array.ndim == 3 else array[:, :, None])
    options: dict[str, Any] = {}
    if format in ("jpeg", "webp"):
        options["quality"] = quality or _QUALITY
    if format in ("jpeg", "bmp"):
        picture = _eight_bits(picture)
    stream = io.BytesIO()
    picture.save(stream, format, **options)
    return stream.getvalue()


def _open(data: bytes) -> Image.Image:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            picture: Image.Image = Image.open(io.BytesIO(data))
    except Image.DecompressionBombError as error:
        raise _refused("too_large", f"too large: {error}") from None
    except (OSError, ValueError, SyntaxError, EOFError, IndexError) as error:
        if image_type(data) is None:
            what = f"it begins with {data[:16]!r}" if data else "it is empty"
            raise _refused("not_an_image", f"not an image: {what}") from None
        kind = "truncated" if is_cut(data) else "corrupt"
        raise _refused(kind, f"the header of the {image_type(data)} image cannot be read: {error}") from None
    if picture.width * picture.height > MAX_PIXELS:
        message = f"too large: {picture.height} x {picture.width} pixels, the limit is {MAX_PIXELS}"
        raise _refused("too_large", message)
    return picture


def _refused(kind: str, message: str) -> DataError:
    return DataError(message, (Event(kind, message, sample=0, epoch=0),))


def _eight_bits(picture: Image.Image) -> Image.Image:
    if picture.mode in ("L", "RGB"):
        return picture
    if picture.mode.startswith("I"):
        return Image.fromarray((np.asarray(picture).astype(np.uint32) >> 8).astype(np.uint8))
    return picture.convert("RGB")


def _resized(picture: Image.Image, size: tuple[int, int]) -> Image.Image:
    if size == picture.size:
        return picture
    if picture.mode in ("P", "1"):
        picture = picture.convert("RGB")
    return picture.resize(size, Image.Resampling.LANCZOS)


def _resized_mask(mask: bytes, size: tuple[int, int], *, before: tuple[int, int]) -> bytes:
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
