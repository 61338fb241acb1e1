"""Outlines and keypoints of objects that follow their image through a recipe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pixelmill.augmentation.program import ProgramOutput
from pixelmill.formats.sample import Boxes
from pixelmill.formats.shapes import Keypoints, Polygons
from pixelmill.recipe.geometry import follow_points, follow_polygon, is_mirrored
from pixelmill.types import Array


def follow_objects(boxes: Boxes, made: ProgramOutput) -> Boxes:
    """Return objects whose polygons and keypoints follow the image; masks of runs become polygons first.

    Polygons are cut off where the image is, and rings of which nothing is left are dropped. Keypoints that leave the
    image count as not labeled. If left and right are swapped, so are the pairs of keypoints that the recipe names.
    """
    polygons = boxes.polygons
    if boxes.masks is not None:
        rings = [[] for _ in range(len(boxes))] if polygons is None else polygons.by_object(len(boxes))
        found = [own if mask is None else mask.rings() for own, mask in zip(rings, boxes.masks, strict=True)]
        polygons = Polygons.of(found)
    if polygons is not None:
        polygons = Polygons.of([_followed(rings, made) for rings in polygons.by_object(len(boxes))])
    keypoints = None if boxes.keypoints is None else _moved_keypoints(boxes.keypoints, made)
    return replace(boxes, polygons=polygons, masks=None, keypoints=keypoints)


def _followed(rings: Sequence[Array], made: ProgramOutput) -> list[Array]:
    before, after = made.before[::-1], made.after[::-1]
    moved = (follow_polygon(ring.astype(np.float64) * before, made.path, made.before)[0] for ring in rings)
    return [ring / after for ring in moved if len(ring)]


def _moved_keypoints(keypoints: Keypoints, made: ProgramOutput) -> Keypoints:
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
