"""Building graphs: a call of an operator becomes a node, checked and lowered on the spot."""

from __future__ import annotations

import contextlib
import difflib
import itertools
import linecache
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn, TypeAlias, TypeGuard, cast

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.node_operators import NodeOperators
from pixelmill.operators.arithmetic import OPERATIONS
from pixelmill.operators.declare import REGISTRY, Floats, Ints, Lowered, Operator
from pixelmill.operators.sources import ExternalSource
from pixelmill.operators.subscripts import SUBSCRIPT, subscripts
from pixelmill.steps.sources import ExternalInput, constant
from pixelmill.steps.step import Expr, lowering
from pixelmill.types import ArrayConstant, ScalarConstant, default_array

PACKAGE = str(Path(__file__).absolute().parents[1]) + os.sep
DEVICES = ("cpu", "gpu", "mixed")
_numbers = itertools.count()
_branch: ContextVar[tuple[tuple[DataNode, int, bool], ...]] = ContextVar("branch", default=())


@dataclass(frozen=True, eq=False)
class OperatorNode:
    """An operator with its inputs and arguments.

    Attributes:
        spec: The declaration of the operator.
        inputs: What it works on.
        arguments: Checked constants, and nodes for what differs from sample to sample.
        name: The name of this node.
        device: Where the user wants it to run.
        seed: The user's own seed for its random numbers.
        line: The user's line that made it.
        number: Its place in the order of creation.
        branch: The conditions of the branches it was made in: nodes, the number each has, or has not.
        family: The first node of a call with several inputs; they draw the same numbers.
        exprs: What it was lowered to, one for each output.
    """

    spec: Operator
    inputs: tuple[DataNode | None, ...]
    arguments: dict[str, object]
    name: str
    device: str
    seed: int | None
    line: str | None
    branch: tuple[tuple[DataNode, int, bool], ...] = ()
    family: OperatorNode | None = None
    number: int = field(default_factory=lambda: next(_numbers))
    exprs: list[Expr] = field(default_factory=list)

    @property
    def operator(self) -> str:
        """The name of the operator."""
        return self.spec.name


class DataNode(NodeOperators):
    """A value in a graph: one output of an operator, a batch of samples when the pipeline runs."""

    __slots__ = ("device", "expr", "index", "operator", "source")

    def __init__(self, operator: OperatorNode | None, expr: Expr, index: int = 0) -> None:
        self.operator = operator
        self.expr = expr
        self.index = index
        self.device = "cpu"
        self.source: object = None

    @property
    def name(self) -> str:
        """The name of the node, followed by the number of the output where there are several."""
        base = "constant" if self.operator is None else self.operator.name
        return base if self.index == 0 else f"{base}[{self.index}]"

    def gpu(self) -> DataNode:
        """Ask for the value on the GPU; on the native engine it stays where it is."""
        return self._on("gpu")

    def cpu(self) -> DataNode:
        """Ask for the value in main memory."""
        return self._on("cpu")

    def _operate(self, operation: str, *operands: object, **arguments: object) -> DataNode:
        return operate(operation, *operands, **arguments)

    def _on(self, device: str) -> DataNode:
        copy = self._with(self.expr)
        copy.device = device
        return copy

    def _with(self, expr: Expr) -> DataNode:
        copy = DataNode(self.operator, expr, self.index)
        copy.device = self.device
        copy.source = self.source
        return copy

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"the value of {self.name!r} is known only when the pipeline runs, "
            "so it cannot decide here; with pipeline_def(enable_conditionals=True), `if`, `and`, `or`, `not` take nodes"
        )

    def __repr__(self) -> str:
        return f"DataNode(name={self.name!r}, device={self.device!r})"


# What a call of an operator gives: a node, several, or several by name; a list of these for lists of inputs.
Made: TypeAlias = "DataNode | list[Made] | dict[str, DataNode]"


@dataclass(frozen=True, eq=False)
class _Options:
    """What a call says about a node beside inputs and arguments."""

    name: str | None
    device: str | None
    seed: int | None
    line: str | None
    family: OperatorNode | None = None


@contextlib.contextmanager
def within(condition: DataNode, number: int, *, equal: bool) -> Iterator[None]:
    """Make operators for those samples alone whose `condition` is `number`, or is not."""
    token = _branch.set((*_branch.get(), (condition, number, equal)))
    try:
        yield
    finally:
        _branch.reset(token)


def user_line() -> str | None:
    """Find the line outside of this package that led here, as `file:number   text`."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return None
    path, number = frame.f_code.co_filename, frame.f_lineno
    return f"{Path(path).name}:{number}   {linecache.getline(path, number).strip()}".rstrip()


def as_node(value: object) -> DataNode:
    """Give a node; numbers, lists and arrays become constants."""
    if isinstance(value, DataNode):
        return value
    if isinstance(value, ScalarConstant):
        return DataNode(None, constant(value.array()))
    if isinstance(value, ArrayConstant):
        return DataNode(None, constant(value.value, layout=value.layout))
    if isinstance(value, (bool, int, float, list, tuple, np.ndarray, np.generic)):
        return DataNode(None, constant(default_array(value)))
    raise ArgumentError(f"an input must be a node, a number, a list or an array, got {value!r}")


def call(
    spec: Operator,
    inputs: Sequence[object],
    arguments: Mapping[str, object],
    *,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Made:
    """Add an operator to a graph: what `fn.…()` and the classes of `ops` do.

    Returns:
        A node, or a list of nodes where the operator gives several. With a list of nodes for an input, a list with a
        result for each of them, all drawing the same random numbers.
    """
    line = user_line()
    try:
        checked = _check_arguments(spec, arguments)
        _check_device(spec, device)
        options = _Options(name, device, _check_seed(spec, seed), line)
        lengths = {len(value) for value in inputs if _is_set(value)}
        if not lengths:
            return _add(spec, inputs, checked, options)
        if len(lengths) > 1:
            raise ArgumentError(f"{spec.name}: lists of inputs must be equally long")
        results: list[Made] = []
        for place in range(lengths.pop()):
            chosen = [value[place] if _is_set(value) else value for value in inputs]
            results.append(_add(spec, chosen, checked, options))
            options = replace(options, family=options.family or _maker(results[0]))
        return results
    except ArgumentError as error:
        raise _located(error, spec, line) from None


def operate(operation: str, *operands: object, **arguments: object) -> DataNode:
    """Add what one of Python's own operators stands for, by its name."""
    if operation == "subscript":
        data, key = operands
        return _part(data, key)
    return _node(call(OPERATIONS.get(operation) or REGISTRY[operation], operands, arguments))


ArrayConstant.add_operator = operate


def _part(data: object, key: object) -> DataNode:
    """Add what takes `data[key]`."""
    bounds, axes, names = subscripts(key)
    part = call(SUBSCRIPT, (data, *(bound for four in bounds for bound in four)), {}) if bounds else data
    return _node(call(REGISTRY["expand_dims"], (part,), {"axes": axes, "new_axis_names": names}) if axes else part)


def _node(made: object) -> DataNode:
    return cast("DataNode", made)  # what has one output gives a node, as long as no operand is a list of nodes


def _located(error: ArgumentError, spec: Operator, line: str | None) -> ArgumentError:
    """Say in an error which operator and which line of the user it is about."""
    text = str(error)
    if line is None or "created at" in text:
        return error
    return ArgumentError(f"{text if text.startswith(spec.name) else f'{spec.name}: {text}'}\n  created at {line}")


def _is_set(value: object) -> TypeGuard[Sequence[DataNode]]:
    """Whether an input is several nodes, for each of which the operator is called."""
    listed = isinstance(value, (list, tuple)) and len(value) > 0
    return listed and all(isinstance(item, DataNode) for item in cast("Sequence[object]", value))


def _maker(made: Made) -> OperatorNode | None:
    first = made[0] if isinstance(made, list) else next(iter(made.values())) if isinstance(made, dict) else made
    return first.operator if isinstance(first, DataNode) else None


def _add(spec: Operator, inputs: Sequence[object], arguments: dict[str, object], options: _Options) -> Made:
    most = len(spec.inputs)
    if not spec.required_inputs <= len(inputs) or (len(inputs) > most and not spec.many_inputs):
        wanted = str(most) if spec.required_inputs == most else f"{spec.required_inputs} to {most}"
        raise ArgumentError(f"{spec.name}: takes {wanted} inputs, got {len(inputs)}")
    nodes = tuple(None if value is None else as_node(value) for value in inputs)
    node = OperatorNode(
        spec,
        nodes,
        arguments,
        name=options.name or f"{spec.class_name}_{next(_numbers)}",
        device=options.device or _inferred_device(nodes),
        seed=options.seed,
        line=options.line,
        branch=_branch.get(),
        family=options.family,
    )
    result = _lowered(node, lambda value: value.expr)
    if isinstance(result, tuple):
        return [_output(node, expr, index) for index, expr in enumerate(result)]
    if isinstance(result, dict):
        return {key: _output(node, expr, index) for index, (key, expr) in enumerate(result.items())}
    return _output(node, result, 0)


def _lowered(node: OperatorNode, expr_of: Callable[[DataNode], Expr]) -> Lowered:
    """Lower an operator to steps on what its inputs and arguments were lowered to."""
    branch = tuple((expr_of(condition), number, equal) for condition, number, equal in node.branch)
    with lowering(node, branch):
        lowered: dict[str, object] = {}
        for key, argument in node.spec.arguments.items():
            value = node.arguments[key]
            lowered[key] = expr_of(value) if isinstance(value, DataNode) else value
            if argument.per_sample:
                lowered[key] = argument.lowered(lowered[key])
        return node.spec.body(*(None if value is None else expr_of(value) for value in node.inputs), **lowered)


def lowered_again(node: OperatorNode, expr_of: Callable[[DataNode], Expr]) -> list[Expr]:
    """Lower an operator on other values than those it was made with; give one for each output."""
    try:
        result = _lowered(node, expr_of)
    except ArgumentError as error:
        raise _located(error, node.spec, node.line) from None
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, tuple) else [result]


def operators_of(outputs: Sequence[DataNode]) -> list[OperatorNode]:
    """List the operators of a graph in the order of their creation."""
    seen: dict[OperatorNode, None] = {}
    todo = [node.operator for node in outputs if node.operator is not None]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen[node] = None
        conditions = (condition for condition, _, _ in node.branch)
        for value in (*node.inputs, *node.arguments.values(), *conditions):
            if isinstance(value, DataNode) and value.operator is not None:
                todo.append(value.operator)
    return sorted(seen, key=lambda node: node.number)


def relowered(
    operators: Sequence[OperatorNode], outputs: Sequence[DataNode], layouts: Mapping[ExternalSource, str]
) -> list[DataNode]:
    """Lower a graph again, for sources whose axes got names after it was built; its operators know it from then on.

    Args:
        operators: All operators of the graph, in the order of their creation.
        outputs: What the graph gives.
        layouts: The names, by the sources.
    """
    changed: dict[OperatorNode, list[Expr]] = {}

    def expr_of(value: DataNode) -> Expr:
        known = changed.get(value.operator) if value.operator is not None else None
        return value.expr if known is None else known[value.index]

    for node in operators:
        conditions = [condition for condition, _, _ in node.branch]
        given = (*node.inputs, *node.arguments.values(), *conditions)
        before = [value for value in given if isinstance(value, DataNode)]
        made = node.exprs[0].step
        source = made.source if isinstance(made, ExternalInput) else None
        if isinstance(source, ExternalSource) and source in layouts:
            changed[node] = [replace(expr, layout=layouts[source]) for expr in node.exprs]
        elif any(value.operator in changed for value in before):
            changed[node] = lowered_again(node, expr_of)
    for node, exprs in changed.items():
        node.exprs[:] = exprs
    return [value._with(expr_of(value)) for value in outputs]


def _output(node: OperatorNode, expr: Expr, index: int) -> DataNode:
    made = DataNode(node, expr, index)
    node.exprs.append(expr)
    made.device = "gpu" if node.device in ("gpu", "mixed") else "cpu"
    return made


def _check_arguments(spec: Operator, given: Mapping[str, object]) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in given.items():
        name = spec.renamed.get(key, key)
        if name in spec.arguments:
            if value is not None:
                values[name] = value
        elif name not in spec.ignored:
            close = difflib.get_close_matches(name, spec.arguments, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; it takes {', '.join(spec.arguments) or 'none'}"
            raise TypeError(f"{spec.name}: there is no argument {key!r}{hint}")
    checked: dict[str, object] = {}
    for name, argument in spec.arguments.items():
        value = values.get(name)
        array = value.value if isinstance(value, ArrayConstant) else value
        axes = array.ndim if isinstance(array, np.ndarray) else 0
        if argument.per_sample and axes > (argument.kind in (Floats, Ints)):
            value = as_node(value)
        if value is None:
            if argument.required:
                raise ArgumentError(f"{spec.name}: {name} is missing")
            checked[name] = argument.default
        elif isinstance(value, DataNode):
            if not argument.per_sample:
                raise ArgumentError(f"{spec.name}: {name} must be a constant; it cannot differ from sample to sample")
            checked[name] = value
        else:
            checked[name] = argument.check(spec.name, _plain(value))
    return checked


def _plain(value: object) -> object:
    return value.value if isinstance(value, (ScalarConstant, ArrayConstant)) else value


def _check_device(spec: Operator, device: str | None) -> None:
    if device is not None and device not in DEVICES:
        raise ArgumentError(f"{spec.name}: device must be one of {', '.join(DEVICES)}, got {device!r}")


def _inferred_device(inputs: Sequence[DataNode | None]) -> str:
    """Say where an operator is wanted that nobody said it of: where its inputs are."""
    return "gpu" if any(value is not None and value.device == "gpu" for value in inputs) else "cpu"


def _check_seed(spec: Operator, seed: int | None) -> int | None:
    if seed is None or seed < 0:
        return None
    return int(seed)
