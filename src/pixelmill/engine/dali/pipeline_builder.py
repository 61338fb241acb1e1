"""Build a DALI pipeline from the operators of a graph."""

from __future__ import annotations

import enum
import operator as python
from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from pixelmill.engine.dali import versions
from pixelmill.engine.dali.scopes import CHOOSE, MERGE, Condition, Scope
from pixelmill.engine.dali.split import DaliInput, SplitPlan, argument_type
from pixelmill.engine.dali.versions import DaliPipeline, DaliValue
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.operators.arithmetic import OPERATIONS
from pixelmill.operators.dali import DaliCall
from pixelmill.operators.subscripts import SUBSCRIPT
from pixelmill.steps.sources import Array, Constant
from pixelmill.steps.step import Expr

# Identifies a value: an output of an operator, a native argument, a constant, or a condition.
Key = tuple[object, ...]

# What a call of DALI returns.
DaliResult = DaliValue | Sequence[DaliValue] | dict[str, DaliValue]

# Arithmetic that DALI offers as Python's operators; the rest are functions of its `math`.
PYTHON: dict[str, Callable[..., DaliValue]] = {
    "minus": python.neg,
    "add": python.add,
    "sub": python.sub,
    "mul": python.mul,
    "div": python.floordiv,
    "fdiv": python.truediv,
    "mod": python.mod,
    "eq": python.eq,
    "neq": python.ne,
    "lt": python.lt,
    "leq": python.le,
    "gt": python.gt,
    "geq": python.ge,
    "bitand": python.and_,
    "bitor": python.or_,
    "bitxor": python.xor,
    "bitnot": python.invert,
    "lshift": python.lshift,
    "rshift": python.rshift,
}


def is_supported(node: OperatorNode, *, gpu: bool) -> bool:
    """Whether the installed DALI can run an operator."""
    call = node.spec.dali
    if not isinstance(call, DaliCall) or ("cpu" not in call.devices and not (gpu and node.device == "gpu")):
        return False
    if node.spec is OPERATIONS.get(node.operator):
        python_operator = PYTHON.get(node.operator)
        if python_operator is None:
            return hasattr(versions.dali().math, node.operator)
        return versions.has_python_operator(python_operator.__name__)
    if node.spec is SUBSCRIPT:
        return True
    if node.operator in (MERGE, CHOOSE):
        number = node.inputs[0]
        computed = number is not None and number.operator is not None  # a constant cannot split a batch
        return computed and versions.function("_conditional.merge") is not None
    typed = (node.spec.arguments[name] for name, value in node.arguments.items() if isinstance(value, DataNode))
    return versions.function(call.name or node.operator) is not None and all(map(argument_type, typed))


def build_pipeline(plan: SplitPlan, *, batch_size: int, threads: int, device_id: int | None) -> DaliPipeline:
    """Return DALI's part of a graph as a `nvidia.dali.Pipeline` on which `build()` was not called yet.

    Args:
        plan: The split graph.
        batch_size: The largest number of samples in a batch.
        threads: The number of DALI's threads.
        device_id: The GPU; with None, DALI's CPU operators are used.
    """
    pipe = versions.new_pipeline(batch_size=batch_size, threads=threads, device_id=device_id)
    with versions.quiet(), pipe:
        builder = _PipelineBuilder(plan, gpu=device_id is not None)
        for node in plan.inside:
            builder.add(node)
        pipe.set_outputs(*(builder.output(node, index, device) for node, index, device in plan.dali_outputs))
    return pipe


def input_name(number: int) -> str:
    """Return the name of DALI's external source for an input."""
    return f"handed_{number}"


class _PipelineBuilder:
    """Adds calls to the pipeline that is being defined.

    A value may exist several times: for all samples, and for the samples of each scope that uses it. DALI's operators
    accept only inputs for the same samples, so `_within` splits a value as far as the scope of its user.

    Attributes:
        dali: The module `nvidia.dali`.
        gpu: Whether GPU operators are used.
        scopes: For which samples each operator runs.
        known: Values by their keys and scopes.
    """

    def __init__(self, plan: SplitPlan, *, gpu: bool) -> None:
        self.dali = versions.dali()
        self.gpu = gpu
        self.scopes = plan.scopes
        self.known: dict[tuple[Key, Scope], DaliValue] = {}
        for number, key in enumerate(plan.dali_inputs):
            self.known[key, ()] = self.dali.fn.external_source(
                name=input_name(number), no_copy=_is_only_decoded(plan, key)
            )

    def add(self, node: OperatorNode) -> None:
        """Add the call of an operator."""
        result = self._call(node)
        several = list(result.values()) if isinstance(result, dict) else result
        for index, value in enumerate(several if isinstance(several, (list, tuple)) else [cast("DaliValue", several)]):
            self.known[(node, index), self.scopes[node]] = value

    def output(self, node: OperatorNode, index: int, device: str) -> DaliValue:
        """Return an output of an operator on a device."""
        return self._moved(self._output(node, index, ()), device)

    def _call(self, node: OperatorNode) -> DaliResult:
        call, device, scope = node.spec.dali, self._device(node), self.scopes[node]
        assert isinstance(call, DaliCall)
        if node.spec is OPERATIONS.get(node.operator):
            return self._arithmetic(node, device)
        special = {SUBSCRIPT.name: self._subscript, MERGE: self._merge, CHOOSE: self._choose}.get(node.operator)
        if special is not None:
            return special(node, device)
        inputs = [self._input(node, place, device) for place in range(len(node.inputs))]
        while inputs and inputs[-1] is None:
            inputs.pop()
        drawn = {
            name: self._within(key, value, (), scope)
            for (key, _), value in list(self.known.items())
            if key[0] is node and isinstance(name := key[1], str)
        }
        function = versions.function(call.name or node.operator)
        assert function is not None
        if call.adds:
            (added,) = drawn.values()
            assert inputs[0] is not None
            result = function(inputs[0] + self._moved(added, device), inputs[0], device=device)
        else:
            result = function(*inputs, device=device, **self._arguments(node, call), **call.constants, **drawn)
        return cast("DaliResult", result)

    def _device(self, node: OperatorNode) -> str:
        """Return where DALI runs an operator: on the requested device, if DALI supports it there."""
        call = node.spec.dali
        assert isinstance(call, DaliCall)
        if not self.gpu or node.device == "cpu":
            return "cpu"
        return "mixed" if "mixed" in call.devices else "gpu" if "gpu" in call.devices else "cpu"

    def _input(self, node: OperatorNode, place: int, device: str) -> DaliValue | None:
        value, call = node.inputs[place], node.spec.dali
        assert isinstance(call, DaliCall)
        if value is None:
            return None
        found = self._value(value, self.scopes[node])
        if call.anywhere and device == "cpu":
            return found
        return self._moved(found, "gpu" if device == "gpu" and place not in call.cpu_inputs else "cpu")

    def _moved(self, value: DaliValue, device: str) -> DaliValue:
        if value.device == device:
            return value
        return value.gpu() if device == "gpu" else value.cpu()

    # Values

    def _value(self, value: DataNode, scope: Scope) -> DaliValue:
        """Return a value for the samples of a scope."""
        if value.operator is not None:
            return self._output(value.operator, value.index, scope)
        expr = value.expr
        key = expr.step, expr.index
        if (key, ()) not in self.known:
            self.known[key, ()] = self._constant(_array(expr), expr.layout)
        return self._within(key, self.known[key, ()], (), scope)

    def _output(self, node: OperatorNode, index: int, scope: Scope) -> DaliValue:
        own = self.scopes.get(node, ())
        key: Key = (node, index) if node in self.scopes else (node, index, "")
        return self._within(key, self.known[key, own], own, scope)

    def _within(self, key: Key, value: DaliValue, own: Scope, scope: Scope) -> DaliValue:
        """Return the samples of a value that meet the conditions which `scope` has in addition to `own`."""
        for depth in range(len(own), len(scope)):
            narrower = scope[: depth + 1]
            if (key, narrower) not in self.known:
                maker, index, number, _ = scope[depth]
                predicate = self._predicate(scope[depth], scope[:depth])
                split = versions.function("_conditional.split")
                assert split is not None
                # A split returns both parts; the other one is kept for the other branch.
                both = cast("Sequence[DaliValue]", split(value, predicate=predicate))
                for equal, part in zip((True, False), both, strict=True):
                    self.known[key, (*scope[:depth], (maker, index, number, equal))] = part
            value = self.known[key, narrower]
        return value

    def _predicate(self, condition: Condition, scope: Scope) -> DaliValue:
        """Return for each sample of a scope whether the value of a condition equals its number."""
        node, index, number, _ = condition
        key = "predicate", node, index, number
        if (key, scope) not in self.known:
            compared = python.eq(self._moved(self._output(node, index, scope), "cpu"), number)
            self.known[key, scope] = cast("DaliValue", compared)
        return self.known[key, scope]

    def _constant(self, array: Array, layout: str) -> DaliValue:
        kept = array.astype(np.float32) if array.dtype == np.float64 else array
        options = {"layout": layout} if layout else {}
        value = self.dali.types.Constant(kept, dtype=self._dtype(kept.dtype.name), device="cpu", **options)
        return cast("DaliValue", value)

    def _dtype(self, name: str) -> object:
        return self.dali.types.to_dali_type(np.dtype(name))

    # Arguments

    def _arguments(self, node: OperatorNode, call: DaliCall) -> dict[str, object]:
        """Return the arguments that differ from their defaults; the defaults are DALI's as well."""
        arguments: dict[str, object] = {}
        for name, argument in node.spec.arguments.items():
            value = node.arguments[name]
            if name in call.without:
                continue
            if isinstance(value, DataNode):
                arguments[name] = self._number(value, argument_type(argument), self.scopes[node])
            elif value != argument.default:
                arguments[name] = getattr(self.dali.types, value.name) if isinstance(value, enum.Enum) else value
        return arguments

    def _number(self, value: DataNode, dtype: str, scope: Scope) -> DaliValue:
        """Return an argument that differs from sample to sample, in the dtype that DALI expects."""
        key = value.operator, value.index, dtype
        if (key, ()) in self.known:
            return self._within(key, self.known[key, ()], (), scope)
        number = self.dali.fn.cast(self._moved(self._value(value, scope), "cpu"), dtype=self._dtype(dtype))
        return cast("DaliValue", number)

    # Operators that are not functions of DALI's `fn`

    def _arithmetic(self, node: OperatorNode, device: str) -> DaliValue:
        operands = [self._operand(value, device, self.scopes[node]) for value in node.inputs if value is not None]
        function = PYTHON.get(node.operator) or getattr(self.dali.math, node.operator)
        return function(*operands)

    def _operand(self, value: DataNode, device: str, scope: Scope) -> DaliValue:
        if value.operator is None and _array(value.expr).ndim == 0:
            number = _array(value.expr)
            return cast("DaliValue", self.dali.types.Constant(number.item(), dtype=self._dtype(number.dtype.name)))
        return self._moved(self._value(value, scope), device)

    def _subscript(self, node: OperatorNode, device: str) -> DaliValue:
        data, *bounds = node.inputs
        assert data is not None
        scope = self.scopes[node]
        ends = [None if value is None else self._bound(value, scope) for value in bounds]
        fours = (ends[place : place + 4] for place in range(0, len(ends), 4))
        parts = tuple(slice(*others) if index is None else index for index, *others in fours)
        return self._moved(self._value(data, scope), device)[parts]

    def _bound(self, value: DataNode, scope: Scope) -> DaliValue | int:
        if value.operator is None:
            return int(_array(value.expr).item())
        return self._moved(self._value(value, scope), "cpu")

    def _merge(self, node: OperatorNode, device: str) -> DaliValue:
        _, taken, otherwise = node.inputs
        return self._merged(node, device, [(0, True, otherwise), (0, False, taken)])

    def _choose(self, node: OperatorNode, device: str) -> DaliValue:
        return self._merged(node, device, [(place, True, value) for place, value in enumerate(node.inputs[1:])])

    def _merged(self, node: OperatorNode, device: str, branches: list[tuple[int, bool, DataNode | None]]) -> DaliValue:
        """Merge the samples of branches.

        DALI merges only two parts at a time, so several branches are a chain: from the last branch to the first, each
        is merged with everything after it. The predicate of a merge is needed for the samples of both of its parts,
        which are those that took none of the branches before: the scopes in `rest`.

        Args:
            node: The operator.
            device: Where the result is needed.
            branches: A number for each, whether its samples have that number, and its value.
        """
        number, scope = node.inputs[0], self.scopes[node]
        merge = versions.function("_conditional.merge")
        assert number is not None and number.operator is not None and merge is not None
        parts, rest = [], [scope]
        for own, equal, value in branches:
            assert value is not None
            condition = number.operator, number.index, own
            parts.append(self._moved(self._value(value, (*scope, (*condition, equal))), device))
            rest.append((*rest[-1], (*condition, False)))
        merged = parts[-1]
        for place in reversed(range(len(parts) - 1)):
            predicate = self._predicate((number.operator, number.index, branches[place][0], True), rest[place])
            merged = cast("DaliValue", merge(parts[place], merged, predicate=predicate))
        return merged


def _array(constant: Expr) -> Array:
    assert isinstance(constant.step, Constant)
    return constant.step.array


def _is_only_decoded(plan: SplitPlan, key: DaliInput) -> bool:
    """Whether only decoders use an input. Then no output of DALI shares its memory, and it is not copied."""
    users = [
        node
        for node in plan.inside
        for value in (*node.inputs, *node.arguments.values())
        if isinstance(value, DataNode) and (value.operator, value.index) == key[:2]
    ]
    return bool(users) and all(node.operator.startswith("decoders.image") for node in users)
