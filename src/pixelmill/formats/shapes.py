"""The outlines, masks and keypoints of objects in an image; `Boxes` holds them beside the rectangles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.formats.index import Array

MOST_KEYPOINTS = 4096  # of one object; the array of all objects is as wide as the longest
LARGEST_SIDE = 65535


@dataclass(frozen=True, eq=False)
class Polygons:
    """The outlines of objects. An object may have any number of rings: separate pieces, or none.

    Attributes:
        points: The corners of all rings, x and y as fractions of the width and height, float32 of shape (p, 2).
        rings: For each ring its object, its first point and its end, int64 of shape (r, 3), in the order of objects;
            the rings divide the points without a gap.
    """

    points: Array
    rings: Array

    def __post_init__(self) -> None:
        points = np.asarray(self.points, np.float32).reshape(-1, 2)
        rings = np.asarray(self.rings, np.int64).reshape(-1, 3)
        if not np.isfinite(points).all():
            raise ArgumentError("polygons: a coordinate is not a finite number")
        objects, firsts, ends = rings.T
        edges = np.concatenate([[0], ends])
        if not np.array_equal(edges[:-1], firsts) or (ends < firsts).any() or edges[-1] != len(points):
            raise ArgumentError("polygons: the rings do not divide the points")
        if (np.diff(objects) < 0).any() or (objects < 0).any():
            raise ArgumentError("polygons: the rings are not in the order of their objects")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "rings", rings)

    @classmethod
    def of(cls, objects: Iterable[Iterable[Array]]) -> Polygons:
        """Return the polygons of objects that are given ring by ring, each of shape (n, 2)."""
        pieces = [(number, np.asarray(ring, np.float32)) for number, rings in enumerate(objects) for ring in rings]
        ends = np.cumsum([0, *(len(ring) for _, ring in pieces)])
        rows = [(number, int(a), int(b)) for (number, _), (a, b) in zip(pieces, pairwise(ends), strict=True)]
        points = np.concatenate([np.empty((0, 2), np.float32), *(ring.reshape(-1, 2) for _, ring in pieces)])
        return cls(points, np.array(rows, np.int64).reshape(-1, 3))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Polygons):
            return NotImplemented
        return np.array_equal(self.points, other.points) and np.array_equal(self.rings, other.rings)

    __hash__ = None  # type: ignore[assignment]

    def by_object(self, count: int) -> list[list[Array]]:
        """Return the rings of each of `count` objects."""
        found: list[list[Array]] = [[] for _ in range(count)]
        for number, first, end in self.rings.tolist():
            found[number].append(self.points[first:end])
        return found

    def are_quadrilaterals(self, count: int) -> bool:
        """Whether each of `count` objects has one ring of four corners."""
        firsts = np.arange(0, 4 * count, 4)
        return np.array_equal(self.rings, np.stack([firsts // 4, firsts, firsts + 4], axis=1))

    def only(self, kept: Array) -> Polygons:
        """Return the polygons of the objects at which `kept` is true, numbered again."""
        rings = self.by_object(len(kept))
        return Polygons.of([rings[number] for number in np.flatnonzero(kept).tolist()])


@dataclass(frozen=True, eq=False)
class Keypoints:
    """Named places of objects, such as joints.

    Attributes:
        points: x and y as fractions of the width and height, float32 of shape (objects, keypoints, 2).
        visibility: int8 of shape (objects, keypoints), as in COCO: 0 is not labeled, 1 is labeled but hidden, 2 is
            visible; -1 fills the rows of objects that have fewer keypoints than others.
    """

    points: Array
    visibility: Array

    def __post_init__(self) -> None:
        visibility = np.asarray(self.visibility, np.int8)
        points = np.asarray(self.points, np.float32)
        if visibility.ndim != 2 or points.shape != (*visibility.shape, 2):
            raise ArgumentError(f"keypoints: points of shape {points.shape} with visibility of {visibility.shape}")
        if not np.isfinite(points).all():
            raise ArgumentError("keypoints: a coordinate is not a finite number")
        if visibility.size and not -1 <= visibility.min() <= visibility.max() <= 2:
            raise ArgumentError("keypoints: visibility must be 0, 1 or 2")
        if visibility.shape[1] > MOST_KEYPOINTS:
            raise ArgumentError(f"keypoints: {visibility.shape[1]} of one object are more than {MOST_KEYPOINTS}")
        object.__setattr__(self, "points", np.where(visibility[..., None] < 0, np.float32(0), points))
        object.__setattr__(self, "visibility", visibility)

    @classmethod
    def of(cls, objects: Sequence[Array]) -> Keypoints:
        """Return the keypoints of objects, each given as x, y, visibility of shape (n, 3)."""
        rows = [np.asarray(row, np.float64).reshape(-1, 3) for row in objects]
        most = max(map(len, rows), default=0)
        if most > MOST_KEYPOINTS:
            raise ArgumentError(f"keypoints: {most} of one object are more than {MOST_KEYPOINTS}")
        points = np.zeros((len(rows), most, 2), np.float32)
        visibility = np.full((len(rows), most), -1, np.int8)
        for number, row in enumerate(rows):
            if not np.isin(row[:, 2], (0, 1, 2)).all():
                raise ArgumentError("keypoints: visibility must be 0, 1 or 2")
            points[number, : len(row)] = row[:, :2]
            visibility[number, : len(row)] = row[:, 2]
        return cls(points, visibility)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Keypoints):
            return NotImplemented
        return np.array_equal(self.points, other.points) and np.array_equal(self.visibility, other.visibility)

    __hash__ = None  # type: ignore[assignment]

    def by_object(self) -> list[Array]:
        """Return x, y, visibility of each object, float32 of shape (n, 3), without the filling."""
        joined = np.concatenate([self.points, self.visibility[..., None].astype(np.float32)], axis=2)
        return [row[row[:, 2] >= 0] for row in joined]

    def only(self, kept: Array) -> Keypoints:
        """Return the keypoints of the objects at which `kept` is true."""
        return Keypoints.of([row for row, keep in zip(self.by_object(), kept, strict=True) if keep])


@dataclass(frozen=True, eq=False)
class RunMask:
    """The pixels of an object, as lengths of runs.

    Attributes:
        height: The height of the image.
        width: The width of the image.
        counts: Numbers of pixels outside and inside of the object in turn, down the columns of the image from the
            left, int64; they add up to all pixels.
    """

    height: int
    width: int
    counts: Array

    def __post_init__(self) -> None:
        counts = np.asarray(self.counts, np.int64).reshape(-1)
        if not (0 < self.height <= LARGEST_SIDE and 0 < self.width <= LARGEST_SIDE):
            raise ArgumentError(f"masks: the sides must be from 1 to {LARGEST_SIDE}, got {self.height, self.width}")
        pixels = self.height * self.width
        if (counts < 0).any() or (counts > pixels).any() or counts.sum() != pixels:
            raise ArgumentError(f"masks: the runs must add up to {self.height} x {self.width} pixels")
        object.__setattr__(self, "counts", counts)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RunMask):
            return NotImplemented
        return (self.height, self.width) == (other.height, other.width) and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def bitmap(self) -> Array:
        """Return the mask as a bool array of shape (height, width)."""
        inside = np.arange(len(self.counts)) % 2 == 1
        return np.repeat(inside, self.counts).reshape(self.width, self.height).T

    def resized(self, height: int, width: int) -> RunMask:
        """Return the mask of an image of another size; each pixel is that of the nearest one."""
        rows = ((np.arange(height) + 0.5) * self.height / height).astype(np.int64)
        columns = ((np.arange(width) + 0.5) * self.width / width).astype(np.int64)
        return RunMask.of(self.bitmap()[rows[:, None], columns])

    @classmethod
    def of(cls, bitmap: Array) -> RunMask:
        """Return the runs of a bool array of shape (height, width)."""
        height, width = bitmap.shape
        flat = np.asarray(bitmap, bool).T.reshape(-1)
        changes = np.flatnonzero(np.diff(flat, prepend=False))
        return cls(height, width, np.diff(np.concatenate([[0], changes, [flat.size]])))

    def rings(self) -> list[Array]:
        """Return rectangles that cover exactly the pixels of the object, as rings of fractions of the size."""
        ends = np.cumsum(self.counts)[1::2]
        starts = ends - self.counts[1::2]
        columns: dict[int, list[tuple[int, int]]] = {}
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            while start < end:
                column, top = divmod(start, self.height)
                bottom = min(self.height, top + end - start)
                columns.setdefault(column, []).append((top, bottom))
                start += bottom - top
        found: list[Array] = []
        scale = np.array([self.width, self.height], np.float64)
        open_spans: dict[tuple[int, int], int] = {}  # spans of rows that reach from a column up to here
        for column in range(self.width + 1):
            here = set(columns.get(column, ()))
            for span in [span for span in open_spans if span not in here]:
                left, (top, bottom) = open_spans.pop(span), span
                corners = [[left, top], [column, top], [column, bottom], [left, bottom]]
                found.append((np.array(corners) / scale).astype(np.float32))
            for span in here:
                open_spans.setdefault(span, column)
        return sorted(found, key=lambda ring: ring.tolist())
