"""Oriented boxes: rectangles of any angle, as four corners that follow the image.

The corners of an upright box are top left, top right, bottom right and bottom left; those of a turned one are the same
four, turned. So the edge from the first to the second corner is the top of the object, whatever its angle.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pixelmill.recipe.covers import Pasted
from pixelmill.recipe.fields import Displacement
from pixelmill.recipe.geometry import Transform, follow_polygon, is_mirrored, mapped, size_after, subdivided
from pixelmill.types import Array

# All orders of four corners that go around, one way or the other.
_ORDERS = np.array([np.roll(way, by) for way in ([0, 1, 2, 3], [3, 2, 1, 0]) for by in range(4)])
_SIGNS = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def to_corners(boxes: Array) -> Array:
    """Return the corners of oriented boxes, (n, 4, 2).

    Args:
        boxes: Center x and y, width, height, and the angle in degrees, counterclockwise, (n, 5), in pixels.
    """
    cx, cy, width, height, angle = np.asarray(boxes, np.float64).reshape(-1, 5).T
    turn = np.radians(angle)
    across = np.stack([np.cos(turn), -np.sin(turn)], axis=1) * width[:, None]
    down = np.stack([np.sin(turn), np.cos(turn)], axis=1) * height[:, None]
    center = np.stack([cx, cy], axis=1)
    corners: Array = center[:, None] + _SIGNS[:, :1] * across[:, None] + _SIGNS[:, 1:] * down[:, None]
    return corners


def from_corners(corners: Array) -> Array:
    """Return center x and y, width, height and angle in degrees, counterclockwise, of oriented boxes, (n, 5).

    Args:
        corners: The corners in pixels, (n, 4, 2). The angle is that of the edge from the first to the second.
    """
    points = np.asarray(corners, np.float64).reshape(-1, 4, 2)
    across, down = points[:, 1] - points[:, 0], points[:, 3] - points[:, 0]
    angle = np.degrees(np.arctan2(-across[:, 1], across[:, 0]))
    sides = np.stack([np.hypot(*across.T), np.hypot(*down.T), angle], axis=1)
    return np.concatenate([points.mean(axis=1), sides], axis=1)


def as_rectangles(corners: Array) -> Array:
    """Return the smallest rectangle around each four corners in pixels, float32, (n, 4, 2)."""
    given = np.asarray(corners, np.float64).reshape(-1, 4, 2)
    made = [_aligned(smallest_rectangle(points), points) for points in given]
    return np.array(made, np.float32).reshape(-1, 4, 2)


def follow_corners(corners: Array, path: Sequence[Transform], size: tuple[int, int]) -> tuple[Array, Array]:
    """Move oriented boxes through the transforms of an image.

    A box becomes the smallest rectangle around its moved corners, which is exactly these where the image was turned,
    mirrored and scaled alike in both directions. If a part of it has left the image, it becomes the smallest rectangle
    in the same direction around what is left.

    Args:
        corners: The corners of each box as fractions of the width and height, (n, 4, 2).
        path: The transforms in order.
        size: Height and width of the image before all of them.

    Returns:
        The new corners, relative to the new image, float32, zeros if nothing is left, and the fraction of each box that
        remains.
    """
    given = np.asarray(corners, np.float64).reshape(-1, 4, 2)
    made, visible = given.astype(np.float32), np.ones(len(given))
    if not path:
        return made, visible
    after = np.array(size_after(path, size)[::-1])
    for number, points in enumerate(given * [size[1], size[0]]):
        left, visible[number] = follow_polygon(convex_hull(points), path, size)
        made[number] = _refitted(points, left, path) / after if visible[number] > 0 else 0
    return made, visible


def bounds(corners: Array) -> Array:
    """Return left, top, right, bottom of oriented boxes within the image, (n, 4); all as fractions of its size."""
    sides: Array = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1).clip(0, 1)
    return sides


def _refitted(points: Array, left: Array, path: Sequence[Transform]) -> Array:
    """Return the rectangle of a moved box in the direction of the whole box around `left`, what is left of it."""
    moved, outline = points, points
    for transform in path:
        if isinstance(transform, Displacement):
            outline = subdivided(outline)
        if isinstance(transform, Pasted):
            continue
        if _crosses_horizon(outline, transform):
            moved = outline = left  # a part that was cut off before has no place in this perspective
            break
        moved, outline = _moved(moved, transform), _moved(outline, transform)
    whole = smallest_rectangle(outline)
    if moved is not left:
        whole = _aligned(whole, moved)
        if is_mirrored(path):
            whole = whole[[1, 0, 3, 2]]
    return _around(left, whole[1] - whole[0], whole[3] - whole[0])


def _aligned(rectangle: Array, corners: Array) -> Array:
    """Return a rectangle in the order of the corners that it is around."""
    distances = ((rectangle[_ORDERS] - corners) ** 2).sum(axis=(1, 2))
    return np.asarray(rectangle[_ORDERS[distances.argmin()]])


def _moved(points: Array, transform: Transform) -> Array:
    if not isinstance(transform, Displacement):
        return mapped(points, transform)
    inside = np.clip(points, 0, transform.size[::-1])  # a field says nothing about places outside of the image
    shifted: Array = points + transform.moved(inside) - inside
    return shifted


def _crosses_horizon(points: Array, transform: Transform) -> bool:
    if not isinstance(transform, tuple):
        return False
    depth = points @ transform[0][2, :2] + transform[0][2, 2]
    return bool(depth.min() * depth.max() <= 0)


def smallest_rectangle(points: Array) -> Array:
    """Return the corners of the rectangle with the smallest area around points, (4, 2)."""
    hull = convex_hull(points)
    edges = np.roll(hull, -1, axis=0) - hull
    lengths = np.hypot(*edges.T)
    across = edges[lengths > 0] / lengths[lengths > 0, None]
    if not len(across):
        return np.repeat(hull[:1], 4, axis=0)
    # One side of the smallest rectangle lies on an edge of the hull (Freeman and Shapira, 1975).
    down = np.stack([-across[:, 1], across[:, 0]], axis=1)
    areas = np.ptp(hull @ across.T, axis=0) * np.ptp(hull @ down.T, axis=0)
    best = int(areas.argmin())
    return _around(hull, across[best], down[best])


def _around(points: Array, across: Array, down: Array) -> Array:
    """Return the corners of the rectangle around points with sides in two directions at right angles."""
    axes = np.stack([across, down]) / np.maximum(np.hypot(*np.stack([across, down]).T), 1e-12)[:, None]
    places = points @ axes.T
    low, high = places.min(axis=0), places.max(axis=0)
    corners: Array = np.where(_SIGNS < 0, low, high) @ axes
    return corners


def convex_hull(points: Array) -> Array:
    """Return the corners of the smallest convex polygon around points, in order (Andrew's monotone chain)."""
    order = sorted(set(map(tuple, np.asarray(points, np.float64).tolist())))
    if len(order) < 3:
        return np.array(order)
    halves = []
    for half in (order, order[::-1]):
        chain: list[tuple[float, float]] = []
        for x, y in half:
            while len(chain) > 1 and _turn(chain[-2], chain[-1], (x, y)) <= 0:
                chain.pop()
            chain.append((x, y))
        halves += chain[:-1]
    return np.array(halves)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
