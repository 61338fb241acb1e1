"""Calls of operators: check the arguments, create the node, and lower it immediately."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from types import NoneType
from typing import TypeAlias, TypeGuard, cast

import numpy as np

from pixelmill.errors import ArgumentError, ArgumentTypeError, UnknownNameError
from pixelmill.graph.lowering import lower_node_or_wait, with_location
from pixelmill.graph.nodes import Conditions, DataNode, OperatorNode, common_conditions, current_branch, next_number
from pixelmill.graph.source_lines import user_line
from pixelmill.operators.arithmetic import OPERATIONS
from pixelmill.operators.declare import REGISTRY, Argument, Floats, Ints, Operator
from pixelmill.operators.subscripts import SUBSCRIPT, subscripts
from pixelmill.steps.sources import constant
from pixelmill.steps.step import Expr
from pixelmill.types import ArrayConstant, ScalarConstant, default_array

DEVICES = ("cpu", "gpu", "mixed")

# What a call returns: a node, several, or several by name; a list of these for lists of inputs.
CallResult: TypeAlias = "DataNode | list[CallResult] | dict[str, DataNode]"


# Takes an operator, its inputs, its arguments and the options of the call.
Handler = Callable[[Operator, Sequence[object], Mapping[str, object], Mapping[str, object]], CallResult]
_handler: ContextVar[Handler | None] = ContextVar("handler", default=None)


@contextlib.contextmanager
def calls_handled_by(handler: Handler | None) -> Iterator[None]:
    """Pass all calls of operators to `handler`, instead of adding them to a graph."""
    token = _handler.set(handler)
    try:
        yield
    finally:
        _handler.reset(token)


@dataclass(frozen=True, eq=False)
class _NodeOptions:
    """The options of a call that are not inputs or arguments of the operator."""

    name: str | None
    device: str | None
    seed: int | None
    line: str | None
    same_draws_as: OperatorNode | None = None


def as_node(value: object) -> DataNode:
    """Return `value` as a node; numbers, lists and arrays become constants."""
    if isinstance(value, DataNode):
        return value
    if isinstance(value, ScalarConstant):
        return DataNode(None, constant(value.array()))
    if isinstance(value, ArrayConstant):
        node = DataNode(None, constant(value.value, layout=value.layout))
        return node.gpu() if value.device == "gpu" else node
    if isinstance(value, (bool, int, float, list, tuple, np.ndarray, np.generic)):
        return DataNode(None, constant(default_array(value)))
    raise ArgumentTypeError(f"an input must be a node, a number, a list or an array, got {value!r}")


def call(
    spec: Operator,
    inputs: Sequence[object],
    arguments: Mapping[str, object],
    *,
    device: str | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> CallResult:
    """Add an operator to a graph: what `fn.…()` and the classes of `ops` do.

    Returns:
        A node, or a list of nodes if the operator has several outputs. If an input is a list of nodes, a list with one
        result for each of them, all drawing the same random numbers.
    """
    handler = _handler.get()
    if handler is not None:
        return handler(spec, inputs, arguments, {"device": device, "name": name, "seed": seed})
    line = user_line()
    try:
        checked = _check_arguments(spec, arguments)
        _check_device(spec, device)
        options = _NodeOptions(name, device, _check_seed(seed), line)
        lengths = {len(value) for value in inputs if _is_node_list(value)}
        if not lengths:
            return _add(spec, inputs, checked, options)
        if len(lengths) > 1:
            raise ArgumentError(f"{spec.name}: lists of inputs must have the same length, got {sorted(lengths)}")
        results: list[CallResult] = []
        for place in range(lengths.pop()):
            row = [value[place] if _is_node_list(value) else value for value in inputs]
            results.append(_add(spec, row, checked, options))
            options = replace(options, same_draws_as=options.same_draws_as or _operator_of(results[0]))
        return results
    except ArgumentError as error:
        raise with_location(error, spec, line) from None


def operate(operation: str, *operands: object, device: str | None = None, **arguments: object) -> DataNode:
    """Add the operator that one of Python's own operators stands for, by its name."""
    if operation == "subscript":
        data, key = operands
        return _subscript(data, key)
    return _single(call(OPERATIONS.get(operation) or REGISTRY[operation], operands, arguments, device=device))


# Nodes and constants have Python's operators, but neither may import this module: it imports both.
DataNode.add_operator = operate
ArrayConstant.add_operator = operate


def _subscript(data: object, key: object) -> DataNode:
    """Add the operators that compute `data[key]`."""
    bounds, axes, names = subscripts(key)
    part = call(SUBSCRIPT, (data, *(bound for four in bounds for bound in four)), {}) if bounds else data
    return _single(call(REGISTRY["expand_dims"], (part,), {"axes": axes, "new_axis_names": names}) if axes else part)


def _single(result: object) -> DataNode:
    return cast("DataNode", result)  # an operator with one output returns a node unless an operand is a list of nodes


def _is_node_list(value: object) -> TypeGuard[Sequence[DataNode]]:
    """Whether an input is a list of nodes, for each of which the operator is called."""
    listed = isinstance(value, (list, tuple)) and len(value) > 0
    return listed and all(isinstance(item, DataNode) for item in cast("Sequence[object]", value))


def _operator_of(result: CallResult) -> OperatorNode | None:
    if isinstance(result, dict):
        first: CallResult = next(iter(result.values()))
    else:
        first = result[0] if isinstance(result, list) else result
    return first.operator if isinstance(first, DataNode) else None


def _add(spec: Operator, inputs: Sequence[object], arguments: dict[str, object], options: _NodeOptions) -> CallResult:
    most = len(spec.inputs)
    if not spec.required_inputs <= len(inputs) or (len(inputs) > most and not spec.many_inputs):
        wanted = str(most) if spec.required_inputs == most else f"{spec.required_inputs} to {most}"
        raise ArgumentError(f"{spec.name}: expects {wanted} inputs, but received {len(inputs)}")
    nodes = tuple(None if value is None else as_node(value) for value in inputs)
    within = common_conditions((*nodes, *arguments.values()))
    node = OperatorNode(
        spec,
        nodes,
        arguments,
        name=options.name or f"{spec.class_name}_{next_number()}",
        device=options.device or _inferred_device(nodes),
        seed=options.seed,
        line=options.line,
        branch=(*current_branch(), *within),
        same_draws_as=options.same_draws_as,
    )
    result = lower_node_or_wait(node)
    if isinstance(result, tuple):
        return [_output(node, expr, index, within) for index, expr in enumerate(result)]
    if isinstance(result, dict):
        return {key: _output(node, expr, index, within) for index, (key, expr) in enumerate(result.items())}
    return _output(node, result, 0, within)


def _output(node: OperatorNode, expr: Expr, index: int, within: Conditions) -> DataNode:
    output = DataNode(node, expr, index)
    output.within = within
    node.exprs.append(expr)
    output.device = "gpu" if node.device in ("gpu", "mixed") else "cpu"
    return output


def _check_arguments(spec: Operator, given: Mapping[str, object]) -> dict[str, object]:
    """Return a checked value, a node or the default for every argument of the operator."""
    values: dict[str, object] = {}
    for key, value in given.items():
        name = spec.renamed.get(key, key)
        if name in spec.arguments:
            if value is not None:
                values[name] = value
        elif name not in spec.ignored:
            import difflib  # late: for mistakes alone

            close = difflib.get_close_matches(name, spec.arguments, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; it takes {', '.join(spec.arguments) or 'none'}"
            raise UnknownNameError(f"{spec.name}: got an unexpected argument {key!r}{hint}")
    return {name: _check_argument(spec, name, argument, values.get(name)) for name, argument in spec.arguments.items()}


def _check_argument(spec: Operator, name: str, argument: Argument, value: object) -> object:
    # `Argument.check` takes numbers and flat lists; an array with more axes is accepted wherever a node is.
    array = value.value if isinstance(value, ArrayConstant) else value
    axes = array.ndim if isinstance(array, np.ndarray) else 0
    if argument.per_sample and axes > (argument.kind in (Floats, Ints)):
        value = as_node(value)
    if value is None:
        if argument.required:
            raise ArgumentError(f"{spec.name}: {name} is missing; not all required arguments were specified")
        return argument.default
    if isinstance(value, DataNode):
        if not argument.per_sample:
            raise ArgumentTypeError(
                f"{spec.name}: {name} must be a constant and should not be a 'DataNode': "
                "it cannot differ from sample to sample"
            )
        return value
    return argument.check(spec.name, _unwrapped(value))


def _unwrapped(value: object) -> object:
    if isinstance(value, ArrayConstant):
        return value.value if value.value.ndim else value.value.item()
    return value.value if isinstance(value, ScalarConstant) else value


def _check_device(spec: Operator, device: str | None) -> None:
    if device is not None and device not in DEVICES:
        raise ArgumentError(f"{spec.name}: device must be one of {', '.join(DEVICES)}, got {device!r}")


def _inferred_device(inputs: Sequence[DataNode | None]) -> str:
    """Return the device of an operator for which none was requested: the GPU if an input is there."""
    return "gpu" if any(value is not None and value.device == "gpu" for value in inputs) else "cpu"


def _check_seed(seed: int | None) -> int | None:
    if not isinstance(seed, (int, np.integer, NoneType)):
        raise ArgumentError(f"seed must be an integer, got {seed!r}")
    return None if seed is None or seed < 0 else int(seed)
