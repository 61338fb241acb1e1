"""An image and its mask, transformed together, with a record of the geometry so that boxes can follow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pixelmill import fn, types
from pixelmill import math as node_math
from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import as_node
from pixelmill.graph.nodes import DataNode
from pixelmill.recipe import geometry
from pixelmill.recipe.geometry import Transform

Number = float | DataNode


@dataclass(frozen=True, eq=False)
class Move:
    """One geometric step.

    Attributes:
        nodes: The values of a sample that determine its transform.
        transform: Returns the transform for the values of `nodes`.
    """

    nodes: tuple[DataNode, ...]
    transform: Callable[..., Transform]


@dataclass(frozen=True, eq=False)
class Scene:
    """An image and its mask in a graph. Every method returns a new scene.

    Geometric steps are methods: they treat the mask like the image, without interpolating its values, and record the
    move for the boxes. Steps that only change colors go through `apply`.

    Attributes:
        image: The image, HWC.
        mask: Class numbers, HWC with one channel and the size of the image; None if there is no mask.
        moves: The geometric steps so far.
    """

    image: DataNode
    mask: DataNode | None = None
    moves: tuple[Move, ...] = field(default=())

    def apply(self, change: Callable[..., DataNode], **arguments: object) -> Scene:
        """Change the image with an operator that moves nothing, such as `fn.brightness`; the mask is unchanged."""
        return Scene(change(self.image, **arguments), self.mask, self.moves)

    def resize(self, *, size: Sequence[float], mode: str = "default", **arguments: Any) -> Scene:
        """Resize to (height, width); `mode` as in `fn.resize`."""
        resize: Any = fn.resize  # its stub accepts literal modes only
        image = resize(self.image, size=size, mode=mode, **arguments)
        arguments = {**arguments, "interp_type": types.INTERP_NN, "antialias": False}
        mask = None if self.mask is None else resize(self.mask, size=size, mode=mode, **arguments)
        return self._moved(image, mask, (_shape(self.image), _shape(image)), geometry.resized)

    def flip(self, *, horizontal: Number = 0, vertical: Number = 0) -> Scene:
        """Swap left and right, top and bottom, or both."""
        for name, flag in (("horizontal", horizontal), ("vertical", vertical)):
            if not isinstance(flag, DataNode) and flag not in (0, 1):
                chance = f"; for a chance write {name}: {{coin: {flag:g}}}" if 0 < flag < 1 else ""
                raise ArgumentError(f"flip: {name} is 0 or 1, got {flag!r}{chance}")
        flags = tuple(fn.cast(_node(flag), dtype=types.INT32) for flag in (horizontal, vertical))
        image = fn.flip(self.image, horizontal=flags[0], vertical=flags[1])
        mask = None if self.mask is None else fn.flip(self.mask, horizontal=flags[0], vertical=flags[1])
        return self._moved(image, mask, (_shape(self.image), *flags), geometry.flipped)

    def rotate(
        self, *, angle: Number, keep_size: bool = True, fill_value: float = 0.0, mask_fill_value: float = 0.0
    ) -> Scene:
        """Rotate by degrees, counterclockwise; without `keep_size` the result is large enough for all corners."""
        turn = fn.cast(_node(angle), dtype=types.FLOAT)
        image = fn.rotate(self.image, angle=turn, keep_size=keep_size, fill_value=fill_value)
        mask = None
        if self.mask is not None:
            mask = fn.rotate(
                self.mask, angle=turn, keep_size=keep_size, fill_value=mask_fill_value, interp_type=types.INTERP_NN
            )
        return self._moved(image, mask, (_shape(self.image), _shape(image), turn), geometry.rotated)

    def crop(self, *, size: Sequence[int], y: Number = 0.5, x: Number = 0.5) -> Scene:
        """Crop to (height, width) at the relative position y, x from 0 to 1. A side that is shorter is kept."""
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
        """Crop a random window and resize it to (height, width)."""
        corner, extents = fn.random_crop_generator(
            _shape(self.image),
            random_area=list(random_area),
            random_aspect_ratio=list(random_aspect_ratio),
            seed=seed,
        )
        return self._cut((corner, extents)).resize(size=size)

    def _cut(self, window: tuple[DataNode, DataNode]) -> Scene:
        def cut(value: DataNode) -> DataNode:
            return fn.slice(value, *window, axes=[0, 1], normalized_anchor=False, normalized_shape=False)

        mask = None if self.mask is None else cut(self.mask)
        return self._moved(cut(self.image), mask, window, geometry.cropped)

    def _moved(
        self, image: DataNode, mask: DataNode | None, nodes: tuple[DataNode, ...], transform: Callable[..., Transform]
    ) -> Scene:
        return Scene(image, mask, (*self.moves, Move(nodes, transform)))


def _shape(image: DataNode) -> DataNode:
    """Return the shape of an image, which is in main memory even if the image is not."""
    return fn.shapes(image, device="cpu")


def _node(value: Number) -> DataNode:
    return value if isinstance(value, DataNode) else as_node(types.Constant(value))
