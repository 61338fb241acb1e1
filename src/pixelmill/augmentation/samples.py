"""From a sample of a dataset to the inputs of a program, and from what came out to a new sample."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from PIL import Image

from pixelmill.augmentation.program import Input, Made, Shape
from pixelmill.errors import DataError
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


@dataclass(frozen=True)
class MaskKind:
    """How a mask was stored, so that it is stored like that again."""

    kind: str  # npy or png
    squeezed: bool = False  # an array without an axis for channels
    palette: tuple[str, bytes] | None = None


def shape_of(sample: Sample, format: str | None) -> Shape:
    """Tell which program a sample needs."""
    if image_type(sample.image) == "npy":
        return Shape(True, sample.mask is not None)
    own = "jpeg" if image_type(sample.image) == "jpg" else "png"
    return Shape(False, sample.mask is not None, format or own)


def to_input(sample: Sample, number: int, variant: int) -> tuple[Input, MaskKind | None]:
    """Prepare a sample. DataError if its mask or its array cannot be read."""
    if image_type(sample.image) == "npy":
        image = npy.decode(sample.image)
        image = image[:, :, None] if image.ndim == 2 else image
        if image.ndim != 3:
            raise DataError(f"an array of shape {image.shape} is not a picture")
    else:
        image = np.frombuffer(sample.image, np.uint8)
    if sample.mask is None:
        return Input(number, variant, image, None), None
    mask, kind = _decoded_mask(sample.mask)
    return Input(number, variant, image, mask), kind


def _decoded_mask(data: bytes) -> tuple[Array, MaskKind]:
    """Give class numbers: palettes are not looked up."""
    if image_type(data) == "npy":
        mask = npy.decode(data)
        if mask.ndim not in (2, 3) or (mask.ndim == 3 and mask.shape[2] != 1):
            raise DataError(f"a mask of shape {mask.shape} has not one channel")
        return mask.reshape(*mask.shape[:2], 1), MaskKind("npy", squeezed=mask.ndim == 2)
    try:
        picture: Image.Image = Image.open(io.BytesIO(data))
        picture.load()
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise DataError(f"the mask cannot be decoded: {error}") from None
    palette = None
    if picture.mode == "P" and picture.palette is not None:
        palette = (picture.palette.mode, bytes(picture.palette.palette))
    elif picture.mode == "1":
        picture = picture.convert("L")
    elif picture.mode not in ("L", "I;16", "I;16B"):
        raise DataError(f"the mask has the mode {picture.mode}; one channel of class numbers is needed")
    array = np.asarray(picture)
    array = array.astype(array.dtype.newbyteorder("=")) if array.dtype.itemsize > 1 else array
    return array[:, :, None], MaskKind("png", palette=palette)


def _encoded_mask(mask: Array, kind: MaskKind) -> bytes:
    if kind.kind == "npy":
        return npy.encode(mask[:, :, 0] if kind.squeezed else mask)
    picture: Image.Image = Image.fromarray(np.ascontiguousarray(mask[:, :, 0]))
    if kind.palette is not None:
        picture = picture.convert("L")
        picture.putpalette(kind.palette[1], kind.palette[0])
    stream = io.BytesIO()
    picture.save(stream, "png")
    return stream.getvalue()


def to_sample(sample: Sample, made: Made, mask_kind: MaskKind | None, *, format: str, least: float, key: str) -> Sample:
    """Give the new sample: everything of the old one, with what has changed.

    Args:
        sample: The old one.
        made: What the program gave.
        mask_kind: How the mask was stored.
        format: `jpeg`, `png`, or nothing for arrays.
        least: Boxes of which a smaller share is left are dropped.
        key: The name of the new sample.
    """
    boxes, kept = sample.boxes, None
    if boxes is not None:
        ltrb, visible = follow(boxes.ltrb, made.path, made.before)
        kept = (visible >= least) & (ltrb[:, 2] > ltrb[:, 0]) & (ltrb[:, 3] > ltrb[:, 1])
        boxes = Boxes(ltrb[kept], boxes.labels[kept])
    same = format and image_type(sample.image) == _EXTENSIONS[format]
    return replace(
        sample,
        key=key,
        image=made.image.tobytes() if format else npy.encode(np.ascontiguousarray(made.image)),
        extension=sample.extension if same or not format else _EXTENSIONS[format],
        boxes=boxes,
        mask=None if made.mask is None or mask_kind is None else _encoded_mask(made.mask, mask_kind),
        extra=_extra(sample.extra, made, kept, encoded=bool(format)),
    )


def _extra(extra: Mapping[str, Feature], made: Made, kept: Array | None, *, encoded: bool) -> Example:
    """Keep all features; those about the size and about each object follow the picture."""
    new = Example(extra)
    if isinstance(extra, Example):
        new.unknown, new.features_unknown = extra.unknown, extra.features_unknown
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
