"""Arguments that differ from frame to frame: an operator on sequences runs for each frame with the argument for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.operators.declare import Operator
from pixelmill.steps.batch import callback
from pixelmill.steps.random import Uniform
from pixelmill.steps.sources import Constant, constant
from pixelmill.steps.step import Expr, operator_key
from pixelmill.tensors import TensorListCPU
from pixelmill.types import Array

# Operators with inputs that stand for arguments, such as matrices, and may have one for each frame.
_ARGUMENTS_AS_INPUTS = ("coord_flip", "coord_transform", "experimental.warp_perspective", "slice", "warp_affine")

# Largest seed that a float32 draw represents exactly.
_SEEDS = 2.0**24


class ByFrame:
    """Runs one operator on the frames of one sample.

    Attributes:
        run: Takes the operator, its inputs and arguments, which are constants or batches of frames, and a seed; returns
            its outputs, each a batch of frames. Set by `pixelmill.pipeline.one_operator`, which imports this package.
    """

    run: ClassVar[Callable[[Operator, Sequence[object], Mapping[str, object], int], Sequence[TensorListCPU]]]


def differs_by_frame(node: OperatorNode, exprs: Mapping[DataNode, Expr]) -> bool:
    """Whether an argument of an operator, or an input that stands for one, has one value for each frame."""
    values = [value for key, value in node.arguments.items() if node.spec.arguments[key].per_sample]
    if any(isinstance(value, DataNode) and exprs[value].layout.startswith("F") for value in values):
        return True
    as_inputs = node.spec.name in _ARGUMENTS_AS_INPUTS or node.spec.name.startswith("transforms.")
    # Unlike images, values of `per_frame` have no names for the axes after the first.
    return as_inputs and any(value is not None and exprs[value].layout.rstrip("*") == "F" for value in node.inputs)


def first_frame(expr: Expr) -> Expr:
    """Return what stands for one frame of a value when an operator is lowered."""
    if not expr.layout.startswith("F"):
        return expr
    layout = expr.layout[1:]
    return (
        constant(expr.step.array[0], layout=layout) if isinstance(expr.step, Constant) else replace(expr, layout=layout)
    )


def lower_by_frame(node: OperatorNode, exprs: Mapping[DataNode, Expr], layouts: Sequence[str]) -> tuple[Expr, ...]:
    """Lower an operator to a step that runs it once for each frame of a sample.

    Args:
        node: The operator.
        exprs: What its inputs and arguments were lowered to.
        layouts: The layouts of the outputs for one frame.
    """
    values = {value: exprs[value] for value in (*node.inputs, *node.arguments.values()) if isinstance(value, DataNode)}
    places = {value: place for place, value in enumerate(values)}
    names = [expr.layout for expr in values.values()]

    def run(*arrays: Array) -> object:
        *samples, draw = arrays
        parts = _frames(node.spec.name, samples, names)

        def given(value: object) -> object:
            return parts[places[value]] if isinstance(value, DataNode) else value

        arguments = {key: given(value) for key, value in node.arguments.items()}
        outputs = ByFrame.run(node.spec, [given(value) for value in node.inputs], arguments, int(draw))
        stacked = tuple(_stacked(node.spec.name, frames) for frames in outputs)
        return stacked if len(stacked) > 1 else stacked[0]

    bounds = constant([0.0, _SEEDS if node.spec.draws else 1.0])
    draw = Uniform(range=bounds, key=operator_key(), wide=False).value() if node.spec.draws else constant(0.0)
    named = tuple(f"F{layout}" for layout in layouts)
    return callback(run, *values.values(), draw, layouts=named, batch=False, whole=False, exact=False)


def _frames(name: str, samples: Sequence[Array], layouts: Sequence[str]) -> list[TensorListCPU]:
    """Split sequences into frames; repeat what is no sequence for each of them."""
    counts = {len(sample) for sample, layout in zip(samples, layouts, strict=True) if layout.startswith("F")}
    if len(counts) > 1:
        raise ArgumentError(
            f"{name}: all sequences of a sample must have the same number of frames, got {sorted(counts)}"
        )
    count = counts.pop()
    found = []
    for sample, layout in zip(samples, layouts, strict=True):
        framed = layout.startswith("F")
        found.append(TensorListCPU(list(sample) if framed else [sample] * count, layout[1:] if framed else layout))
    return found


def _stacked(name: str, frames: TensorListCPU) -> Array:
    if not frames.is_dense_tensor():
        raise ArgumentError(f"{name}: the frames of a sequence must have the same shape, got {frames.shape()}")
    return frames.as_array()
