"""Steps that join several samples of a dataset into one image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from pixelmill import fn, types
from pixelmill import math as node_math
from pixelmill.errors import ArgumentError
from pixelmill.graph.branches import cond, merge
from pixelmill.graph.calls import call
from pixelmill.graph.nodes import DataNode
from pixelmill.operators import REGISTRY
from pixelmill.recipe import covers
from pixelmill.recipe.direct import Layers, Move, Number, Part, node_of, shape_of
from pixelmill.recipe.geometry import Linear
from pixelmill.types import Array

FITS = {"contain": 1, "cover": 2}  # the modes of `resize`: not larger, not smaller
_IGNORED_CLASS = 255


class Joins:
    """The steps of a scene that take other samples."""

    if TYPE_CHECKING:
        _active: DataNode | None
        _seed: int | None

        @property
        def _settled(self) -> Layers: ...
        def _changed(self, **fields: object) -> Self: ...
        def where(self, condition: DataNode | None) -> Self: ...
        def _moved(
            self,
            move: str,
            *numbers: Number | Sequence[float],
            fill: tuple[float | None, float | None] = (None, None),
            alone: Callable[[Layers], Layers] | None = None,
        ) -> Self: ...

    def mosaic(
        self,
        others: Sequence[Self],
        *,
        size: Sequence[int],
        grid: int = 2,
        y: Number = 0.5,
        x: Number = 0.5,
        fit: str = "contain",
        fill_value: float | None = 114.0,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Put the image and three or eight others into the cells of a grid.

        Args:
            others: The other samples: three, or eight with a grid of 3.
            size: Height and width of the result.
            grid: The number of cells along a side, 2 or 3.
            y: The place of the center of the grid: 0 is the top, 1 the bottom.
            x: The place of the center of the grid: 0 is the left, 1 the right.
            fit: `contain` resizes images to fit into a cell of a centered grid, next to the center: larger cells are
                padded, smaller ones cut the image. `cover` resizes images to cover their cells.
            fill_value: The value of the padding.
            mask_fill_value: The value of the padding of masks.
        """
        if grid not in (2, 3) or len(others) != grid * grid - 1:
            raise ArgumentError(f"mosaic: grid must be 2 or 3, with three or eight others, got {grid!r}, {len(others)}")
        if fit not in FITS:
            raise ArgumentError(f"mosaic: fit must be one of {', '.join(FITS)}, got {fit!r}")
        if len(size) != 2 or not all(isinstance(side, int) and side >= grid for side in size):
            raise ArgumentError(f"mosaic: size must be a height and a width of at least {grid}, got {tuple(size)}")
        lines = [_lines(size[axis], grid, place) for axis, place in enumerate((y, x))]
        tiles, corners = [], []
        for place, scene in enumerate([self, *others]):
            cell = divmod(place, grid)
            starts = [lines[axis][at] for axis, at in enumerate(cell)]
            extents = [lines[axis][at + 1] - starts[axis] for axis, at in enumerate(cell)]
            toward = [1 - at / (grid - 1) for at in cell]  # the side of the cell next to the center
            target = extents if fit == "cover" else [side / grid for side in size]
            tile = scene._moved("resize", *target, FITS[fit], 1)
            tile = tile._moved("pad_to", *extents, 1, 1, *toward, fill=(fill_value, mask_fill_value))
            tiles.append(tile._moved("crop", *extents, *toward))
            corners.append(fn.stack(*(fn.cast(node_of(start), dtype=types.INT32) for start in starts)))
        before = self._settled
        moves = [self._shift(corner, size, before if place == 0 else None) for place, corner in enumerate(corners)]
        anchors = fn.stack(*corners)

        def assembled(values: Sequence[DataNode]) -> DataNode:
            return fn.multi_paste(*values, out_anchors=anchors, output_size=list(size))

        return self._join(tiles, assembled, moves)

    def mixup(self, other: Self, *, fraction: Number = 0.5) -> Self:
        """Blend the image with another one of the same size. Objects of both stay.

        Args:
            other: The other sample.
            fraction: The fraction of the image itself; the mask is that of the image with the larger fraction.
        """
        share = fn.cast(node_of(fraction), dtype=types.FLOAT)
        now, that = self._settled, other._settled

        def blended(values: Sequence[DataNode]) -> DataNode:
            return fn.cast_like(values[0] * share + values[1] * (1.0 - share), values[0])

        def larger(values: Sequence[DataNode]) -> DataNode:
            return cast("DataNode", merge(share >= 0.5, values[0], values[1]))

        image = self._where_active(now.image, [now.image, that.image], blended)
        masks = [self._where_active(pair[0], pair, larger) for pair in zip(now.masks, that.masks, strict=True)]
        return self._joined(image, masks, [now, that], [(), ()], [other._seed], [share, 1.0 - share])

    def cutmix(self, other: Self, *, fraction: Number = 0.5, y: Number = 0.5, x: Number = 0.5) -> Self:
        """Paste a window of another image of the same size. Objects are cut at the window.

        Args:
            other: The other sample.
            fraction: The fraction of the area that stays of the image itself, if all of the window is inside.
            y: The center of the window: 0 is the top, 1 the bottom.
            x: The center of the window: 0 is the left, 1 the right.
        """
        now, that = self._settled, other._settled
        window = {
            "fraction": fn.cast(node_of(fraction), dtype=types.FLOAT),
            "center": fn.stack(*(fn.cast(node_of(place), dtype=types.FLOAT) for place in (y, x))),
        }

        def cut(values: Sequence[DataNode]) -> list[DataNode]:
            return cast("list[DataNode]", call(REGISTRY["_mixing.cut_paste"], list(values), window))

        none = fn.cast(now.image[:, :, :1] * 0, dtype=types.UINT8)
        covered, own = cut([none, none + np.uint8(1)])
        image = self._where_active(now.image, [now.image, that.image], lambda values: cut(values)[0])
        masks = [
            self._where_active(pair[0], pair, lambda values: cut(values)[0])
            for pair in zip(now.masks, that.masks, strict=True)
        ]
        moves = self._cover_moves(covered, by_window=True)
        return self._joined(image, masks, [now, that], moves, [other._seed], [own, 1.0 - own])

    def copy_paste(self, other: Self, *, classes: Sequence[int] = (), background: int = 0) -> Self:
        """Paste the objects of another image of the same size, by its mask.

        Args:
            other: The other sample.
            classes: The classes to paste; all but the background and 255 if empty.
            background: The class of pixels that belong to no object.
        """
        now, that = self._settled, other._settled
        if not that.masks or not now.masks:
            raise ArgumentError("copy_paste: it pastes the pixels of masks, and there are no masks")
        mask = that.masks[0]
        if classes:
            chosen = mask == int(classes[0])
            for number in classes[1:]:
                chosen = chosen | (mask == int(number))
        else:
            chosen = (mask != background) & (mask != _IGNORED_CLASS)
        covered = fn.cast(chosen, dtype=types.UINT8)

        def over(values: Sequence[DataNode]) -> DataNode:
            keep = fn.cast_like(1 - covered, values[0])
            return fn.cast_like(values[0] * keep + values[1] * fn.cast_like(covered, values[0]), values[0])

        image = self._where_active(now.image, [now.image, that.image], over)
        masks = [self._where_active(pair[0], pair, over) for pair in zip(now.masks, that.masks, strict=True)]
        moves = self._cover_moves(covered, by_window=False)
        return self._joined(image, masks, [now, that], moves, [other._seed], [None, None])

    def _where_active(
        self, own: DataNode, values: Sequence[DataNode], make: Callable[[Sequence[DataNode]], DataNode]
    ) -> DataNode:
        active = self._active
        return make(values) if active is None else cast("DataNode", cond(active, lambda: make(values), lambda: own))

    def _shift(self, corner: DataNode, size: Sequence[int], before: Layers | None) -> tuple[Move, ...]:
        """Return the move of a tile to its place; `before` is the image itself, which stays where it is not joined."""
        canvas = int(size[0]), int(size[1])
        if self._active is None or before is None:
            return (Move((corner,), partial(_shifted, canvas=canvas)),)
        return (Move((corner, self._active, shape_of(before.image)), partial(_shifted, canvas=canvas)),)

    def _cover_moves(self, covered: DataNode, *, by_window: bool) -> list[tuple[Move, ...]]:
        if self._active is not None:
            covered = fn.cast(covered * self._active, dtype=types.UINT8)
        return [
            (Move((covered,), partial(covers.pasted, by_window=by_window, is_lower=is_lower)),)
            for is_lower in (True, False)
        ]

    def _join(
        self,
        tiles: Sequence[Self],
        make: Callable[[Sequence[DataNode]], DataNode],
        moves: Sequence[tuple[Move, ...]],
    ) -> Self:
        now, layers = self._settled, [tile._settled for tile in tiles]
        image = self._where_active(now.image, [layer.image for layer in layers], make)
        masks = [
            self._where_active(own, values, make)
            for own, *values in zip(now.masks, *(layer.masks for layer in layers), strict=True)
        ]
        return self._joined(image, masks, layers, moves, [tile._seed for tile in tiles[1:]], [None] * len(layers))

    def _joined(
        self,
        image: DataNode,
        masks: Sequence[DataNode],
        layers: Sequence[Layers],
        moves: Sequence[tuple[Move, ...]],
        seeds: Sequence[int | None],
        weights: Sequence[DataNode | None],
    ) -> Self:
        parts: list[Part] = []
        for place, (layer, seed) in enumerate(zip(layers, [self._seed, *seeds], strict=True)):
            for part in layer.parts or [Part(seed)]:
                active = part.active if place == 0 else _both(part.active, self._active)
                weight = self._weight(part.weight, weights[place], is_own=place == 0)
                own = (*part.moves, *layer.moves, *moves[place])
                parts.append(replace(part, moves=own, active=active, weight=weight))
        return self._changed(_layers=Layers(image, tuple(masks), (), tuple(parts)), _requests=())

    def _weight(self, before: DataNode | None, weight: DataNode | None, *, is_own: bool) -> DataNode | None:
        if weight is not None and self._active is not None:
            weight = cast("DataNode", merge(self._active, weight, 1.0 if is_own else 0.0))
        if before is None or weight is None:
            return before if weight is None else weight
        return before * weight


def other_sample(value: DataNode, seed: int) -> DataNode:
    """Return what a value is for another sample of the dataset, which a step of a recipe joins with the sample.

    Args:
        value: A value that comes from a reader.
        seed: What names the other sample: the `seed` of a `Part` of a scene.
    """
    return cast("DataNode", call(REGISTRY["_partners.value"], [value], {"partner": seed}))


def _lines(side: int, grid: int, place: Number) -> list[Any]:
    """Return where the cells of a grid around a place begin along a side, and its end; at least a pixel for each."""
    lines: list[Any] = [0]
    for number in range(1, grid):
        low, high = number, side - grid + number
        offset = side * (number / grid - 0.5) + 0.5
        if isinstance(place, DataNode):
            at = fn.cast(node_math.floor(place * float(side) + offset), dtype=types.INT32)
            lines.append(node_math.clamp(at, low, high))
        else:
            lines.append(min(max(int(np.floor(place * side + offset)), low), high))
    return [*lines, side]


def _shifted(corner: Array, *place: Array, canvas: tuple[int, int]) -> Linear:
    """Return the transform from a tile to the whole; none where a sample was not joined, whose shape is given then."""
    if place and not place[0]:
        return np.eye(3), (int(place[1][0]), int(place[1][1]))
    matrix = np.eye(3)
    matrix[:2, 2] = corner[1], corner[0]
    return matrix, canvas


def _both(one: DataNode | None, other: DataNode | None) -> DataNode | None:
    if one is None or other is None:
        return other if one is None else one
    return fn.cast((one != 0) & (other != 0), dtype=types.INT32)
