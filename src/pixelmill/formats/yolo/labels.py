"""The label files of YOLO: a line for each object, its class and fractions of the image size.

class cx cy width height                              a box
class x1 y1 x2 y2 x3 y3 …                             an outline
class x1 y1 x2 y2 x3 y3 x4 y4                         an oriented box, if data.yaml says so or all lines are such
class cx cy width height  x y visibility  x y …       keypoints, `kpt_shape` of data.yaml says how many
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats.index import Array
from pixelmill.formats.sample import Boxes
from pixelmill.formats.shapes import Keypoints, Polygons

_OUTSIDE = 0.01  # how far coordinates may lie outside of the image, as in other readers
_SCORE = "score"  # a sixth number, as detectors write it


@dataclass(frozen=True)
class Scheme:
    """What the lines of all label files of a dataset hold.

    Attributes:
        classes: The names of classes by number; empty if they are unknown.
        keypoints: Number of keypoints of each object; 0 for boxes and outlines.
        dimensions: Numbers of each keypoint: 2 or 3.
        oriented: Whether outlines of four points are oriented boxes; None if data.yaml does not say so.
    """

    classes: tuple[str, ...] = ()
    keypoints: int = 0
    dimensions: int = 3
    oriented: bool | None = None

    @property
    def is_named(self) -> bool:
        """Whether the classes have names other than their numbers."""
        return any(name != str(number) for number, name in enumerate(self.classes))


@dataclass(frozen=True)
class _Object:
    label: int
    ltrb: Array
    ring: Array | None = None
    keypoints: Array | None = None
    score: float | None = None


def parse(text: str, scheme: Scheme, *, where: str) -> Boxes:
    """Return the objects of a label file. Raises DataError that names the line."""
    objects: list[_Object] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            objects.append(_object([float(word) for word in line.split()], scheme))
        except ValueError as error:
            raise DataError(f"yolo: line {number} of {where}: {error}") from None
    names = tuple(scheme.classes[o.label] for o in objects) if scheme.is_named and objects else None
    has_rings, has_scores = any(o.ring is not None for o in objects), any(o.score is not None for o in objects)
    return Boxes(
        np.array([o.ltrb for o in objects], np.float32).reshape(-1, 4),
        np.array([o.label for o in objects], np.int64),
        names,
        polygons=Polygons.of([[] if o.ring is None else [o.ring] for o in objects]) if has_rings else None,
        keypoints=Keypoints.of([o.keypoints for o in objects if o.keypoints is not None])
        if scheme.keypoints and objects
        else None,
        attributes={_SCORE: tuple(o.score for o in objects)} if has_scores else {},
        oriented=bool(scheme.oriented and objects) and all(o.ring is not None and len(o.ring) == 4 for o in objects),
    )


def holds_only_corners(text: str) -> bool | None:
    """Whether every line of a label file is a class and four points; None if there is no line."""
    counts = {len(line.split()) for line in text.splitlines()} - {0}
    return counts == {9} if counts else None


def _object(numbers: Sequence[float], scheme: Scheme) -> _Object:
    if not all(map(math.isfinite, numbers)):
        raise ValueError("a number is not finite")
    label = int(numbers[0])
    if label != numbers[0] or label < 0:
        raise ValueError(f"the class must be 0 or more, got {numbers[0]:g}")
    if scheme.classes and label >= len(scheme.classes):
        raise ValueError(f"class {label} is not one of the {len(scheme.classes)} names of data.yaml")
    values = np.array(numbers[1:], np.float64)
    if scheme.keypoints:
        if len(values) != 4 + scheme.keypoints * scheme.dimensions:
            shape = f"{scheme.keypoints} keypoints of {scheme.dimensions} numbers"
            raise ValueError(f"a class, a box and {shape} are needed, got {len(numbers)} numbers")
        return _Object(label, _box(values[:4]), keypoints=_keypoints(values[4:], scheme.dimensions))
    if len(values) in (4, 5):
        return _Object(label, _box(values[:4]), score=float(values[4]) if len(values) == 5 else None)
    if len(values) < 6 or len(values) % 2:
        raise ValueError(f"a class and a box or an outline are needed, got {len(numbers)} numbers")
    _check(values)
    ring = values.reshape(-1, 2)
    return _Object(label, np.concatenate([ring.min(axis=0), ring.max(axis=0)]), ring)


def _box(values: Array) -> Array:
    _check(values)
    center, size = values[:2], values[2:]
    return np.concatenate([center - size / 2, center + size / 2])


def _check(values: Array) -> None:
    if values.min() < -_OUTSIDE or values.max() > 1 + _OUTSIDE:
        raise ValueError(f"coordinates must be fractions of the image size from 0 to 1, got {values.max():g}")


def _keypoints(values: Array, dimensions: int) -> Array:
    rows = values.reshape(-1, dimensions)
    if dimensions == 2:
        visible = np.where((rows < 0).any(axis=1), 0, 2)
        return np.concatenate([np.where(visible[:, None] > 0, rows, 0), visible[:, None]], axis=1)
    return rows


def lines(boxes: Boxes, *, keypoints: int, polygons: bool) -> list[str]:
    """Return the lines of objects.

    Args:
        boxes: The objects.
        keypoints: Number of keypoints of each object in all lines; 0 for none.
        polygons: Whether all lines are outlines; the corners of the box for an object without one.
    """
    labels = np.zeros(len(boxes), np.int64) if boxes.labels is None else boxes.labels
    rings = None if boxes.polygons is None else boxes.polygons.by_object(len(boxes))
    found = []
    for place in range(len(boxes)):
        left, top, right, bottom = np.clip(boxes.ltrb[place].astype(np.float64), 0, 1).tolist()
        values = _center(boxes.ltrb[place])
        if keypoints:
            values += _points(boxes, place, keypoints)
        elif polygons:
            own = [ring for ring in rings[place] if len(ring) >= 3] if rings is not None else []
            corners = [left, top, right, top, right, bottom, left, bottom]
            longest = max(own, key=len) if own else None
            values = [_digits(x) for x in (corners if longest is None else longest.reshape(-1).tolist())]
        found.append(" ".join([str(max(int(labels[place]), 0)), *values]))
    return found


def _digits(value: float) -> str:
    """Return a fraction with the fewest digits, six or more, that lead back to it in float32; within the image."""
    value = min(max(value, 0.0), 1.0)
    short = f"{value:.6f}"
    return short if np.float32(short) == np.float32(value) else f"{value:.9g}"


def _center(ltrb: Array) -> list[str]:
    """Return center and size with six decimals, or with as many as it takes to read the same sides."""
    sides = np.clip(ltrb.astype(np.float64), 0, 1)
    values = np.concatenate([(sides[:2] + sides[2:]) / 2, sides[2:] - sides[:2]])
    for form in (".6f", ".9f", ".17g"):
        words = [f"{value:{form}}" for value in values.tolist()]
        if np.array_equal(_box(np.array([float(word) for word in words])).astype(np.float32), ltrb):
            return words
    return [f"{value:.6f}" for value in values.tolist()]


def _points(boxes: Boxes, place: int, count: int) -> list[str]:
    rows = np.zeros((count, 3))
    if boxes.keypoints is not None:
        own = boxes.keypoints.by_object()[place][:count]
        rows[: len(own)] = own
    return [word for x, y, visible in rows.tolist() for word in (_digits(x), _digits(y), str(int(visible)))]
