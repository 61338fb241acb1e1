"""A picture with its mask, changed together, and a record of how points have moved so that boxes can follow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pixelmill import fn, types
from pixelmill import math as node_math
from pixelmill.errors import ArgumentError
from pixelmill.graph import DataNode, as_node

Array = np.ndarray[Any, Any]
Number = float | DataNode


@dataclass(frozen=True, eq=False)
class Move:
    """One change of where things are.

    Attributes:
        nodes: What has to be known about a sample to work out the change.
        work_out: Gives from the values of `nodes` the 3x3 matrix from points (x, y, 1) before to points behind, and the
            height and width behind.
    """

    nodes: tuple[DataNode, ...]
    work_out: Callable[..., tuple[Array, tuple[int, int]]]


@dataclass(frozen=True, eq=False)
class Scene:
    """An image and its mask in a graph. Every method gives a new scene.

    Geometry goes through the methods here: they treat the mask like the image, without mixing its values, and note the
    move for the boxes. Changes of colours alone go through `apply`.

    Attributes:
        image: The picture, HWC.
        mask: Class numbers, HWC with one channel, as large as the picture; None where there is none.
        moves: How points have moved so far.
    """

    image: DataNode
    mask: DataNode | None = None
    moves: tuple[Move, ...] = field(default=())

    def apply(self, change: Callable[..., Any], **arguments: Any) -> Scene:
        """Change the picture alone by an operator that leaves everything where it is, such as `fn.brightness`."""
        return Scene(change(self.image, **arguments), self.mask, self.moves)

    def resize(self, *, size: Sequence[float], mode: str = "default", **arguments: Any) -> Scene:
        """Resize to (height, width); `mode` as in `fn.resize`."""
        resize: Any = fn.resize  # its stub knows the modes by name only
        image = resize(self.image, size=size, mode=mode, **arguments)
        arguments = {**arguments, "interp_type": types.INTERP_NN, "antialias": False}
        mask = None if self.mask is None else resize(self.mask, size=size, mode=mode, **arguments)
        return self._moved(image, mask, (_shape(self.image), _shape(image)), _resized)

    def flip(self, *, horizontal: Number = 0, vertical: Number = 0) -> Scene:
        """Mirror left and right, or top and bottom, or both."""
        flags = tuple(fn.cast(_node(flag), dtype=types.INT32) for flag in (horizontal, vertical))
        image, mask = (
            None if value is None else fn.flip(value, horizontal=flags[0], vertical=flags[1])
            for value in (self.image, self.mask)
        )
        return self._moved(image, mask, (_shape(self.image), *flags), _flipped)

    def rotate(
        self, *, angle: Number, keep_size: bool = True, fill_value: float = 0.0, mask_fill_value: float = 0.0
    ) -> Scene:
        """Rotate by degrees, counter-clockwise; without `keep_size` the result holds all corners."""
        turn = fn.cast(_node(angle), dtype=types.FLOAT)
        image = fn.rotate(self.image, angle=turn, keep_size=keep_size, fill_value=fill_value)
        mask = None
        if self.mask is not None:
            mask = fn.rotate(
                self.mask, angle=turn, keep_size=keep_size, fill_value=mask_fill_value, interp_type=types.INTERP_NN
            )
        return self._moved(image, mask, (_shape(self.image), _shape(image), turn), _rotated)

    def crop(self, *, size: Sequence[int], y: Number = 0.5, x: Number = 0.5) -> Scene:
        """Cut out (height, width); y and x, from 0 to 1, say where. A side that is shorter already stays."""
        if len(size) != 2 or min(size) < 1:
            raise ArgumentError(f"crop: size must be a height and a width of at least 1, got {tuple(size)}")
        there = _shape(self.image)
        extents = [node_math.min(there[axis], int(wanted)) for axis, wanted in enumerate(size)]
        places = [_node(place) for place in (y, x)]
        corners = [
            fn.cast(node_math.floor(place * fn.cast(there[axis] - extents[axis], dtype=types.FLOAT)), dtype=types.INT32)
            for axis, place in enumerate(places)
        ]
        window = fn.stack(*corners), fn.stack(*(fn.cast(extent, dtype=types.INT32) for extent in extents))
        return self._cut(window)

    def random_resized_crop(
        self,
        *,
        size: Sequence[int],
        random_area: Sequence[float] = (0.08, 1.0),
        random_aspect_ratio: Sequence[float] = (0.75, 4 / 3),
        seed: int | None = None,
    ) -> Scene:
        """Cut out a random window and resize it to (height, width)."""
        corner, extents = fn.random_crop_generator(
            _shape(self.image),
            random_area=list(random_area),
            random_aspect_ratio=list(random_aspect_ratio),
            seed=seed,
        )
        return self._cut((corner, extents)).resize(size=size)

    def _cut(self, window: tuple[DataNode, DataNode]) -> Scene:
        image, mask = (
            None
            if value is None
            else fn.slice(value, *window, axes=[0, 1], normalized_anchor=False, normalized_shape=False)
            for value in (self.image, self.mask)
        )
        return self._moved(image, mask, window, _cropped)

    def _moved(self, image: Any, mask: Any, nodes: tuple[DataNode, ...], work_out: Callable[..., Any]) -> Scene:
        return Scene(image, mask, (*self.moves, Move(nodes, work_out)))


def _shape(image: DataNode) -> DataNode:
    """Ask for the extents of a picture. They are numbers in main memory wherever the picture is."""
    return fn.shapes(image, device="cpu")


def _node(value: Number) -> DataNode:
    return value if isinstance(value, DataNode) else as_node(types.Constant(value))


def _resized(before: Array, after: Array) -> tuple[Array, tuple[int, int]]:
    return np.diag([after[1] / before[1], after[0] / before[0], 1.0]), _size(after)


def _flipped(shape: Array, horizontal: Array, vertical: Array) -> tuple[Array, tuple[int, int]]:
    height, width = _size(shape)
    left_right = [-1.0, 0.0, width] if horizontal else [1.0, 0.0, 0.0]
    top_bottom = [0.0, -1.0, height] if vertical else [0.0, 1.0, 0.0]
    return np.array([left_right, top_bottom, [0.0, 0.0, 1.0]]), (height, width)


def _rotated(before: Array, after: Array, angle: Array) -> tuple[Array, tuple[int, int]]:
    cos, sin = math.cos(math.radians(float(angle))), math.sin(math.radians(float(angle)))
    turn = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]])
    return _shift(after[1] / 2, after[0] / 2) @ turn @ _shift(-before[1] / 2, -before[0] / 2), _size(after)


def _cropped(corner: Array, extents: Array) -> tuple[Array, tuple[int, int]]:
    return _shift(-float(corner[1]), -float(corner[0])), _size(extents)


def _size(shape: Array) -> tuple[int, int]:
    return int(shape[0]), int(shape[1])


def _shift(x: float, y: float) -> Array:
    return np.array([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
