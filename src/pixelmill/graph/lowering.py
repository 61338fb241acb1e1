"""Lower operators to steps: once when a call adds them to a graph, and again when their inputs change."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from pixelmill.errors import ArgumentError, LayoutError
from pixelmill.graph.frames import differs_by_frame, first_frame, lower_by_frame
from pixelmill.graph.nodes import DataNode, OperatorNode, operators_of
from pixelmill.operators.declare import Lowered, Operator
from pixelmill.operators.sources import ExternalSource
from pixelmill.steps.batch import callback
from pixelmill.steps.sources import ExternalInput
from pixelmill.steps.step import Expr, lowering

ExprOf = Callable[[DataNode], Expr]


def lower_node(node: OperatorNode, expr_of: ExprOf) -> Lowered:
    """Lower an operator to steps on the values that `expr_of` returns for its inputs and arguments."""
    branch = tuple((expr_of(condition), number, equal) for condition, number, equal in node.branch)
    values = (value for value in (*node.inputs, *node.arguments.values()) if isinstance(value, DataNode))
    exprs = {value: expr_of(value) for value in values}
    with lowering(node, branch):
        if not differs_by_frame(node, exprs):
            return _lowered(node, exprs)
        # Lowered for one frame first: that checks the arguments and returns the layouts of the outputs.
        single = {value: first_frame(expr) for value, expr in exprs.items()}
        made = _lowered(node, single)
        outputs = made if isinstance(made, tuple) else (made,)
        framed = lower_by_frame(node, exprs, [expr.layout for expr in outputs if isinstance(expr, Expr)])
        return framed if isinstance(made, tuple) else framed[0]


def _lowered(node: OperatorNode, exprs: Mapping[DataNode, Expr]) -> Lowered:
    lowered: dict[str, object] = {}
    for key, argument in node.spec.arguments.items():
        value = node.arguments[key]
        lowered[key] = exprs[value] if isinstance(value, DataNode) else value
        if argument.per_sample:
            lowered[key] = argument.lowered(lowered[key])
    return node.spec.body(*(None if value is None else exprs[value] for value in node.inputs), **lowered)


def lower_node_or_wait(node: OperatorNode) -> Lowered:
    """Lower an operator. If it needs a layout that only the data of a source will have, return values that wait for it.

    Such values fail when the pipeline runs. They are lowered again as soon as the layout is known.
    """
    try:
        return lower_node(node, lambda value: value.expr)
    except LayoutError as error:
        inputs = [value for value in node.inputs if value is not None]
        if node.spec.outputs is None or not any(_waits(made) for made in operators_of(inputs)):
            raise
        late = with_location(error, node.spec, node.line)

    def fail(*_: object) -> NoReturn:
        raise late

    with lowering(node, ()):
        values = callback(fail, *(value.expr for value in inputs), layouts=("",) * node.spec.outputs)
    return values if len(values) > 1 else values[0]


def _waits(node: OperatorNode) -> bool:
    """Whether an operator is a source whose layout is not known yet."""
    return any(isinstance(expr.step, ExternalInput) and not expr.layout for expr in node.exprs)


def lower_node_again(node: OperatorNode, expr_of: ExprOf) -> list[Expr]:
    """Lower an operator on other values than those it was created with; return one value for each output."""
    try:
        result = lower_node(node, expr_of)
    except ArgumentError as error:
        raise with_location(error, node.spec, node.line) from None
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, tuple) else [result]


def lower_again(
    operators: Sequence[OperatorNode], outputs: Sequence[DataNode], layouts: Mapping[ExternalSource, Sequence[str]]
) -> list[DataNode]:
    """Lower a graph again after some of its sources were given a layout; return its outputs.

    Operators lower differently for different layouts, so everything that depends on such a source is lowered again and
    the rest is kept. The operators are updated in place.

    Args:
        operators: All operators of the graph, in the order of their creation.
        outputs: The outputs of the graph.
        layouts: The new layouts of the outputs of each source.
    """
    changed: dict[OperatorNode, list[Expr]] = {}

    def expr_of(value: DataNode) -> Expr:
        known = changed.get(value.operator) if value.operator is not None else None
        return value.expr if known is None else known[value.index]

    # Operators are created after their inputs, so one pass in that order reaches all that depend on a source.
    for node in operators:
        first = node.exprs[0].step
        source = first.source if isinstance(first, ExternalInput) else None
        if isinstance(source, ExternalSource) and source in layouts:
            given = zip(node.exprs, layouts[source], strict=True)
            changed[node] = [replace(expr, layout=layout) for expr, layout in given]
        elif any(value.operator in changed for value in node.dependencies()):
            changed[node] = lower_node_again(node, expr_of)
    for node, exprs in changed.items():
        node.exprs[:] = exprs
    return [value.with_expr(expr_of(value)) for value in outputs]


def with_location(error: ArgumentError, spec: Operator, line: str | None) -> ArgumentError:
    """Return the error with the name of the operator and the user's line added, unless it names them already."""
    text = str(error)
    if line is None or "created at" in text:
        return error
    return type(error)(f"{text if text.startswith(spec.name) else f'{spec.name}: {text}'}\n  created at {line}")
