"""Boxes that follow the steps of a recipe inside a pipeline."""

from __future__ import annotations

import numpy as np

from pixelmill import fn
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe import Scene, follow
from pixelmill.types import Array

VISIBILITY = 0.3  # boxes of which less stays inside the image are dropped, as `augment` does


def boxes_after(
    scene: Scene, sizes: DataNode, boxes: DataNode, labels: DataNode | None = None
) -> DataNode | list[DataNode]:
    """Move boxes as a recipe has moved their image.

    Args:
        scene: The result of the recipe.
        sizes: The shapes of the images before it.
        boxes: Left, top, right, bottom as fractions of the size.
        labels: The classes of the boxes.

    Returns:
        The boxes that are still visible, and their labels if there are any.
    """
    counts = [len(move.nodes) for move in scene.moves]
    transforms = [move.transform for move in scene.moves]

    def moved(size: Array, ltrb: Array, *rest: Array) -> tuple[Array, ...]:
        classes, values = (rest[:1], rest[1:]) if labels is not None else ((), rest)
        path, at = [], 0
        for transform, count in zip(transforms, counts, strict=True):
            path.append(transform(*values[at : at + count]))
            at += count
        found, visible = follow(ltrb, path, (int(size[0]), int(size[1])))
        kept = (visible >= VISIBILITY) & (found[:, 2] > found[:, 0]) & (found[:, 3] > found[:, 1])
        return (np.ascontiguousarray(found[kept]), *(np.ascontiguousarray(own[kept]) for own in classes))

    given = [boxes, *([] if labels is None else [labels]), *(node for move in scene.moves for node in move.nodes)]
    outputs = 1 if labels is None else 2
    made: DataNode | list[DataNode] = fn.python_function(sizes, *given, function=moved, num_outputs=outputs)
    return made
