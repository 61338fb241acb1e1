"""How points, polygons and boxes move with the pixels of an image.

A transform is a 3x3 matrix on points (x, y, 1) in pixels, or a field of displacements. Everything is cut off where the
pixels are: at the edge of the image after every step, because pixels that left do not come back with a later step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pixelmill.recipe.covers import Pasted
from pixelmill.recipe.fields import Displacement
from pixelmill.types import Array

# The matrix from points before a step to points after it, and the height and width of the image after it.
Linear = tuple[Array, tuple[int, int]]
Transform = Linear | Displacement | Pasted

# A straight edge becomes a curve under a field of displacements, which is followed by this many points.
_POINTS_OF_EDGE = 16


def resized(before: Array, after: Array) -> Linear:
    """Return the transform of a resize between these shapes."""
    return np.diag([after[1] / before[1], after[0] / before[0], 1.0]), _size(after)


def flipped(shape: Array, horizontal: Array, vertical: Array) -> Linear:
    """Return the transform of a flip."""
    height, width = _size(shape)
    left_right = [-1.0, 0.0, width] if horizontal else [1.0, 0.0, 0.0]
    top_bottom = [0.0, -1.0, height] if vertical else [0.0, 1.0, 0.0]
    return np.array([left_right, top_bottom, [0.0, 0.0, 1.0]]), (height, width)


def rotated(before: Array, after: Array, angle: Array) -> Linear:
    """Return the transform of a rotation about the center, in degrees, counterclockwise."""
    cos, sin = math.cos(math.radians(float(angle))), math.sin(math.radians(float(angle)))
    turn = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return _shift(after[1] / 2, after[0] / 2) @ turn @ _shift(-before[1] / 2, -before[0] / 2), _size(after)


def cropped(corner: Array, extents: Array) -> Linear:
    """Return the transform of a crop with this top left corner and size."""
    return _shift(-float(corner[1]), -float(corner[0])), _size(extents)


def moved(numbers: Array) -> Linear:
    """Return the transform of a move that the core made: nine numbers of its matrix, and the size after it."""
    return numbers[:9].reshape(3, 3), (int(numbers[9]), int(numbers[10]))


def follow(ltrb: Array, path: Sequence[Transform], size: tuple[int, int]) -> tuple[Array, Array]:
    """Move boxes through the transforms of an image; parts that leave the image on the way are cut off like its pixels.

    Args:
        ltrb: Left, top, right and bottom of each box, relative to the image, shape (n, 4).
        path: The transforms in order.
        size: Height and width of the image before all of them.

    Returns:
        The bounding boxes of what remains, relative to the new image, and the fraction of each box that remains.
    """
    boxes = np.zeros((len(ltrb), 4), np.float32)
    visible = np.zeros(len(ltrb))
    # A box is followed as a polygon: the bounding box of a rotated box that is cropped afterwards would be too large if
    # it were taken after each step.
    for number, box in enumerate(np.asarray(ltrb, np.float64)):
        x = np.clip(box[[0, 2, 2, 0]], 0, 1) * size[1]
        y = np.clip(box[[1, 1, 3, 3]], 0, 1) * size[0]
        whole = (box[2] - box[0]) * (box[3] - box[1]) * size[0] * size[1]
        points, visible[number] = _followed(np.stack([x, y], axis=1), whole, path)
        if visible[number] > 0:
            height, width = size_after(path, size)
            boxes[number] = [*(points.min(axis=0) / [width, height]), *(points.max(axis=0) / [width, height])]
    return boxes, visible


def follow_polygon(points: Array, path: Sequence[Transform], size: tuple[int, int]) -> tuple[Array, float]:
    """Move a polygon, given in pixels, shape (n, 2).

    Returns:
        The polygon that remains, in pixels of the new image, perhaps without points, and the fraction that remains.
    """
    return _followed(_clipped(points, *size), _area(points), path)


def follow_points(points: Array, path: Sequence[Transform], size: tuple[int, int]) -> tuple[Array, Array]:
    """Move points, given in pixels, shape (n, 2).

    Returns:
        The points in pixels of the new image, and whether each was inside of the image before and after every step.
    """
    now = np.asarray(points, np.float64).reshape(-1, 2)
    inside = _inside(now, size)
    for transform in path:
        now = mapped(now, transform)
        inside &= _inside(now, size_after([transform], size))
        if isinstance(transform, Pasted):
            inside &= transform.shows(now)
    return now, inside


def is_mirrored(path: Sequence[Transform]) -> bool:
    """Whether left and right are swapped, as by an odd number of flips."""
    turns = [np.linalg.det(step[0][:2, :2]) for step in path if isinstance(step, tuple)]
    return sum(bool(turn < 0) for turn in turns) % 2 == 1


def size_after(path: Sequence[Transform], size: tuple[int, int]) -> tuple[int, int]:
    """Return the height and width of an image after the transforms."""
    if not path:
        return size
    return path[-1][1] if isinstance(path[-1], tuple) else path[-1].size


def mapped(points: Array, transform: Transform) -> Array:
    """Move points without a look at the edges of the image."""
    if isinstance(transform, Displacement):
        return transform.moved(points)
    if isinstance(transform, Pasted):
        return points
    matrix = transform[0]
    moved_points: Array = points @ matrix[:2, :2].T + matrix[:2, 2]
    if matrix[2, 0] or matrix[2, 1] or matrix[2, 2] != 1:
        moved_points = moved_points / (points @ matrix[2, :2] + matrix[2, 2])[:, None]
    return moved_points


def subdivided(points: Array) -> Array:
    """Return a polygon with further points on its edges, which a field of displacements bends."""
    if len(points) == 0:
        return points
    steps = np.arange(_POINTS_OF_EDGE) / _POINTS_OF_EDGE
    ends = np.roll(points, -1, axis=0)
    between: Array = points[:, None] + (ends - points)[:, None] * steps[None, :, None]
    return between.reshape(-1, 2)


def _followed(points: Array, whole: float, path: Sequence[Transform]) -> tuple[Array, float]:
    """Return what remains of a polygon, and the fraction of `whole`, its area before it was cut, that this is."""
    for transform in path:
        if isinstance(transform, Pasted):
            points, seen = _seen(points, transform)
            if not seen:
                return np.zeros((0, 2)), 0.0
            whole /= seen
            continue
        if isinstance(transform, Displacement):
            points = subdivided(points)
        before, points = points, mapped(points, transform)
        # The uncut polygon scales with the image, so that a resize alone leaves the visible fraction at 1.
        if isinstance(transform, Displacement) or transform[0][2, 0] or transform[0][2, 1]:
            whole *= _area(points) / max(_area(before), 1e-12)
        else:
            whole *= abs(np.linalg.det(transform[0][:2, :2] / transform[0][2, 2]))
        # Clip after every step: pixels that left the image do not come back with a later rotation.
        points = _clipped(points, *size_after([transform], (0, 0)))
        if len(points) < 3:
            break
    if len(points) < 3 or whole <= 0:
        return np.zeros((0, 2)), 0.0
    return points, min(_area(points) / whole, 1.0)


def _seen(points: Array, transform: Pasted) -> tuple[Array, float]:
    """Return a polygon cut at the window that is pasted, and the fraction of the rest that is seen."""
    window = transform.window()
    if window is not None:
        corner, far = np.array(window[:2]), np.array(window[2:])
        width, height = (far - corner).tolist()
        points = _clipped(points - corner, height, width) + corner
    return points, transform.visible(points) if len(points) >= 3 else 0.0


def _inside(points: Array, size: tuple[int, int]) -> Array:
    within = np.concatenate([points >= 0, points <= [size[1], size[0]]], axis=1)
    return np.asarray(within.all(axis=1))


def _clipped(points: Array, height: int, width: int) -> Array:
    """Clip a polygon to the image (Sutherland-Hodgman); parts of one that is not convex stay connected at the edge."""
    if len(points) == 0 or ((points >= 0).all() and (points <= [width, height]).all()):
        return points
    for axis, limit in ((0, float(width)), (1, float(height))):
        points = _cut(points, points[:, axis])
        points = _cut(points, limit - points[:, axis])
    inside: Array = np.clip(points, 0, [width, height])  # corners on an edge, which rounding may have put beyond it
    return inside


def _cut(points: Array, distance: Array) -> Array:
    """Keep the part of a polygon on one side of a line; `distance` is the signed distance of its corners."""
    kept = []
    for here, there, d, e in zip(points, np.roll(points, -1, axis=0), distance, np.roll(distance, -1), strict=True):
        if d >= 0:
            kept.append(here)
        if (d >= 0) != (e >= 0):
            kept.append(here + (there - here) * (d / (d - e)))
    return np.array(kept).reshape(-1, 2)


def _area(points: Array) -> float:
    x, y = np.asarray(points, np.float64).reshape(-1, 2).T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def _size(shape: Array) -> tuple[int, int]:
    return int(shape[0]), int(shape[1])


def _shift(x: float, y: float) -> Array:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
