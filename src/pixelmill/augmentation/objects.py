"""Outlines and keypoints of objects that follow their image through a recipe."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from pixelmill.augmentation.program import OtherOutput, ProgramOutput
from pixelmill.errors import DataError
from pixelmill.formats.sample import Boxes
from pixelmill.formats.shapes import Keypoints, Polygons
from pixelmill.recipe.geometry import follow, follow_points, follow_polygon, is_mirrored
from pixelmill.recipe.oriented_boxes import bounds, follow_corners
from pixelmill.types import Array

T = TypeVar("T")
_NO_POINTS: Array = np.empty((0, 3), np.float32)


def followed_boxes(boxes: Boxes, made: ProgramOutput | OtherOutput, *, visibility: float) -> tuple[Boxes, Array]:
    """Return the objects that are left after the steps of a recipe, and which these are.

    Args:
        boxes: The objects before.
        made: How their image was moved.
        visibility: Objects of which a smaller fraction is left are dropped.
    """
    if boxes.oriented:
        corners, visible = follow_corners(boxes.corners(), made.path, made.before)
        ltrb, moved = bounds(corners), replace(boxes, polygons=Polygons.of(corners[:, None]))
    else:
        ltrb, visible = follow(boxes.ltrb, made.path, made.before)
        moved = follow_outlines(boxes, made)
    keypoints = None if boxes.keypoints is None else _moved_keypoints(boxes.keypoints, made)
    kept = (visible >= visibility) & (ltrb[:, 2] > ltrb[:, 0]) & (ltrb[:, 3] > ltrb[:, 1])
    return replace(moved, ltrb=ltrb, keypoints=keypoints).only(kept), kept


def joined_boxes(several: Sequence[Boxes]) -> Boxes:
    """Return the objects of several images as those of one."""
    found = [boxes for boxes in several if len(boxes)] or list(several[:1])
    if len(found) == 1:
        return found[0]
    if len({boxes.labels is None for boxes in found}) > 1:
        raise DataError("objects with classes are joined with objects that have none")
    polygons: list[list[list[Array]]] = [
        boxes.polygons.by_object(len(boxes)) if boxes.polygons else [[] for _ in boxes.ltrb] for boxes in found
    ]
    keypoints = [boxes.keypoints.by_object() if boxes.keypoints else [_NO_POINTS] * len(boxes) for boxes in found]
    attributes = dict.fromkeys(name for boxes in found for name in boxes.attributes)
    return Boxes(
        np.concatenate([boxes.ltrb for boxes in found]),
        None if found[0].labels is None else np.concatenate([boxes.labels for boxes in found]),
        _chain(boxes.names or ("",) * len(boxes) for boxes in found) if any(boxes.names for boxes in found) else None,
        Polygons.of(_chain(polygons)) if any(boxes.polygons for boxes in found) else None,
        None,
        Keypoints.of(_chain(keypoints)) if any(boxes.keypoints for boxes in found) else None,
        {name: _chain(boxes.attributes.get(name, (None,) * len(boxes)) for boxes in found) for name in attributes},
        all(boxes.oriented for boxes in found),
    )


def _chain(parts: Iterable[Iterable[T]]) -> tuple[T, ...]:
    return tuple(itertools.chain.from_iterable(parts))


def follow_outlines(boxes: Boxes, made: ProgramOutput | OtherOutput) -> Boxes:
    """Return objects whose polygons follow the image; masks of runs become polygons first.

    Polygons are cut off where the image is, and rings of which nothing is left are dropped.
    """
    polygons = boxes.polygons
    if boxes.masks is not None:
        rings = [[] for _ in range(len(boxes))] if polygons is None else polygons.by_object(len(boxes))
        found = [own if mask is None else mask.rings() for own, mask in zip(rings, boxes.masks, strict=True)]
        polygons = Polygons.of(found)
    if polygons is not None:
        polygons = Polygons.of([_followed(rings, made) for rings in polygons.by_object(len(boxes))])
    return replace(boxes, polygons=polygons, masks=None)


def _followed(rings: Sequence[Array], made: ProgramOutput | OtherOutput) -> list[Array]:
    before, after = made.before[::-1], made.after[::-1]
    moved = (follow_polygon(ring.astype(np.float64) * before, made.path, made.before)[0] for ring in rings)
    return [ring / after for ring in moved if len(ring)]


def _moved_keypoints(keypoints: Keypoints, made: ProgramOutput | OtherOutput) -> Keypoints:
    """Move keypoints. Those that leave the image count as not labeled.

    If left and right are swapped, so are the pairs of keypoints that the recipe names.
    """
    flat = keypoints.points.reshape(-1, 2).astype(np.float64) * made.before[::-1]
    moved, inside = follow_points(flat, made.path, made.before)
    labeled = keypoints.visibility > 0
    points = (moved / made.after[::-1]).reshape(keypoints.points.shape)
    points = np.where(labeled[..., None], points, keypoints.points)
    lost = labeled & ~inside.reshape(labeled.shape)
    points = np.where(lost[..., None], 0, points)
    visibility = np.where(lost, 0, keypoints.visibility)
    if made.keypoint_pairs and is_mirrored(made.path):
        order = np.arange(visibility.shape[1])
        for one, other in made.keypoint_pairs:
            if max(one, other) < len(order):
                order[[one, other]] = order[[other, one]]
        points, visibility = points[:, order], visibility[:, order]
    return Keypoints(points, visibility)
