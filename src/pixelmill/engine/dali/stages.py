"""Where each operator of a graph runs: natively before DALI, on DALI, or natively after it.

Data crosses from the native engine to DALI and back at most once, so a graph has three stages. Everything that draws
random numbers runs natively in the first stage: DALI gets the drawn numbers as arguments. This way both engines produce
the same samples for the same seed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from pixelmill.engine.rules import is_plain, shaped_like
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.operators.dali import BEFORE, DaliCall
from pixelmill.steps.codecs import Decode, ImageShape
from pixelmill.steps.resampling import Resample
from pixelmill.steps.shapes import Shape
from pixelmill.steps.sources import Column, ExternalInput, ReaderStep, SourceInfo
from pixelmill.steps.step import Expr, Step


class Stage(Enum):
    """Where an operator runs."""

    BEFORE = "before"
    INSIDE = "inside"
    AFTER = "after"


@dataclass
class Dependencies:
    """What some values depend on.

    Attributes:
        operators: The operators whose results they are computed from.
        reads: Whether they need more than numbers: the bytes of a file, or data of the user.
        decodes: Whether they need decoded images.
    """

    operators: set[OperatorNode] = field(default_factory=set)
    reads: bool = False
    decodes: bool = False


def dependencies_of(exprs: Iterable[Expr], makers: Mapping[Step, OperatorNode]) -> Dependencies:
    """Return what values depend on. A value that needs only the shape of an image depends on its header alone.

    Args:
        exprs: The values.
        makers: The operator that outputs each step; steps that an operator uses internally are not in it.
    """
    found = Dependencies()
    seen: set[tuple[Step, bool]] = set()
    todo = [(expr.step, False) for expr in exprs]
    while todo:
        step, header = todo.pop()
        if (step, header) in seen:
            continue
        seen.add((step, header))
        if step in makers:
            found.operators.add(makers[step])
        found.decodes |= isinstance(step, Decode)
        read = isinstance(step, ReaderStep) and not isinstance(step, (Column, SourceInfo))
        if not header and (read or isinstance(step, ExternalInput)):
            found.reads = True
        inputs = _needed_for_shape(step.data) if isinstance(step, Shape) else step.inputs
        header = header or isinstance(step, ImageShape) or (isinstance(step, Shape) and inputs != (step.data,))
        todo += [(value.step, header) for value in inputs if value is not None]
    return found


def _needed_for_shape(data: Expr) -> tuple[Expr | None, ...]:
    """Return what the shape of a value depends on, looking through steps as `rules._shape_of` does.

    The two must agree: the rules decide what runs, and this decides what has to be there for it.
    """
    made = data.step
    same = shaped_like(made)
    if same is not None:
        return _needed_for_shape(same)
    if isinstance(made, Decode):
        return made.encoded, made.window
    if isinstance(made, Resample) and is_plain(made):
        return made.geometry, *_needed_for_shape(made.image)
    return (data,)


def assign_stages(nodes: Sequence[OperatorNode], fit: Collection[OperatorNode]) -> dict[OperatorNode, Stage]:
    """Return where each operator runs.

    Operators that draw, read, or compute arguments of others run before DALI. Of the rest, DALI runs what it supports,
    unless an input is computed after DALI.

    Args:
        nodes: All operators of a graph, in the order of their creation.
        fit: The operators that the installed DALI can run.
    """
    makers: dict[Step, OperatorNode] = {}
    for node in nodes:
        for expr in node.exprs:
            makers.setdefault(expr.step, node)
    needed = _needed_before(nodes, makers)
    stages: dict[OperatorNode, Stage] = {}
    for node in nodes:
        own, natively = dependencies_of(node.exprs, makers), dependencies_of(native_arguments(node).values(), makers)
        stages[node] = _place(node, own, natively, stages, usable=node in fit, needed=node in needed)
    return stages


def _needed_before(nodes: Sequence[OperatorNode], makers: Mapping[Step, OperatorNode]) -> set[OperatorNode]:
    """Return the operators that random draws depend on: they must run before DALI as well.

    Not if that would decode images twice, natively for the draw and on DALI for the pixels. And image processing is not
    moved away from DALI for an operator that could be split into a draw and a call of DALI: that operator then runs
    after DALI instead, which costs less than moving everything before it.
    """
    needed: set[OperatorNode] = set()
    for node in nodes:
        always = node.spec.dali == BEFORE
        found = dependencies_of(node.exprs if always else native_arguments(node).values(), makers)
        others = found.operators - {node}
        if not found.decodes and (always or not any(map(_processes_images, others))):
            needed |= others
    return needed


def _processes_images(node: OperatorNode) -> bool:
    return isinstance(node.spec.dali, DaliCall) and any({"H", "W"} <= {*expr.layout} for expr in node.exprs)


def native_arguments(node: OperatorNode) -> dict[str, Expr]:
    """Return the arguments of an operator's DALI call that are computed natively."""
    call = node.spec.dali
    return call.drawn(node.exprs[0]) if isinstance(call, DaliCall) and call.drawn is not None else {}


def _place(
    node: OperatorNode,
    own: Dependencies,
    natively: Dependencies,
    stages: Mapping[OperatorNode, Stage],
    *,
    usable: bool,
    needed: bool,
) -> Stage:
    def free(found: Dependencies) -> bool:
        return all(stages[other] is Stage.BEFORE for other in found.operators if other is not node)

    if node.branch and node.spec.dali is None:
        return Stage.AFTER  # there it runs for only the samples of its branch
    if free(own) and (not usable or needed or not own.reads):
        return Stage.BEFORE
    # DALI runs between the two native stages, so it cannot wait for numbers that need its own results.
    if not usable or not free(natively):
        return Stage.AFTER
    late = any(stages[value.operator] is Stage.AFTER for value in values_of(node) if value.operator is not None)
    return Stage.AFTER if late else Stage.INSIDE


def values_of(node: OperatorNode) -> list[DataNode]:
    """List the nodes that an operator takes as inputs and as arguments."""
    return [value for value in (*node.inputs, *node.arguments.values()) if isinstance(value, DataNode)]
