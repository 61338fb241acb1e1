"""Boxes that follow the steps of a recipe inside a pipeline."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from pixelmill import fn
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe import Part, Scene, other_sample
from pixelmill.recipe.box_crops import followed, joined_path, part_nodes
from pixelmill.recipe.oriented_boxes import bounds, follow_corners
from pixelmill.types import Array

VISIBILITY = 0.3  # boxes of which less stays inside the image are dropped, as `augment` does


def boxes_after(
    scene: Scene,
    sizes: DataNode,
    boxes: DataNode,
    labels: DataNode | None = None,
    corners: DataNode | None = None,
) -> DataNode | list[DataNode]:
    """Move boxes as a recipe has moved their image; if it has joined several samples, the boxes of all of them.

    Args:
        scene: The result of the recipe.
        sizes: The shapes of the images before it.
        boxes: Left, top, right, bottom as fractions of the size.
        labels: The classes of the boxes.
        corners: The corners of oriented boxes as fractions of the size, (n, 4, 2), which then decide about the boxes.

    Returns:
        The boxes that are still visible, their labels if there are any, and their corners if there are any.
    """
    parts = scene.parts
    nodes: list[DataNode] = []
    given = [node for node in (labels, corners) if node is not None]
    for part in parts:
        own = [sizes, boxes, *given]
        nodes += own if part.seed is None else [other_sample(node, part.seed) for node in own]
        nodes += part_nodes(part)

    def moved(*arrays: Array) -> tuple[Array, ...]:
        values = iter(arrays)
        found = [_followed(part, values, count=len(given), oriented=corners is not None) for part in parts]
        return tuple(np.ascontiguousarray(np.concatenate(column)) for column in zip(*found, strict=True))

    made: DataNode | list[DataNode] = fn.python_function(*nodes, function=moved, num_outputs=1 + len(given))
    return made


def _followed(part: Part, values: Iterator[Array], *, count: int, oriented: bool) -> tuple[Array, ...]:
    """Return the boxes of one of the joined samples that are still visible, and what else belongs to them."""
    size, ltrb, *others = itertools.islice(values, 2 + count)
    if oriented:
        is_joined, path = joined_path(part, values)
        others[-1], visible = follow_corners(others[-1], path, (int(size[0]), int(size[1])))
        found, visible = bounds(others[-1]), visible * is_joined
    else:
        found, visible = followed(part, size, ltrb, values)
    kept = (visible >= VISIBILITY) & (found[:, 2] > found[:, 0]) & (found[:, 3] > found[:, 1])
    return found[kept], *(own[kept] for own in others)
