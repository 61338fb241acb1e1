"""Geometric steps that are not linear: each is a field of displacements at the nodes of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from pixelmill import fn, types
from pixelmill import math as node_math
from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import as_node
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe.composition import Request
from pixelmill.recipe.direct import Number, node_of
from pixelmill.types import Array

_FINE = 17  # nodes along a side of a field that is smooth everywhere
_MOST_NODES = 64


class Distortions:
    """The distortions of a scene."""

    if TYPE_CHECKING:
        _active: DataNode | None

        def _requested(self, request: Request) -> Self: ...

    def elastic(
        self,
        *,
        strength: Number = 0.02,
        nodes: int = 8,
        seed: int | None = None,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Distort like rubber: random displacements at the nodes of a grid, smooth between them.

        Args:
            strength: Standard deviation of the displacements, as a fraction of the image.
            nodes: Nodes along each side.
            seed: Seed of the draws.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        field = fn.random.normal(shape=[*_square(nodes), 2], seed=seed) * node_of(strength)
        return self._displaced(field, (fill_value, mask_fill_value))

    def grid_distortion(
        self,
        *,
        strength: Number = 0.3,
        steps: int = 5,
        seed: int | None = None,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Distort the cells of a grid: its inner nodes move at random, straight lines between them stay straight.

        Args:
            strength: The farthest that a node moves, as a fraction of a cell.
            steps: Cells along each side.
            seed: Seed of the draws.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        side = _square(steps + 1)[0]
        inner = np.zeros((side, side, 1), np.float32)
        inner[1:-1, 1:-1] = 1 / (side - 1)
        drawn = fn.random.uniform(range=[-1.0, 1.0], shape=[side, side, 2], seed=seed)
        field = drawn * _constant(inner) * node_of(strength)
        return self._displaced(field, (fill_value, mask_fill_value), smooth=False)

    def optical_distortion(
        self, *, strength: Number = 0.1, fill_value: float | None = None, mask_fill_value: float | None = None
    ) -> Self:
        """Distort like a lens: radially, by the square of the distance from the center.

        Args:
            strength: How far the middle of an edge comes from the outside, as a fraction of half of the image; negative
                values magnify the edges.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        y, x = np.meshgrid(*[np.linspace(-1, 1, _FINE)] * 2, indexing="ij")
        radial = np.stack([x, y], axis=-1) * (x * x + y * y)[:, :, None] / 2
        return self._displaced(_constant(radial) * node_of(strength), (fill_value, mask_fill_value))

    def thin_plate(
        self,
        *,
        strength: Number = 0.05,
        points: int = 4,
        seed: int | None = None,
        fill_value: float | None = None,
        mask_fill_value: float | None = None,
    ) -> Self:
        """Bend like a thin plate that is held at random displacements at the points of a grid.

        Args:
            strength: Standard deviation of the displacements, as a fraction of the image.
            points: Points along each side.
            seed: Seed of the draws.
            fill_value: The value of pixels from outside of the image.
            mask_fill_value: The same for masks.
        """
        side = _square(points)[0]
        if side > 8:
            raise ArgumentError(f"thin_plate: points must be from 2 to 8, got {points}")
        held = fn.random.normal(shape=[1, side * side, 2], seed=seed) * node_of(strength)
        bent = fn.reductions.sum(_constant(_plate(side)) * held, axes=[1])
        return self._displaced(fn.reshape(bent, shape=[_FINE, _FINE, 2]), (fill_value, mask_fill_value))

    def _displaced(self, field: DataNode, fill: tuple[float | None, float | None], *, smooth: bool = True) -> Self:
        nodes = fn.cast(field, dtype=types.FLOAT)
        return self._requested(Request("", (), *fill, self._active, field=nodes, smooth=smooth))

    @staticmethod
    def _corners(strength: Number, seed: int | None) -> DataNode:
        """Draw four places inside of the image near its corners."""
        drawn = fn.random.normal(shape=[8], seed=seed) * node_of(strength)
        inward = np.array([1, 1, -1, 1, -1, -1, 1, -1], np.float32)
        return node_math.min(node_math.abs(drawn), 0.4) * _constant(inward)


def _square(nodes: int) -> tuple[int, int]:
    if not isinstance(nodes, int) or not 2 <= nodes <= _MOST_NODES:
        raise ArgumentError(f"a field needs from 2 to {_MOST_NODES} nodes along a side, got {nodes!r}")
    return nodes, nodes


def _constant(array: Array) -> DataNode:
    return as_node(types.Constant(np.asarray(array, np.float32)))


def _plate(side: int) -> Array:
    """Return the weight of each point for each node of a fine grid, shape (nodes, points, 1)."""
    points = np.stack(np.meshgrid(*[np.linspace(0, 1, side)] * 2, indexing="ij"), -1).reshape(-1, 2)
    nodes = np.stack(np.meshgrid(*[np.linspace(0, 1, _FINE)] * 2, indexing="ij"), -1).reshape(-1, 2)

    def bending(a: Array, b: Array) -> Array:
        square = ((a[:, None] - b[None]) ** 2).sum(-1)
        found: Array = square * np.log(np.where(square > 0, square, 1.0))
        return found

    flat = np.concatenate([np.ones((len(points), 1)), points], axis=1)
    system = np.block([[bending(points, points), flat], [flat.T, np.zeros((3, 3))]])
    right = np.concatenate([bending(nodes, points), np.ones((len(nodes), 1)), nodes], axis=1)
    weights = right @ np.linalg.inv(system)[:, : len(points)]
    return weights[:, :, None]
