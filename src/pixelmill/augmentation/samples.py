"""From a sample of a dataset to the inputs of a program, and from what came out to a new sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pixelmill.augmentation import masks
from pixelmill.augmentation.masks import MaskKind
from pixelmill.augmentation.program import Failure, Input, Made, Shape
from pixelmill.errors import DataError, Event
from pixelmill.formats import npy
from pixelmill.formats.example import Example, Feature, int64_feature
from pixelmill.formats.sample import Boxes, Sample, image_type
from pixelmill.recipe import follow

Array = np.ndarray[Any, Any]

_EXTENSIONS = {"jpeg": "jpg", "png": "png"}
_HEIGHTS, _WIDTHS, _CHANNELS = ("image/height", "height"), ("image/width", "width"), ("image/channels", "channels")
_COLOUR = "image/colorspace"
_FORMATS = ("image/format",)
_OBJECT_PREFIXES = ("image/object/", "objects/")


@dataclass(eq=False, slots=True)  # not frozen: one is made for every sample, and frozen ones take twice as long
class Prepared:
    """A sample as programs take it.

    Attributes:
        number: Its number in the dataset.
        sample: The sample.
        kind: The usual extension of such images; None where they are not known.
        shape: Which program it needs.
        image: The bytes of the file, or the pixels.
        mask: The same of the mask.
        mask_kind: How the mask is stored.
    """

    number: int
    sample: Sample
    kind: str | None
    shape: Shape
    image: Array
    mask: Array | None
    mask_kind: MaskKind | None

    def variant(self, variant: int) -> Input:
        """Give the input of a program for one of its variants."""
        return Input(self.number, variant, self.image, self.mask)


def prepare(sample: Sample, number: int, *, format: str | None) -> Prepared:
    """Prepare a sample. DataError if its mask, its array or its boxes cannot be used."""
    kind = image_type(sample.image)
    if kind == "npy":
        image = npy.decode(sample.image)
        image = image[:, :, None] if image.ndim == 2 else image
        if image.ndim != 3:
            raise DataError(f"an array of shape {image.shape} is not a picture")
    else:
        image = np.frombuffer(sample.image, np.uint8)
    mask, mask_kind = (None, None) if sample.mask is None else masks.prepared(sample.mask)
    if sample.boxes is not None:
        check_boxes(sample.boxes)
    shape = Shape(
        kind == "npy",
        "" if mask_kind is None else "file" if mask_kind.kind == "file" else "array",
        "" if kind == "npy" else format or ("jpeg" if kind == "jpg" else "png"),
        bool(sample.boxes),
    )
    return Prepared(number, sample, kind, shape, image, mask, mask_kind)


def check_boxes(boxes: Boxes) -> None:
    """Refuse boxes that end before they begin."""
    turned = (boxes.ltrb[:, 2:] < boxes.ltrb[:, :2]).any(axis=1)
    if turned.any():
        number = int(turned.argmax())
        raise DataError(f"box {number} ends before it begins: left, top, right, bottom {boxes.ltrb[number].tolist()}")


def check_mask_size(prepared: Prepared, size: tuple[int, int]) -> None:
    """Refuse a mask that has not the size of its image."""
    if prepared.mask_kind is not None and prepared.mask_kind.size != size:
        height, width = prepared.mask_kind.size
        raise DataError(f"the mask has {height} x {width} pixels, its image {size[0]} x {size[1]}")


def explained(failure: Failure, source: Prepared) -> DataError:
    """Tell why a sample failed; an argument that does not fit may come from a mask of another size."""
    if failure.kind == "argument" and source.mask_kind is not None and not source.shape.is_array:
        from pixelmill.conversion.pictures import image_size

        check_mask_size(source, image_size(source.sample.image))
    event = Event(failure.kind, failure.message, sample=source.number, epoch=0)
    return DataError(failure.message, (event,))


def to_sample(prepared: Prepared, made: Made, *, least: float, key: str) -> Sample:
    """Give the new sample: everything of the old one, with what has changed.

    Args:
        prepared: The old one.
        made: What the program gave.
        least: Boxes of which a smaller share is left are dropped.
        key: The name of the new sample.
    """
    check_mask_size(prepared, made.before)
    sample, format, mask_kind = prepared.sample, prepared.shape.format, prepared.mask_kind
    boxes, kept = sample.boxes, None
    if boxes:
        ltrb, visible = follow(boxes.ltrb, made.path, made.before)
        kept = (visible >= least) & (ltrb[:, 2] > ltrb[:, 0]) & (ltrb[:, 3] > ltrb[:, 1])
        boxes = Boxes(ltrb[kept], boxes.labels[kept])
    same = not format or prepared.kind == _EXTENSIONS[format]
    return Sample(
        key,
        made.image.tobytes() if format else npy.encode(np.ascontiguousarray(made.image)),
        sample.extension if same else _EXTENSIONS[format],
        sample.labels,
        sample.class_name,
        boxes,
        None if made.mask is None or mask_kind is None else masks.finished(made.mask, mask_kind),
        _extra(sample.extra, made, kept, encoded=bool(format)),
    )


def _extra(extra: Mapping[str, Feature], made: Made, kept: Array | None, *, encoded: bool) -> Example:
    """Keep all features; those about the size and about each object follow the picture."""
    new = Example(extra)
    if isinstance(extra, Example):
        new.unknown, new.features_unknown = extra.unknown, extra.features_unknown
    if not extra:
        return new
    known = {**dict.fromkeys(_HEIGHTS, made.after[0]), **dict.fromkeys(_WIDTHS, made.after[1])}
    if encoded:
        known |= dict.fromkeys(_CHANNELS, 3)
    for name, feature in extra.items():
        if name in known and feature.kind == "int64":
            new[name] = int64_feature([known[name]])
        elif kept is not None and name.startswith(_OBJECT_PREFIXES) and len(feature.values) == len(kept):
            new[name] = _chosen(feature, kept)
        elif encoded and name in _FORMATS:
            del new[name]  # written anew from the content
        elif encoded and name == _COLOUR and feature.values != [b"RGB"]:
            new[name] = Feature("bytes", [b"RGB"])
    return new


def _chosen(feature: Feature, kept: Array) -> Feature:
    if feature.kind == "bytes":
        return replace(feature, values=[value for value, keep in zip(feature.values, kept, strict=True) if keep])
    return replace(feature, values=np.asarray(feature.values)[kept])
