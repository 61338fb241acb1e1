"""How points and boxes move when an image is resized, flipped, rotated or cropped.

A transform is a 3x3 matrix on points (x, y, 1) in pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pixelmill.types import Array

# The matrix from points before a step to points after it, and the height and width of the image after it.
Transform = tuple[Array, tuple[int, int]]


def resized(before: Array, after: Array) -> Transform:
    """Return the transform of a resize between these shapes."""
    return np.diag([after[1] / before[1], after[0] / before[0], 1.0]), _size(after)


def flipped(shape: Array, horizontal: Array, vertical: Array) -> Transform:
    """Return the transform of a flip."""
    height, width = _size(shape)
    left_right = [-1.0, 0.0, width] if horizontal else [1.0, 0.0, 0.0]
    top_bottom = [0.0, -1.0, height] if vertical else [0.0, 1.0, 0.0]
    return np.array([left_right, top_bottom, [0.0, 0.0, 1.0]]), (height, width)


def rotated(before: Array, after: Array, angle: Array) -> Transform:
    """Return the transform of a rotation about the center, in degrees, counterclockwise."""
    cos, sin = math.cos(math.radians(float(angle))), math.sin(math.radians(float(angle)))
    turn = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return _shift(after[1] / 2, after[0] / 2) @ turn @ _shift(-before[1] / 2, -before[0] / 2), _size(after)


def cropped(corner: Array, extents: Array) -> Transform:
    """Return the transform of a crop with this top left corner and size."""
    return _shift(-float(corner[1]), -float(corner[0])), _size(extents)


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
        points, whole = np.stack([x, y], axis=1), (box[2] - box[0]) * (box[3] - box[1]) * size[0] * size[1]
        for matrix, (height, width) in path:
            # Clip after every step: pixels that left the image do not come back with a later rotation.
            points = _clipped(points @ matrix[:2, :2].T + matrix[:2, 2], height, width)
            # The uncut box scales with the image, so that a resize alone leaves the visible fraction at 1.
            whole *= abs(np.linalg.det(matrix[:2, :2]))
        if len(points) < 3 or whole <= 0:
            continue
        height, width = path[-1][1] if path else size
        boxes[number] = [*(points.min(axis=0) / [width, height]), *(points.max(axis=0) / [width, height])]
        visible[number] = min(_area(points) / whole, 1.0)
    return boxes, visible


def _clipped(points: Array, height: int, width: int) -> Array:
    """Clip a convex polygon to the image (Sutherland-Hodgman)."""
    if len(points) == 0 or ((points >= 0).all() and (points <= [width, height]).all()):
        return points
    for axis, limit in ((0, float(width)), (1, float(height))):
        points = _cut(points, points[:, axis])
        points = _cut(points, limit - points[:, axis])
    return points


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
    x, y = points.T
    return 0.5 * abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def _size(shape: Array) -> tuple[int, int]:
    return int(shape[0]), int(shape[1])


def _shift(x: float, y: float) -> Array:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
