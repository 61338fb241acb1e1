"""Boxes that follow the picture through the moves of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
# A matrix from points (x, y, 1) before to points behind, in pixels, and the height and width of the picture behind.
Path = Sequence[tuple[Array, tuple[int, int]]]


def follow(ltrb: Array, path: Path, size: tuple[int, int]) -> tuple[Array, Array]:
    """Move boxes through the picture's moves; what leaves the picture on the way is gone, as the pixels are.

    Args:
        ltrb: Left, top, right, bottom of each as shares of the picture, shape (n, 4).
        path: The moves.
        size: Height and width of the picture before all of them.

    Returns:
        The smallest boxes around what is left, as shares of the new picture, and the share of each that is left.
    """
    boxes = np.zeros((len(ltrb), 4), np.float32)
    left = np.zeros(len(ltrb))
    for number, box in enumerate(np.asarray(ltrb, np.float64)):
        x = np.clip(box[[0, 2, 2, 0]], 0, 1) * size[1]
        y = np.clip(box[[1, 1, 3, 3]], 0, 1) * size[0]
        points, whole = np.stack([x, y], axis=1), (box[2] - box[0]) * (box[3] - box[1]) * size[0] * size[1]
        for matrix, (height, width) in path:
            points = _inside(points @ matrix[:2, :2].T + matrix[:2, 2], height, width)
            whole *= abs(np.linalg.det(matrix[:2, :2]))
        if len(points) < 3 or whole <= 0:
            continue
        height, width = path[-1][1] if path else size
        boxes[number] = [*(points.min(axis=0) / [width, height]), *(points.max(axis=0) / [width, height])]
        left[number] = min(_area(points) / whole, 1.0)
    return boxes, left


def _inside(points: Array, height: int, width: int) -> Array:
    """Cut a convex polygon off at the border of the picture."""
    if len(points) == 0 or ((points >= 0).all() and (points <= [width, height]).all()):
        return points
    for axis, limit in ((0, float(width)), (1, float(height))):
        points = _cut(points, points[:, axis])
        points = _cut(points, limit - points[:, axis])
    return points


def _cut(points: Array, distance: Array) -> Array:
    """Keep the part of a polygon where the distance to a line, known at its corners, is not negative."""
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
