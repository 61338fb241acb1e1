"""Crops that look at the boxes of an image."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pixelmill import fn, types
from pixelmill import math as node_math
from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe.composition import Request
from pixelmill.recipe.direct import Layers, Number, Part, node_of
from pixelmill.recipe.geometry import Transform, follow
from pixelmill.types import Array

OVERLAPS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)  # of SSD
Followed = tuple[Array, Array]  # boxes, and the fraction of each that is left


class BoxCrops:
    """The crops of a scene that depend on its boxes."""

    if TYPE_CHECKING:
        _active: DataNode | None
        _known: dict[int | None, tuple[DataNode, DataNode]]  # shape and boxes of samples before all steps

        @property
        def _settled(self) -> Layers: ...

        @property
        def parts(self) -> tuple[Part, ...]: ...
        def _requested(self, request: Request) -> Self: ...
        def _changed(self, **fields: object) -> Self: ...

    def iou_crop(
        self,
        *,
        overlaps: Sequence[float] = OVERLAPS,
        scaling: Sequence[float] = (0.3, 1.0),
        aspect_ratio: Sequence[float] = (0.5, 2.0),
        attempts: int = 40,
        seed: int | None = None,
    ) -> Self:
        """Crop a random window that overlaps all boxes at least so much, or keep the whole image, as SSD does.

        Args:
            overlaps: The smallest intersection over union; one is drawn, or none: then the image stays whole.
            scaling: The smallest and the largest side of the window, as fractions of the image.
            aspect_ratio: The smallest and the largest width of the window as a multiple of its height.
            attempts: How many windows are drawn before another overlap is.
            seed: Seed of the draws.
        """
        boxes = self._followed_boxes("iou_crop", lambda found: found[0][found[1] > 0])
        drawn: Any = fn.random_bbox_crop(
            boxes,
            thresholds=list(overlaps),
            scaling=list(scaling),
            aspect_ratio=list(aspect_ratio),
            num_attempts=attempts,
            total_num_attempts=attempts * (len(overlaps) + 1) * 4,
            bbox_layout="xyXY",
            seed=seed,
        )
        anchor, extent = drawn[0], drawn[1]
        edges = [anchor[1], anchor[0], anchor[1] + extent[1], anchor[0] + extent[0]]
        return self._cropped_at(edges)

    def box_safe_crop(self, *, least: Number = 0.0, seed: int | None = None) -> Self:
        """Crop a random window that holds all boxes; the whole image if there are none.

        Args:
            least: How much of the image at the sides of the boxes stays at least, from 0 to 1.
            seed: Seed of the draws.
        """
        union = self._followed_boxes("box_safe_crop", _union)
        drawn = fn.random.uniform(range=[0.0, 1.0], shape=[4], seed=seed) * (1.0 - node_of(least))
        near = [union[1] * drawn[0], union[0] * drawn[1]]
        far = [1.0 - (1.0 - union[3]) * drawn[2], 1.0 - (1.0 - union[2]) * drawn[3]]
        return self._cropped_at([*near, *far])

    def _cropped_at(self, edges: Sequence[DataNode]) -> Self:
        """Crop at top, left, bottom and right, as fractions of the image."""

        def window(canvas: DataNode) -> tuple[DataNode, DataNode]:
            corner, extents = [], []
            for axis in range(2):
                side = fn.cast(canvas[axis], dtype=types.FLOAT)
                # A little less and more than a pixel's edge, which single precision may miss.
                start = node_math.clamp(node_math.floor(edges[axis] * side + 1e-3), 0.0, side - 1.0)
                end = node_math.clamp(node_math.ceil(edges[axis + 2] * side - 1e-3), start + 1.0, side)
                corner.append(fn.cast(start, dtype=types.INT32))
                extents.append(fn.cast(end - start, dtype=types.INT32))
            return fn.stack(*corner), fn.stack(*extents)

        made = self._changed(_layers=self._settled, _requests=())
        return made._requested(Request("window", window=window, active=self._active))

    def _followed_boxes(self, step: str, use: Callable[[Followed], Array]) -> DataNode:
        """Return a value that is computed from the boxes of all samples in the image, as they are now."""
        parts = self.parts
        if any(part.seed not in self._known for part in parts):
            raise ArgumentError(
                f"{step}: it depends on the boxes of the image; pass them, as in recipe.apply(boxes=...)"
            )
        nodes: list[DataNode] = []
        for part in parts:
            nodes += [*self._known[part.seed], *part_nodes(part)]

        def computed(*arrays: Array) -> Array:
            values = iter(arrays)
            found = [followed(part, next(values), next(values), values) for part in parts]
            joined = np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found])
            return np.ascontiguousarray(use(joined), np.float32)

        return fn.python_function(*nodes, function=computed, num_outputs=1)


def part_nodes(part: Part) -> list[DataNode]:
    """Return the values that `followed` needs of a part."""
    return [*([] if part.active is None else [part.active]), *(node for move in part.moves for node in move.nodes)]


def followed(part: Part, size: Array, ltrb: Array, values: Iterator[Array]) -> Followed:
    """Move the boxes of one of the samples in an image; of one that was not joined there are none.

    Args:
        part: The sample.
        size: The shape of its image before all steps.
        ltrb: Its boxes, relative to it.
        values: The values of `part_nodes`, which are taken from it.
    """
    is_joined, path = joined_path(part, values)
    found, visible = follow(ltrb, path, (int(size[0]), int(size[1])))
    return (found, visible) if is_joined else (found, np.zeros_like(visible))


def joined_path(part: Part, values: Iterator[Array]) -> tuple[bool, list[Transform]]:
    """Return whether a sample is in the image, and how it was moved, from the values of `part_nodes`."""
    is_joined = part.active is None or bool(next(values))
    return is_joined, [move.transform(*itertools.islice(values, len(move.nodes))) for move in part.moves]


def _union(found: Followed) -> Array:
    boxes = found[0][found[1] > 0]
    if not len(boxes):
        return np.array([0, 0, 1, 1], np.float32)
    return np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)]).astype(np.float32)
