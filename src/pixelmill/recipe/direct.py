"""Geometric steps one after the other, each as an operator of its own.

A scene whose steps are only these, for all samples, keeps the bytes that it had before steps were composed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pixelmill import fn, types
from pixelmill import math as node_math
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
class Part:
    """One of the samples that an image was joined of.

    Attributes:
        seed: What names the other sample; None for the sample itself.
        moves: The geometric steps from its image to the joined one.
        active: Whether a sample was joined with it; None if all were.
        weight: The fraction of it in the joined image, for labels; None for all of it.
    """

    seed: int | None = None
    moves: tuple[Move, ...] = ()
    active: DataNode | None = None
    weight: DataNode | None = None


@dataclass(frozen=True, eq=False)
class Layers:
    """What moves together: an image and its masks, and the moves that were made.

    Attributes:
        image: The image, HWC.
        masks: Class numbers, HWC with one channel and the size of the image.
        moves: The geometric steps so far, or since samples were joined.
        parts: The samples that were joined, with their moves until then; empty if none were.
    """

    image: DataNode
    masks: tuple[DataNode, ...] = ()
    moves: tuple[Move, ...] = ()
    parts: tuple[Part, ...] = ()

    def moved(
        self,
        image: DataNode,
        masks: Sequence[DataNode],
        nodes: tuple[DataNode, ...],
        transform: Callable[..., Transform],
    ) -> Layers:
        """Return the layers after a move."""
        return Layers(image, tuple(masks), (*self.moves, Move(nodes, transform)), self.parts)


def resized(layers: Layers, size: Sequence[float], mode: str, arguments: dict[str, Any]) -> Layers:
    """Resize with `fn.resize`."""
    resize: Any = fn.resize  # its stub accepts literal modes only
    image = resize(layers.image, size=size, mode=mode, **arguments)
    arguments = {**arguments, "interp_type": types.INTERP_NN, "antialias": False}
    masks = [resize(mask, size=size, mode=mode, **arguments) for mask in layers.masks]
    return layers.moved(image, masks, (shape_of(layers.image), shape_of(image)), geometry.resized)


def flipped(layers: Layers, horizontal: Number, vertical: Number) -> Layers:
    """Flip with `fn.flip`."""
    flags = tuple(fn.cast(node_of(flag), dtype=types.INT32) for flag in (horizontal, vertical))
    image = fn.flip(layers.image, horizontal=flags[0], vertical=flags[1])
    masks = [fn.flip(mask, horizontal=flags[0], vertical=flags[1]) for mask in layers.masks]
    return layers.moved(image, masks, (shape_of(layers.image), *flags), geometry.flipped)


def rotated(layers: Layers, angle: Number, *, keep_size: bool, fill_value: float, mask_fill_value: float) -> Layers:
    """Rotate with `fn.rotate`."""
    turn = fn.cast(node_of(angle), dtype=types.FLOAT)
    image = fn.rotate(layers.image, angle=turn, keep_size=keep_size, fill_value=fill_value)
    masks = [
        fn.rotate(mask, angle=turn, keep_size=keep_size, fill_value=mask_fill_value, interp_type=types.INTERP_NN)
        for mask in layers.masks
    ]
    return layers.moved(image, masks, (shape_of(layers.image), shape_of(image), turn), geometry.rotated)


def cropped(layers: Layers, size: Sequence[int], y: Number, x: Number) -> Layers:
    """Crop with `fn.slice`."""
    there = shape_of(layers.image)
    extents = [node_math.min(there[axis], int(wanted)) for axis, wanted in enumerate(size)]
    places = [node_of(place) for place in (y, x)]
    corners = [
        fn.cast(node_math.floor(place * fn.cast(there[axis] - extents[axis], dtype=types.FLOAT)), dtype=types.INT32)
        for axis, place in enumerate(places)
    ]
    window = fn.stack(*corners), fn.stack(*(fn.cast(extent, dtype=types.INT32) for extent in extents))
    return _cut(layers, window)


def cropped_at_random(
    layers: Layers, area: Sequence[float], aspect_ratio: Sequence[float], *, seed: int | None
) -> Layers:
    """Crop a random window."""
    return _cut(layers, random_window(shape_of(layers.image), area, aspect_ratio, seed=seed))


def random_window(
    shape: DataNode, area: Sequence[float], aspect_ratio: Sequence[float], *, seed: int | None
) -> tuple[DataNode, DataNode]:
    """Draw the corner and the extents of a window."""
    corner, extents = fn.random_crop_generator(
        shape, random_area=list(area), random_aspect_ratio=list(aspect_ratio), seed=seed
    )
    return corner, extents


def _cut(layers: Layers, window: tuple[DataNode, DataNode]) -> Layers:
    def cut(value: DataNode) -> DataNode:
        return fn.slice(value, *window, axes=[0, 1], normalized_anchor=False, normalized_shape=False)

    return layers.moved(cut(layers.image), [cut(mask) for mask in layers.masks], window, geometry.cropped)


def shape_of(image: DataNode) -> DataNode:
    """Return the shape of an image, which is in main memory even if the image is not."""
    return fn.shapes(image, device="cpu")


def node_of(value: Number) -> DataNode:
    """Return a number as a node."""
    return value if isinstance(value, DataNode) else as_node(types.Constant(value))
