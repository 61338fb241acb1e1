"""What a preview shows of one sample: its picture made small, with boxes and mask, or what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PIL import Image

from pixelmill.augmentation import masks
from pixelmill.augmentation.samples import check_boxes
from pixelmill.conversion.pictures import MAX_PIXELS
from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.sample import Boxes, Sample, format_label, image_type
from pixelmill.inspect import decoding
from pixelmill.inspect.choice import box_names

Array = np.ndarray[Any, Any]
_LONGEST_TEXT = 200
_CHANNELS = (1, 2, 3, 4)
_MANY_CLASSES = 65535


@dataclass(frozen=True, eq=False)
class Look:
    """One cell of a preview.

    Attributes:
        number: The sample; -1 for a piece of the container that is none.
        variant: 0 for the sample as it is, else which of its variants.
        key: The name of the sample.
        label: Its class or its labels in words.
        size: Height and width; None where it could not be decoded.
        note: What the values are where they are not ordinary pixels.
        picture: The picture, made smaller where it is larger than asked for.
        mask: The numbers of its classes, as large as `picture`.
        mask_classes: The numbers that occur in the whole mask.
        boxes: Its boxes.
        box_names: The names of their classes as the sample has them; empty where it has none.
        problem: What is wrong.
    """

    number: int
    variant: int = 0
    key: str = ""
    label: str = ""
    size: tuple[int, int] | None = None
    note: str = ""
    picture: Image.Image | None = None
    mask: Array | None = None
    mask_classes: tuple[int, ...] = ()
    boxes: Boxes | None = None
    box_names: tuple[str, ...] = ()
    problem: Event | None = None


def look_at(sample: Sample, number: int, *, variant: int, side: int, event: Event) -> Look:
    """Decode a sample and make it at most `side` wide and high.

    Args:
        sample: The sample.
        number: Its number.
        variant: 0 for the sample as it is.
        side: The longest side of the result.
        event: Where the sample is, for what may be wrong with it.
    """
    look = Look(number, variant, readable(sample.key), label_of(sample))
    try:
        picture, note = displayable(sample.image)
    except DataError as error:
        return replace(look, problem=_found(error, event))
    look = replace(look, size=(picture.height, picture.width), note=note, picture=_smaller(picture, side))
    try:
        if sample.boxes is not None:
            check_boxes(sample.boxes)
            look = replace(look, boxes=sample.boxes, box_names=tuple(readable(name) for name in box_names(sample)))
        if sample.mask is not None:
            numbers = class_numbers(sample.mask)
            look = replace(look, mask=_fitting(numbers, look), mask_classes=_occurring(numbers))
    except DataError as error:
        return replace(look, problem=_found(error, event))
    return look


def label_of(sample: Sample) -> str:
    """Give the class or the labels of a sample in words."""
    numbers = " ".join(format_label(label) for label in sample.labels[:8]) + (" …" if len(sample.labels) > 8 else "")
    return readable(sample.class_name) if sample.class_name else numbers


def readable(text: str) -> str:
    """Give a text for people: signs that cannot be seen, or change the order of others, are replaced."""
    short = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT // 2]}…{text[-_LONGEST_TEXT // 2 :]}"
    return "".join(letter if letter.isprintable() else "?" for letter in short)


def displayable(data: bytes) -> tuple[Image.Image, str]:
    """Decode an image or an array into RGB or RGBA, upright; gives what the values were where they are not bytes."""
    if image_type(data) == "npy":
        return _shown_array(npy.decode(data))
    pixels = decoding.decode(data)
    more = decoding.beyond_rgb(data)
    if more is None:
        return Image.fromarray(pixels), ""
    return (more, "") if more.mode == "RGBA" else _shown_array(np.asarray(more))


def class_numbers(data: bytes) -> Array:
    """Give the numbers of classes that a mask holds, two-dimensional."""
    if image_type(data) != "npy":
        try:
            decoding.decode(data)  # finds wrong checksums, which Pillow passes over
        except DataError as error:
            events = tuple(replace(event, message=f"mask: {event.message}") for event in error.events)
            raise DataError(f"mask: {error}", events) from None
    numbers = masks.class_numbers(data)
    if numbers.dtype.kind not in "biu":
        raise DataError(f"a mask of {numbers.dtype} does not hold class numbers, which are whole")
    return numbers.astype(np.int64)


def _found(error: DataError, event: Event) -> Event:
    """Say what is wrong, at the place of the sample."""
    if not error.events:
        return replace(event, kind="corrupt", message=str(error))
    return replace(event, kind=error.events[0].kind, message=error.events[0].message)


def _smaller(picture: Image.Image, side: int) -> Image.Image:
    scale = side / max(picture.size)
    if scale >= 1:
        return picture
    size = max(round(picture.width * scale), 1), max(round(picture.height * scale), 1)
    return picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)


def _fitting(mask: Array, look: Look) -> Array:
    """Make a mask as large as the small picture: the class nearest to each place."""
    if mask.shape != look.size or look.picture is None:
        height, width = look.size or (0, 0)
        raise DataError(f"the mask has {mask.shape[0]} x {mask.shape[1]} pixels, its image {height} x {width}")
    shown = look.picture.height, look.picture.width
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
        raise DataError(f"an array of shape {shape} is not a picture")
    if array.shape[0] * array.shape[1] > MAX_PIXELS:
        raise DataError(f"too large: an array of shape {shape}, the limit is {MAX_PIXELS} pixels")
    channels = array.shape[2]
    notes = [f"3 of {channels} channels"] if channels > 4 else ["1 of 2 channels"] if channels == 2 else []
    array = array[:, :, :1] if channels == 2 else array[:, :, :3] if channels > 4 else array
    if array.dtype != np.uint8:
        array, about = _as_bytes(array)
        notes.insert(0, about)
    pixels = np.ascontiguousarray(array[:, :, 0] if array.shape[2] == 1 else array)
    picture = Image.fromarray(pixels)
    return picture if picture.mode in ("RGB", "RGBA") else picture.convert("RGB"), ", ".join(notes)


def _as_bytes(array: Array) -> tuple[Array, str]:
    """Bring values to bytes: shares from 0 to 1 as they are meant, others from the lowest to the highest there is."""
    name = array.dtype.name
    with np.errstate(all="ignore"):
        values = (np.abs(array) if array.dtype.kind == "c" else array).astype(np.float64)
    finite = np.isfinite(values)
    low, high = (float(values.min(where=finite, initial=np.inf)), float(values.max(where=finite, initial=-np.inf)))
    if not finite.any():
        raise DataError(f"an array of {name} without a finite number is not a picture")
    digits = ".4g" if array.dtype.kind in "fc" else ".0f"
    about = f"{name}, {low:{digits}} to {high:{digits}}"
    if array.dtype.kind in "bf" and low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    values = np.where(finite, values, low)
    with np.errstate(all="ignore"):
        scaled = (values / 2 - low / 2) / max(high / 2 - low / 2, 1e-300) * 255  # halves: no overflow of the difference
    return np.clip(np.rint(np.nan_to_num(scaled)), 0, 255).astype(np.uint8), about
