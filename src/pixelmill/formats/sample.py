"""One sample of a dataset, the same for all containers: the encoded image and its annotations."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.formats import optional_images
from pixelmill.formats.example import Feature
from pixelmill.formats.shapes import Keypoints, Polygons, RunMask

Array = np.ndarray[Any, Any]
Label = int | float
Json = bool | int | float | str | None | list[Any] | dict[str, Any]

# Every integer up to this one is exact in float32, so that containers with float32 labels return it unchanged.
_LARGEST_EXACT = 1 << 24
_INT64 = 1 << 63

_SIGNATURES = (
    (b"\xff\xd8\xff", "jpg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"BM", "bmp"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tif"),
    (b"MM\0*", "tif"),
    (b"\x93NUMPY", "npy"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "jp2"),
)
ALWAYS_READ = frozenset("jpg jpeg png bmp tif tiff pnm ppm pgm pbm jp2 webp gif npy".split())  # noqa: SIM905
IMAGE_EXTENSIONS = ALWAYS_READ | set(optional_images.readable_endings())


@dataclass(frozen=True, eq=False)
class Boxes:
    """The objects in an image: a rectangle for each, and what else is known about them.

    Attributes:
        ltrb: Left, top, right, bottom of each as fractions of the width and height, float32 of shape (n, 4).
        labels: The class of each, int64 of shape (n,); None if the dataset says nothing about classes.
        names: The name of the class of each; None if the dataset has no names.
        polygons: The outline of each; None if the dataset has none.
        masks: The pixels of each, for objects that have no outline; None if the dataset has none.
        keypoints: The keypoints of each; None if the dataset has none.
        attributes: Everything else by name, such as `area`, `iscrowd`, `difficult` or `id`: a JSON value for each
            object, None for an object without one.
        oriented: Whether the outline of each is an oriented box: one ring of four corners, in the order top left, top
            right, bottom right, bottom left before the box was turned.
    """

    ltrb: Array
    labels: Array | None = None
    names: tuple[str, ...] | None = None
    polygons: Polygons | None = None
    masks: tuple[RunMask | None, ...] | None = None
    keypoints: Keypoints | None = None
    attributes: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    oriented: bool = False

    def __post_init__(self) -> None:
        ltrb = np.asarray(self.ltrb, np.float32).reshape(-1, 4)
        labels = None if self.labels is None else np.asarray(self.labels, np.int64).reshape(-1)
        if not np.isfinite(ltrb).all():
            raise ArgumentError("boxes: a coordinate is not a finite number")
        parts = {"labels": labels, "names": self.names, "masks": self.masks, **self.attributes}
        if self.keypoints is not None:
            parts["keypoints"] = self.keypoints.points
        for name, values in parts.items():
            if values is not None and len(values) != len(ltrb):
                raise ArgumentError(f"boxes: {len(ltrb)} rectangles with {len(values)} {name}")
        if self.polygons is not None and self.polygons.rings[:, 0].max(initial=-1) >= len(ltrb):
            raise ArgumentError(f"boxes: {len(ltrb)} rectangles, but a polygon of object {self.polygons.rings[-1, 0]}")
        if self.oriented and (self.polygons is None or not self.polygons.are_quadrilaterals(len(ltrb))):
            raise ArgumentError("boxes: an oriented box is a polygon of four corners, and each object must have one")
        object.__setattr__(self, "ltrb", ltrb)
        object.__setattr__(self, "labels", labels)

    def __len__(self) -> int:
        return len(self.ltrb)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Boxes):
            return NotImplemented
        if not np.array_equal(self.ltrb, other.ltrb):
            return False
        if not len(self):
            return True  # tables cannot tell an empty list of labels, names or outlines from none
        if self.labels is None or other.labels is None:
            same = self.labels is other.labels
        else:
            same = np.array_equal(self.labels, other.labels)
        return same and self._others() == other._others()

    def _others(self) -> tuple[object, ...]:
        return self.names, self.polygons, self.masks, self.keypoints, dict(self.attributes), self.oriented

    @classmethod
    def none(cls) -> Boxes:
        """Return the boxes of an image without objects."""
        return cls(np.empty((0, 4), np.float32), np.empty(0, np.int64))

    def only(self, kept: Array) -> Boxes:
        """Return the objects at which `kept` is true."""
        places = np.flatnonzero(kept).tolist()
        return Boxes(
            self.ltrb[kept],
            None if self.labels is None else self.labels[kept],
            None if self.names is None else tuple(self.names[at] for at in places),
            None if self.polygons is None else self.polygons.only(kept),
            None if self.masks is None else tuple(self.masks[at] for at in places),
            None if self.keypoints is None else self.keypoints.only(kept),
            {name: tuple(values[at] for at in places) for name, values in self.attributes.items()},
            self.oriented,
        )

    def corners(self) -> Array:
        """Return the corners of oriented boxes, else of the rectangles, as fractions, float32 of shape (n, 4, 2)."""
        if self.oriented and self.polygons is not None:
            return self.polygons.points.reshape(-1, 4, 2)
        return self.ltrb[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Sample:
    """An encoded image and its annotations.

    Labels are numbers that every container can hold: integers are ints, other numbers are rounded to float32.

    Attributes:
        key: The name of the sample, with `/` between folders, without a file extension.
        image: The encoded image: the bytes of a JPEG, PNG, … or npy file.
        extension: The file extension as written, without the dot.
        labels: The classes or target values; any number of them.
        class_name: The name of the class; None if there is none.
        boxes: The objects in the image; None if the dataset has none.
        mask: The encoded mask: the bytes of a PNG or npy file.
        extra: Everything that has no other place here, as TFRecord features by key.
        split: The subset that the sample belongs to, such as `train`; None if the dataset is not divided.
    """

    key: str
    image: bytes
    extension: str = "jpg"
    labels: tuple[Label, ...] = ()
    class_name: str | None = None
    boxes: Boxes | None = None
    mask: bytes | None = None
    extra: Mapping[str, Feature] = field(default_factory=dict)
    split: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", exact_labels(self.labels))
        object.__setattr__(self, "split", self.split or None)
        object.__setattr__(self, "class_name", self.class_name or None)
        object.__setattr__(self, "mask", self.mask or None)

    @property
    def name(self) -> str:
        """The file name: key and extension."""
        return join_name(self.key, self.extension)

    def size(self) -> int:
        """Return the number of encoded bytes of image and mask."""
        return len(self.image) + len(self.mask or b"")


def exact_labels(labels: Iterable[Label]) -> tuple[Label, ...]:
    """Convert labels to the form that every container preserves: ints, and floats that are float32."""
    return tuple([_exact(label) for label in labels])  # a list is faster than a generator here


def _exact(label: Label) -> Label:
    if type(label) is int and -_INT64 <= label < _INT64:
        return label
    if isinstance(label, (bool, np.bool_)):
        return int(label)
    if isinstance(label, (int, np.integer)):
        if not -_INT64 <= label < _INT64:
            raise ArgumentError(f"labels: {label} does not fit into 64 bits")
        return int(label)
    with np.errstate(over="ignore"):
        value = float(np.float32(label))
    if not math.isfinite(value):
        raise ArgumentError(f"labels: {label} is not a finite number")
    return int(value) if value.is_integer() and abs(value) <= _LARGEST_EXACT else value


def parse_label(text: str) -> Label:
    """Parse a label; raises ValueError if it is not a finite number."""
    try:
        value: Label = int(text) if len(text) <= 20 else float(text)
    except ValueError:
        value = float(text)
    if not math.isfinite(value) or "_" in text:
        raise ValueError(text)
    return _exact(value)


def format_label(label: Label) -> str:
    """Return a label as text that `parse_label` reads as the same number."""
    return str(label) if isinstance(label, int) else str(np.float32(label))


def join_name(key: str, extension: str) -> str:
    """Join a key and an extension to a file name."""
    return f"{key}.{extension}" if extension else key


def split_name(name: str) -> tuple[str, str]:
    """Split a file name into key and extension, at the last dot of its last part."""
    folder, slash, last = name.rpartition("/")
    stem, dot, extension = last.rpartition(".")
    if not dot or not stem:
        return name, ""
    return f"{folder}{slash}{stem}", extension


def image_type(data: bytes) -> str | None:
    """Return the usual extension of an encoded image, judged by its first bytes; None for anything else."""
    for signature, extension in _SIGNATURES:
        if data.startswith(signature):
            return extension
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if len(data) > 2 and data[:1] == b"P" and data[1:2] in b"123456" and data[2:3].isspace():
        return "ppm"
    return optional_images.heif_type(data)


def pillow_message(error: Exception) -> str:
    """Return the message of an error of Pillow without the address of the object that it has read from."""
    return re.sub(r" ?<_io\.\w+ object at 0x[0-9a-fA-F]+>", "", str(error)) or type(error).__name__


def is_cut(data: bytes) -> bool:
    """Whether an encoded image is truncated, as far as that can be seen without decoding it."""
    kind = image_type(data)
    if kind == "jpg":
        return b"\xff\xd9" not in data[-64:]
    if kind == "png":
        return b"IEND" not in data[-64:]
    if kind in optional_images.TITLES:
        return optional_images.is_cut(data)
    return kind == "webp" and len(data) < 8 + int.from_bytes(data[4:8], "little")


def file_ending(sample: Sample) -> str:
    """Return the extension for the file of a sample: its own if readers of folders look for such files."""
    if sample.extension.lower() in IMAGE_EXTENSIONS:
        return sample.extension
    return image_type(sample.image) or "jpg"
