"""Where each operator of a graph runs: natively before DALI, on DALI, or natively behind it."""

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
    """What has to be worked out for some values.

    Attributes:
        operators: The operators whose results it is made from.
        reads: Whether it is more than numbers: the bytes of a file or what a user hands over.
        decodes: Whether pictures are decoded for it.
    """

    operators: set[OperatorNode] = field(default_factory=set)
    reads: bool = False
    decodes: bool = False


def dependencies_of(exprs: Iterable[Expr], makers: Mapping[Step, OperatorNode]) -> Dependencies:
    """Find out what values need. Of a picture whose shape is asked for, only its header is read.

    Args:
        exprs: The values.
        makers: The operators whose results steps are; there may be other steps before that give an operator numbers.
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
    """Look through steps whose shape is known before they run, as engine/rules.py does."""
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
    """Say where each operator runs.

    What draws, reads, or makes numbers that others take runs before. Of the rest, what DALI has runs there, unless it
    needs something that runs behind.

    Args:
        nodes: All operators of a graph, in the order of their creation.
        fit: Those that the DALI that is installed can run.
    """
    makers: dict[Step, OperatorNode] = {}
    for node in nodes:
        for expr in node.exprs:
            makers.setdefault(expr.step, node)
    needed = _needed_before(nodes, makers)
    places: dict[OperatorNode, Stage] = {}
    for node in nodes:
        own, natively = dependencies_of(node.exprs, makers), dependencies_of(native_arguments(node).values(), makers)
        places[node] = _place(node, own, natively, places, usable=node in fit, needed=node in needed)
    return places


def _needed_before(nodes: Sequence[OperatorNode], makers: Mapping[Step, OperatorNode]) -> set[OperatorNode]:
    """Find operators that draws depend on: they have to run before, too, unless that means to decode pictures twice.

    Work on pictures is not taken from DALI for the sake of an operator that can be split: that one runs behind then.
    """
    needed: set[OperatorNode] = set()
    for node in nodes:
        always = node.spec.dali == BEFORE
        found = dependencies_of(node.exprs if always else native_arguments(node).values(), makers)
        others = found.operators - {node}
        if not found.decodes and (always or not any(map(_changes_pictures, others))):
            needed |= others
    return needed


def _changes_pictures(node: OperatorNode) -> bool:
    return isinstance(node.spec.dali, DaliCall) and any({"H", "W"} <= {*expr.layout} for expr in node.exprs)


def native_arguments(node: OperatorNode) -> dict[str, Expr]:
    """Give the arguments of an operator's call of DALI that are found out natively."""
    call = node.spec.dali
    return call.drawn(node.exprs[0]) if isinstance(call, DaliCall) and call.drawn is not None else {}


def _place(
    node: OperatorNode,
    own: Dependencies,
    natively: Dependencies,
    places: Mapping[OperatorNode, Stage],
    *,
    usable: bool,
    needed: bool,
) -> Stage:
    def free(found: Dependencies) -> bool:
        return all(places[other] is Stage.BEFORE for other in found.operators if other is not node)

    if node.branch and node.spec.dali is None:
        return Stage.AFTER  # where it is run for the samples of its branch alone
    if free(own) and (not usable or needed or not own.reads):
        return Stage.BEFORE
    if not usable or not free(natively):
        return Stage.AFTER
    behind = any(places[value.operator] is Stage.AFTER for value in values_of(node) if value.operator is not None)
    return Stage.AFTER if behind else Stage.INSIDE


def values_of(node: OperatorNode) -> list[DataNode]:
    """List the values that an operator takes, as inputs and as arguments."""
    return [value for value in (*node.inputs, *node.arguments.values()) if isinstance(value, DataNode)]
