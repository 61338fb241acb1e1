"""Thumbnails of samples for previews: a small image with boxes and mask, or what is wrong with the sample."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from PIL import Image

from pixelmill.codecs import encode_jpeg, encode_png
from pixelmill.codecs.pillow_images import MAX_PIXELS
from pixelmill.dataset_jobs import sample_annotations
from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.sample import Boxes, Sample, format_label, image_type
from pixelmill.inspect import decoding
from pixelmill.inspect.image_measures import Measures, measure
from pixelmill.inspect.overlays import mask_overlay
from pixelmill.inspect.sample_selection import box_names
from pixelmill.types import Array

_LONGEST_TEXT = 200
_CHANNELS = (1, 2, 3, 4)
_MANY_CLASSES = 65535
_QUALITY = 85
_TINY = 128 * 128  # images of so few pixels are kept as they are: as PNG
_LEAST_MEASURED = 512  # JPEGs are decoded for pages at a scale that leaves the longer side at least so long


@dataclass(frozen=True, eq=False)
class PackedImage:
    """An encoded thumbnail.

    Attributes:
        kind: Its format.
        data: The file.
        height: Its height.
        width: Its width.
        mask: The overlay of the mask, a PNG file of the same size; None if there is nothing to draw.
    """

    kind: Literal["jpeg", "png"]
    data: bytes
    height: int
    width: int
    mask: bytes | None = None


@dataclass(frozen=True, eq=False)
class Thumbnail:
    """One cell of a preview.

    Attributes:
        number: Number of the sample; -1 for a damaged piece of the container.
        variant: 0 for the original sample, else the number of the variant.
        key: The name of the sample.
        label: Its class name or labels as text.
        size: Height and width; None if it could not be decoded.
        note: A description of the values if they are not ordinary pixels.
        image: The image, reduced to the size asked for if it is larger; None in a page.
        mask: The class numbers, in the size of `image`.
        mask_classes: The class numbers that occur in the whole mask.
        boxes: Its boxes.
        box_names: The class names of the boxes if the sample has them, else empty.
        problem: What is wrong.
        bytes: Size of the encoded image.
        split: The part of the dataset it belongs to, such as `train`; empty if its path does not say.
        packed: The image and its mask, encoded for a page.
        measures: Measures of the image, for a page.
    """

    number: int
    variant: int = 0
    key: str = ""
    label: str = ""
    size: tuple[int, int] | None = None
    note: str = ""
    image: Image.Image | None = None
    mask: Array | None = None
    mask_classes: tuple[int, ...] = ()
    boxes: Boxes | None = None
    box_names: tuple[str, ...] = ()
    problem: Event | None = None
    bytes: int = 0
    split: str = ""
    packed: PackedImage | None = None
    measures: Measures | None = None

    @property
    def shown_size(self) -> tuple[int, int] | None:
        """Height and width of the reduced image; None if there is none."""
        if self.packed is not None:
            return self.packed.height, self.packed.width
        return None if self.image is None else (self.image.height, self.image.width)


def page_thumbnail(sample: Sample, number: int, *, variant: int, side: int, event: Event) -> Thumbnail:
    """Make the thumbnail of a sample, measure the image, and encode both image and mask.

    Large JPEGs are decoded at a reduced scale, so measures of sharpness and contrast are those of the reduced image.
    """
    cell = thumbnail_of(sample, number, variant=variant, side=side, event=event, measured=True)
    if cell.image is None:
        return cell
    overlay = None if cell.mask is None or not cell.mask.any() else encode_png(mask_overlay(cell.mask))
    is_whole = cell.size == (cell.image.height, cell.image.width)
    is_exact = cell.image.mode == "RGBA" or (is_whole and cell.image.width * cell.image.height <= _TINY)
    pixels = np.asarray(cell.image)
    data = encode_png(pixels) if is_exact else encode_jpeg(pixels, quality=_QUALITY)
    packed = PackedImage("png" if is_exact else "jpeg", data, cell.image.height, cell.image.width, overlay)
    return replace(cell, image=None, mask=None, packed=packed)


def thumbnail_of(
    sample: Sample, number: int, *, variant: int, side: int, event: Event, measured: bool = False
) -> Thumbnail:
    """Decode a sample and reduce it to at most `side` pixels in width and height.

    Args:
        sample: The sample.
        number: Its number.
        variant: 0 for the original sample.
        side: The longest side of the result.
        event: The location of the sample, for error reports.
        measured: Whether to measure the image; JPEGs are then decoded at a reduced scale if they are large.
    """
    cell = Thumbnail(number, variant, readable(sample.key), label_of(sample), bytes=len(sample.image))
    try:
        image, note, size = _opened(sample.image, max(2 * side, _LEAST_MEASURED) if measured else None)
    except DataError as error:
        return replace(cell, problem=_found(error, event))
    cell = replace(cell, size=size, note=note, image=_reduced(image, side, gap=1.5 if measured else 3.0))
    if measured:
        cell = replace(cell, measures=measure(image))
    try:
        if sample.boxes is not None:
            sample_annotations.check_boxes(sample.boxes)
            cell = replace(cell, boxes=sample.boxes, box_names=tuple(readable(name) for name in box_names(sample)))
        if sample.mask is not None:
            numbers = class_numbers(sample.mask)
            cell = replace(cell, mask=_reduced_mask(numbers, cell), mask_classes=_occurring(numbers))
    except DataError as error:
        return replace(cell, problem=_found(error, event))
    return cell


def label_of(sample: Sample) -> str:
    """Return the class name or the labels of a sample as text."""
    numbers = " ".join(format_label(label) for label in sample.labels[:8]) + (" …" if len(sample.labels) > 8 else "")
    return readable(sample.class_name) if sample.class_name else numbers


def readable(text: str) -> str:
    """Return a text with control characters and other unprintable ones replaced, and not too long."""
    short = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT // 2]}…{text[-_LONGEST_TEXT // 2 :]}"
    return "".join(letter if letter.isprintable() else "?" for letter in short)


def displayable(data: bytes) -> tuple[Image.Image, str]:
    """Decode an image or an array into RGB or RGBA; also return a note on its values if they are not bytes."""
    if image_type(data) == "npy":
        return _shown_array(npy.decode(data))
    pixels = decoding.decode(data)
    more = decoding.decode_beyond_rgb(data)
    if more is None:
        return Image.fromarray(pixels), ""
    if more.mode == "RGBA":
        return more, ""
    deep = np.asarray(more)
    # Older releases of Pillow return the 16 bits of PNG files as int32.
    return _shown_array(deep.astype(np.uint16) if image_type(data) == "png" and more.mode == "I" else deep)


def _opened(data: bytes, least: int | None) -> tuple[Image.Image, str, tuple[int, int]]:
    """Decode an image; also return a note and its height and width. Reduce JPEGs, but not below `least` pixels."""
    reduced = None if least is None else decoding.decode_reduced(data, least=least)
    if reduced is not None:
        pixels, size = reduced
        return Image.fromarray(pixels), "", size
    image, note = displayable(data)
    return image, note, (image.height, image.width)


def class_numbers(data: bytes) -> Array:
    """Return the class numbers of a mask, two-dimensional."""
    if image_type(data) != "npy":
        try:
            decoding.decode(data)  # finds wrong checksums, which Pillow ignores
        except DataError as error:
            events = tuple(replace(event, message=f"mask: {event.message}") for event in error.events)
            raise DataError(f"mask: {error}", events) from None
    numbers = sample_annotations.class_numbers(data)
    if numbers.dtype.kind not in "biu":
        raise DataError(f"a mask of {numbers.dtype} does not hold class numbers, which are whole")
    return numbers.astype(np.int64)


def _found(error: DataError, event: Event) -> Event:
    """Return what is wrong, with the location of the sample."""
    if not error.events:
        return replace(event, kind="corrupt", message=str(error))
    return replace(event, kind=error.events[0].kind, message=error.events[0].message)


def _reduced(image: Image.Image, side: int, *, gap: float) -> Image.Image:
    scale = side / max(image.size)
    if scale >= 1:
        return image
    size = max(round(image.width * scale), 1), max(round(image.height * scale), 1)
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=gap)


def _reduced_mask(mask: Array, cell: Thumbnail) -> Array:
    """Reduce a mask to the size of the thumbnail by nearest neighbor."""
    if mask.shape != cell.size or cell.image is None:
        height, width = cell.size or (0, 0)
        raise DataError(f"the mask has {mask.shape[0]} x {mask.shape[1]} pixels, its image {height} x {width}")
    shown = cell.image.height, cell.image.width
    rows, columns = (
        np.minimum((np.arange(new) + 0.5) * old / new, old - 1).astype(np.intp)
        for new, old in zip(shown, mask.shape, strict=True)
    )
    small: Array = mask[rows][:, columns]
    return small


def _occurring(numbers: Array) -> tuple[int, ...]:
    if numbers.min() >= 0 and numbers.max() <= _MANY_CLASSES:  # counting is quicker than sorting
        return tuple(np.flatnonzero(np.bincount(numbers.reshape(-1))).tolist())
    return tuple(np.unique(numbers).tolist())


def _shown_array(array: Array) -> tuple[Image.Image, str]:
    shape = array.shape
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim == 3 and shape[0] in _CHANNELS and array.shape[2] not in _CHANNELS:
        array = array.transpose(1, 2, 0)
    if array.ndim != 3 or 0 in array.shape:
        raise DataError(f"an array of shape {shape} is not an image")
    if array.shape[0] * array.shape[1] > MAX_PIXELS:
        raise DataError(f"too large: an array of shape {shape}, the limit is {MAX_PIXELS} pixels")
    channels = array.shape[2]
    notes = [f"3 of {channels} channels"] if channels > 4 else ["1 of 2 channels"] if channels == 2 else []
    array = array[:, :, :1] if channels == 2 else array[:, :, :3] if channels > 4 else array
    if array.dtype != np.uint8:
        array, about = _as_bytes(array)
        notes.insert(0, about)
    pixels = np.ascontiguousarray(array[:, :, 0] if array.shape[2] == 1 else array)
    image = Image.fromarray(pixels)
    return image if image.mode in ("RGB", "RGBA") else image.convert("RGB"), ", ".join(notes)


def _as_bytes(array: Array) -> tuple[Array, str]:
    """Scale values to bytes: from 0 to 1 if they are in that range, else from the lowest to the highest."""
    name = array.dtype.name
    with np.errstate(all="ignore"):
        values = (np.abs(array) if array.dtype.kind == "c" else array).astype(np.float64)
    finite = np.isfinite(values)
    low, high = (float(values.min(where=finite, initial=np.inf)), float(values.max(where=finite, initial=-np.inf)))
    if not finite.any():
        raise DataError(f"an array of {name} without a finite number is not an image")
    digits = ".4g" if array.dtype.kind in "fc" else ".0f"
    about = f"{name}, {low:{digits}} to {high:{digits}}"
    if array.dtype.kind in "bf" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    values = np.where(finite, values, low)
    with np.errstate(all="ignore"):
        scaled = (values / 2 - low / 2) / max(high / 2 - low / 2, 1e-300) * 255  # halves: no overflow of the difference
    return np.clip(np.rint(np.nan_to_num(scaled)), 0, 255).astype(np.uint8), about
