"""Boxes that follow the steps of a recipe inside a pipeline."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pixelmill import fn
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe import Part, Scene, other_sample
from pixelmill.recipe.box_crops import followed, part_nodes
from pixelmill.types import Array

VISIBILITY = 0.3  # boxes of which less stays inside the image are dropped, as `augment` does


def boxes_after(
    scene: Scene, sizes: DataNode, boxes: DataNode, labels: DataNode | None = None
) -> DataNode | list[DataNode]:
    """Move boxes as a recipe has moved their image; if it has joined several samples, the boxes of all of them.

    Args:
        scene: The result of the recipe.
        sizes: The shapes of the images before it.
        boxes: Left, top, right, bottom as fractions of the size.
        labels: The classes of the boxes.

    Returns:
        The boxes that are still visible, and their labels if there are any.
    """
    parts = scene.parts
    nodes: list[DataNode] = []
    for part in parts:
        own = [sizes, boxes, *([] if labels is None else [labels])]
        nodes += own if part.seed is None else [other_sample(node, part.seed) for node in own]
        nodes += part_nodes(part)

    def moved(*arrays: Array) -> tuple[Array, ...]:
        values = iter(arrays)
        found = [_followed(part, values, has_labels=labels is not None) for part in parts]
        return tuple(np.ascontiguousarray(np.concatenate(column)) for column in zip(*found, strict=True))

    outputs = 1 if labels is None else 2
    made: DataNode | list[DataNode] = fn.python_function(*nodes, function=moved, num_outputs=outputs)
    return made


def _followed(part: Part, values: Iterator[Array], *, has_labels: bool) -> tuple[Array, ...]:
    """Return the boxes of one of the joined samples that are still visible, and their labels."""
    size, ltrb = next(values), next(values)
    classes = [next(values)] if has_labels else []
    found, visible = followed(part, size, ltrb, values)
    kept = (visible >= VISIBILITY) & (found[:, 2] > found[:, 0]) & (found[:, 3] > found[:, 1])
    return found[kept], *(own[kept] for own in classes)
