"""Geometric steps as one composition: they add up to a placement, and the image is interpolated once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from pixelmill import fn, types
from pixelmill.graph.calls import as_node, call
from pixelmill.graph.nodes import DataNode
from pixelmill.operators import REGISTRY
from pixelmill.recipe import geometry
from pixelmill.recipe.direct import Layers, Move, Number, node_of, random_window, shape_of
from pixelmill.recipe.fields import Displacement
from pixelmill.types import Array


@dataclass(frozen=True, eq=False)
class Request:
    """A geometric step that was asked for.

    Attributes:
        move: The name of the move in the core; empty for a field.
        numbers: Its arguments.
        fill_value: The value of pixels from outside of the image; None for that of the steps it is composed with.
        mask_fill_value: The same for masks.
        active: Which samples it is for; None for all.
        direct: Makes the step alone, if that is possible; such steps among themselves are not composed.
        window: Draws the window of a crop from the canvas.
        field: Displacements at the nodes of a grid.
        smooth: Whether the field is cubic instead of linear between its nodes.
    """

    move: str = ""
    numbers: tuple[Number | Sequence[float], ...] = ()
    fill_value: float | None = None
    mask_fill_value: float | None = None
    active: DataNode | None = None
    direct: Callable[[Layers], Layers] | None = None
    window: Callable[[DataNode], tuple[DataNode, DataNode]] | None = None
    field: DataNode | None = None
    smooth: bool = True


def settled(layers: Layers, requests: Sequence[Request], *, composes: bool = True) -> Layers:
    """Add the operators for all requested steps to the graph.

    Args:
        layers: The image and its masks.
        requests: The steps, in order.
        composes: Whether they may become one; without, each is made before the next, for comparisons.
    """
    direct = [request.direct for request in requests if request.direct is not None and request.active is None]
    if len(direct) == len(requests):
        for make in direct:
            layers = make(layers)
        return layers
    part: list[Request] = []
    for request in requests:
        if _fills_differ([*part, request]):
            layers, part = _composed(layers, part), []
        part.append(request)
        if request.field is not None or not composes:
            layers, part = _composed(layers, part), []
    return _composed(layers, part) if part else layers


def drawn_window(
    area: Sequence[float], aspect_ratio: Sequence[float], seed: int | None
) -> Callable[[DataNode], tuple[DataNode, DataNode]]:
    """Return the function that draws the window of a random crop."""
    return partial(random_window, area=area, aspect_ratio=aspect_ratio, seed=seed)


def _composed(layers: Layers, requests: Sequence[Request]) -> Layers:
    """Make steps, of which only the last may have a field, with one interpolation."""
    placement = _call("_placement.start", shape_of(layers.image))
    moves = list(layers.moves)
    field: DataNode | None = None
    smooth = True
    for request in requests:
        if request.field is not None:
            field, smooth = _active_field(request), request.smooth
            moves.append(Move((field, _call("_placement.canvas", placement)), partial(_displaced, smooth=smooth)))
            continue
        numbers = [_numbers(value) for value in request.numbers or (0,)]
        if request.window is not None:
            numbers = list(request.window(_call("_placement.canvas", placement)))
        active = as_node(types.Constant(1)) if request.active is None else request.active
        placement, step = _outputs("_placement.move", placement, active, *numbers, move=request.move)
        moves.append(Move((step,), geometry.moved))

    def place(value: DataNode, *, linear: bool, fill_value: float) -> DataNode:
        inputs = [value, placement, *([field] if field is not None else [])]
        return _call("_placement.place", *inputs, linear=linear, fill_value=fill_value, smooth=smooth)

    image_fill = _given([request.fill_value for request in requests])
    mask_fill = _given([request.mask_fill_value for request in requests])
    return Layers(
        place(layers.image, linear=True, fill_value=image_fill),
        tuple(place(mask, linear=False, fill_value=mask_fill) for mask in layers.masks),
        tuple(moves),
        layers.parts,
    )


def _active_field(request: Request) -> DataNode:
    assert request.field is not None
    if request.active is None:
        return request.field
    return fn.cast(request.field * request.active, dtype=types.FLOAT)


def _displaced(nodes: Array, canvas: Array, *, smooth: bool) -> Displacement:
    return Displacement(np.array(nodes), (int(canvas[0]), int(canvas[1])), smooth)


def _numbers(value: Number | Sequence[float]) -> DataNode:
    if isinstance(value, (int, float, DataNode)):
        return node_of(value)
    return as_node(types.Constant(np.array(value, np.float64)))


def _fills_differ(requests: Sequence[Request]) -> bool:
    """Whether steps fill what comes from outside with different values, so that they cannot become one."""
    images = {request.fill_value for request in requests} - {None}
    return len(images) > 1 or len({request.mask_fill_value for request in requests} - {None}) > 1


def _given(values: Sequence[float | None]) -> float:
    return next((value for value in values if value is not None), 0.0)


def _call(name: str, *inputs: DataNode, **arguments: object) -> DataNode:
    return cast("DataNode", call(REGISTRY[name], list(inputs), arguments))


def _outputs(name: str, *inputs: DataNode, **arguments: object) -> list[DataNode]:
    return cast("list[DataNode]", call(REGISTRY[name], list(inputs), arguments))
