"""The keys of images, labels, boxes and masks in TFRecords: three conventions, read and written."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import npy
from pixelmill.formats.example import Example, Feature, bytes_feature, float_feature, int64_feature
from pixelmill.formats.index import Array
from pixelmill.formats.object_rows import OBJECTS, SPLIT, own_features, read_own_features
from pixelmill.formats.sample import Boxes, Label, Sample, image_type, split_name

FORMAT = "image/format"
_KEY, _EXTENSION, _CLASS = "pixelmill/key", "pixelmill/extension", "pixelmill/class"


@dataclass(frozen=True)
class Keys:
    """A convention.

    Attributes:
        name: Its name.
        image: The encoded image, or the elements of an array.
        filename: The name of the file.
        label: The class, or several.
        class_name: The name of the class.
        box_sides: Left, top, right and bottom of the boxes; or one key with top, left, bottom, right of each.
        box_label: The classes of the boxes.
        other_box_label: Where some programs keep the classes of the boxes instead; empty if there is no such key.
        mask: The encoded mask.
        box_name: The names of the classes of the boxes, if there is such a key.
        format: The type of the image in words, if there is such a key.
        shape: Height, width and channels, for elements of an array. `image/dtype` names their type if it is not uint8,
            and `image/order` is CHW if channels come first.
    """

    name: str
    image: str
    filename: str
    label: str
    class_name: str
    box_sides: tuple[str, ...]
    box_label: str
    mask: str
    format: str | None = None
    other_box_label: str = ""
    box_name: str = ""
    shape: tuple[str, str, str] | None = None

    @cached_property
    def used(self) -> frozenset[str]:
        """The keys of features that have a field in a sample."""
        own = {_KEY, _EXTENSION, self.image, self.filename, self.label, self.class_name, self.box_label, self.mask}
        own |= {*self.box_sides, *(self.shape or ()), OBJECTS, SPLIT}
        return frozenset(own if self.shape is None else {*own, str(self.format), _DTYPE})


_SIDES = tuple(f"image/object/bbox/{side}" for side in ("xmin", "ymin", "xmax", "ymax"))

INCEPTION = Keys(
    name="inception",
    image="image/encoded",
    filename="image/filename",
    label="image/class/label",
    class_name="image/class/text",
    box_sides=_SIDES,
    box_label="image/object/class/label",
    mask="image/segmentation/class/encoded",
    format=FORMAT,
    other_box_label="image/object/bbox/label",
    box_name="image/object/class/text",
)
TFDS = Keys(
    name="tfds",
    image="image",
    filename="file_name",
    label="label",
    class_name=_CLASS,
    box_sides=("objects/bbox",),
    box_label="objects/label",
    mask="segmentation_mask",
)
# Pixels instead of an encoded image, as `ingest` writes them.
RAW = replace(INCEPTION, name="raw", shape=("image/height", "image/width", "image/channels"))
CONVENTIONS = {keys.name: keys for keys in (INCEPTION, TFDS, RAW)}

_TENSOR, _DTYPE, _ORDER, _COLORS = b"tensor", "image/dtype", "image/order", "image/colorspace"
_DTYPES = ("uint8", "float16", "float32")

_FORMATS = {"jpg": "jpeg", "jpeg": "jpeg", "tif": "tiff"}


def convention_of(features: Example) -> Keys | None:
    """Return the convention of a record, judged by the key of the image and by its format; None if unknown."""
    if INCEPTION.image in features:
        kind = features.get(FORMAT)
        return RAW if kind is not None and kind.kind == "bytes" and kind.values == [_TENSOR] else INCEPTION
    return TFDS if TFDS.image in features else None


def to_sample(features: Example, keys: Keys, *, fallback_key: Callable[[], str]) -> Sample:
    """Return the sample of a record; features without a field in it go to `extra`.

    Args:
        features: The features.
        keys: The convention.
        fallback_key: Returns a key for a record without a file name.

    Raises:
        DataError: A feature has the wrong type or length; the message names it.
    """
    image = _one_bytes(features, keys.image)
    if image is None:
        raise DataError(f"feature {keys.image!r} is missing or empty")
    extra = Example({name: feature for name, feature in features.items() if name not in keys.used})
    extra.unknown, extra.features_unknown = features.unknown, features.features_unknown
    boxes = _boxes(features, keys)
    if boxes is not None and boxes.names is not None:
        del extra[keys.box_name]
    boxes, split = read_own_features(features, boxes)
    if keys.box_label in features and (boxes is None or boxes.labels is None or keys.other_box_label in features):
        extra[keys.box_label] = features[keys.box_label]  # has no other place, or would not be written again
    if keys.shape is not None:
        image = npy.encode(_array(features, keys.shape, image))
        if _COLORS in extra and extra[_COLORS] == _colors(int(features[keys.shape[2]].values[0])):
            del extra[_COLORS]
    filename = os.fsdecode(_one_bytes(features, keys.filename) or b"")
    key, extension = split_name(filename) if filename else (fallback_key(), "")
    if not filename:
        extension = image_type(image) or "bin"
    elif keys.shape is not None:
        extension = "npy"  # the name is that of the file that the pixels were decoded from
    own_key, own_extension = _one_bytes(features, _KEY), _one_bytes(features, _EXTENSION, empty=True)
    if keys.format is not None and keys.format in extra and extra[keys.format] == _format_feature(image, extension):
        del extra[keys.format]
    class_name = _one_bytes(features, keys.class_name)
    return Sample(
        key if own_key is None else os.fsdecode(own_key),
        image,
        extension if own_extension is None else os.fsdecode(own_extension),
        _labels(features, keys.label),
        None if class_name is None else os.fsdecode(class_name),
        boxes,
        _one_bytes(features, keys.mask),
        extra,
        split,
    )


def to_features(sample: Sample, keys: Keys) -> Example:
    """Return the features of a sample."""
    features = Example.of(sample.extra)
    features |= own_features(sample, names=not keys.box_name)
    if keys.shape is None:
        features[keys.image] = bytes_feature(sample.image)
    else:
        features |= _array_features(sample, keys.shape, keys.image)
    name = sample.name
    features[keys.filename] = bytes_feature(os.fsencode(name))
    if split_name(name) != (sample.key, sample.extension):
        features[_KEY] = bytes_feature(os.fsencode(sample.key))
        features[_EXTENSION] = bytes_feature(os.fsencode(sample.extension))
    if keys.format is not None and keys.shape is None:
        features.setdefault(keys.format, _format_feature(sample.image, sample.extension))
    if sample.labels:
        whole = all(isinstance(label, int) for label in sample.labels)
        numbers = np.array(sample.labels, np.int64 if whole else np.float32)
        features[keys.label] = Feature("int64" if whole else "float", numbers)
    if sample.class_name is not None:
        features[keys.class_name] = bytes_feature(os.fsencode(sample.class_name))
    if sample.boxes is not None:
        _put_boxes(features, sample.boxes, keys)
    if sample.mask is not None:
        features[keys.mask] = bytes_feature(sample.mask)
    return features


def _format_feature(image: bytes, extension: str) -> Feature:
    kind = image_type(image) or extension.lower()
    return bytes_feature(_FORMATS.get(kind, kind))


def renamed_format(feature: Feature, kind: str) -> Feature:
    """Return the feature of an image's format for an image of another kind: unchanged if it names it, else in its case.

    Args:
        feature: The feature of the image before.
        kind: The new format, such as `jpeg`.
    """
    old = feature.values[0] if feature.kind == "bytes" and len(feature.values) == 1 else b""
    if old and _FORMATS.get(lower := old.decode("ascii", "replace").lower(), lower) == kind:
        return feature
    return bytes_feature(kind.upper() if old.isupper() else kind)


def _one_bytes(features: Example, name: str, *, empty: bool = False) -> bytes | None:
    feature = features.get(name)
    if feature is None:
        return None
    if not len(feature.values) and feature.kind in ("bytes", None):
        return None
    if feature.kind != "bytes" or len(feature.values) != 1:
        raise DataError(f"feature {name!r} must be one value of bytes, got {len(feature)} of {feature.kind}")
    value: bytes = feature.values[0]
    return value if value or empty else None


def _labels(features: Example, name: str) -> tuple[Label, ...]:
    feature = features.get(name)
    if feature is None or not len(feature):
        return ()
    if feature.kind == "bytes":
        raise DataError(f"feature {name!r} must be numbers, got bytes")
    if feature.kind == "float" and not np.isfinite(feature.values).all():
        raise DataError(f"feature {name!r} holds a number that is not finite")
    return tuple(feature.values.tolist())


def _numbers(features: Example, name: str, kind: str) -> Array:
    feature = features.get(name)
    if feature is None or feature.kind is None or not len(feature):
        return np.empty(0, np.float32 if kind == "float" else np.int64)
    if feature.kind != kind:
        raise DataError(f"feature {name!r} must be {kind}, got {feature.kind}")
    values: Array = feature.values
    return values


def _boxes(features: Example, keys: Keys) -> Boxes | None:
    if features.keys().isdisjoint(keys.box_sides):
        return None
    sides = [_numbers(features, name, "float") for name in keys.box_sides]
    if len(sides) == 1:
        if len(sides[0]) % 4:
            raise DataError(f"feature {keys.box_sides[0]!r} must be four numbers a box, got {len(sides[0])}")
        ltrb = sides[0].reshape(-1, 4)[:, [1, 0, 3, 2]]
    elif len({len(side) for side in sides}) > 1:
        raise DataError(f"features {', '.join(keys.box_sides)} differ in length: {[len(side) for side in sides]}")
    else:
        ltrb = np.stack(sides, axis=1)
    if not np.isfinite(ltrb).all():
        raise DataError("a coordinate of a box is not a finite number")
    return Boxes(ltrb, _box_labels(features, keys, len(ltrb)), _box_names(features, keys, len(ltrb)))


def _box_names(features: Example, keys: Keys, count: int) -> tuple[str, ...] | None:
    """Return the class names of the boxes, if the record has one for each."""
    names = features.get(keys.box_name)
    if names is None or names.kind != "bytes" or len(names) != count or not count:
        return None
    if names.unknown or names.list_unknown:
        return None  # these survive in `extra` alone
    return tuple(os.fsdecode(name) for name in names.values)


def box_label_key(features: Example, keys: Keys) -> str:
    """Return the key of the classes of boxes in a record."""
    other = features.get(keys.other_box_label)
    return (
        keys.other_box_label if other and other.kind == "int64" and keys.box_label not in features else keys.box_label
    )


def _box_labels(features: Example, keys: Keys, count: int) -> Array | None:
    """Return the classes of the boxes; None if the record does not have them."""
    name = box_label_key(features, keys)
    if name not in features:
        return None
    labels = _numbers(features, name, "int64")
    if len(labels) == count:
        return labels
    if len(labels):
        raise DataError(f"feature {name!r} has {len(labels)} values for {count} boxes")
    return None


def _put_boxes(features: Example, boxes: Boxes, keys: Keys) -> None:
    if len(keys.box_sides) == 1:
        features[keys.box_sides[0]] = float_feature(boxes.ltrb[:, [1, 0, 3, 2]].reshape(-1))
    else:
        for column, name in enumerate(keys.box_sides):
            features[name] = float_feature(np.ascontiguousarray(boxes.ltrb[:, column]))
    if boxes.names and keys.box_name:
        features[keys.box_name] = bytes_feature(*(os.fsencode(name) for name in boxes.names))
    if boxes.labels is None:
        return
    other = features.get(keys.other_box_label)
    if other is None or other.kind != "int64" or not np.array_equal(other.values, boxes.labels):
        features[keys.box_label] = int64_feature(boxes.labels)


def _array(features: Example, names: tuple[str, str, str], data: bytes) -> Array:
    extents = []
    for name in names:
        values = _numbers(features, name, "int64")
        if len(values) != 1 or not 0 < values[0] < 1 << 32:
            raise DataError(f"feature {name!r} must be one positive number, got {values[:4].tolist()}")
        extents.append(int(values[0]))
    dtype = (_one_bytes(features, _DTYPE) or b"uint8").decode("ascii", "replace")
    if dtype not in _DTYPES:
        raise DataError(f"feature {_DTYPE!r} must be one of {', '.join(_DTYPES)}, got {dtype!r}")
    shape = extents if _one_bytes(features, _ORDER) != b"CHW" else [extents[2], *extents[:2]]
    needed = math.prod(shape) * np.dtype(dtype).itemsize
    if needed != len(data):
        raise DataError(f"an array of {shape} {dtype} has {needed} bytes, got {len(data)}")
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(shape)


def _array_features(sample: Sample, names: tuple[str, str, str], image: str) -> Example:
    array = npy.decode(sample.image) if image_type(sample.image) == "npy" else None
    if array is None or array.dtype.name not in _DTYPES or array.ndim not in (2, 3):
        message = f"{sample.name!r} is not an array of height, width and channels, which raw keys need"
        raise DataError(message + "; convert with --format npy")
    array = array if array.ndim == 3 else array[:, :, None]
    order = sample.extra.get(_ORDER)
    height, width, channels = array.shape
    if order is not None and order.values == [b"CHW"]:
        channels, height, width = array.shape
    features = Example(zip(names, map(int64_feature, (height, width, channels)), strict=True))
    features[FORMAT] = bytes_feature(_TENSOR)
    features[_COLORS] = sample.extra.get(_COLORS, _colors(channels))
    if array.dtype != np.uint8:
        features[_DTYPE] = bytes_feature(array.dtype.name)
    features[image] = bytes_feature(array.astype(array.dtype.newbyteorder("<")).tobytes())
    return features


def _colors(channels: int) -> Feature:
    return bytes_feature("RGB" if channels == 3 else "grayscale")
