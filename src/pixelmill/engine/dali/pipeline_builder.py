"""From the operators of a graph to calls of DALI."""

from __future__ import annotations

import enum
import operator as python
from collections.abc import Callable, Sequence
from typing import Any, Protocol, cast

import numpy as np

from pixelmill.engine.dali import versions
from pixelmill.engine.dali.scopes import CHOOSE, MERGE, Condition, Scope
from pixelmill.engine.dali.split import SplitPlan, argument_type
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.operators.arithmetic import OPERATIONS
from pixelmill.operators.dali import DaliCall
from pixelmill.operators.subscripts import SUBSCRIPT
from pixelmill.steps.sources import Array, Constant
from pixelmill.steps.step import Expr


class DaliValue(Protocol):
    """A node of a graph of DALI, as far as it is used here."""

    @property
    def device(self) -> str: ...

    def cpu(self) -> DaliValue: ...

    def gpu(self) -> DaliValue: ...

    def __add__(self, other: object) -> DaliValue: ...

    def __getitem__(self, key: object) -> DaliValue: ...


# What is known by it: an output, an argument that was drawn, a constant, a condition.
Key = tuple[object, ...]

# What a call of DALI gives.
DaliResult = DaliValue | Sequence[DaliValue] | dict[str, DaliValue]

# Arithmetic that DALI writes as Python's operators; the rest are functions of its `math`.
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
    """Tell whether the DALI that is installed can do the work of an operator."""
    call = node.spec.dali
    if not isinstance(call, DaliCall) or ("cpu" not in call.devices and not (gpu and node.device == "gpu")):
        return False
    if node.spec is OPERATIONS.get(node.operator):
        written = PYTHON.get(node.operator)
        return hasattr(versions.dali().math, node.operator) if written is None else versions.writes(written.__name__)
    if node.spec is SUBSCRIPT:
        return True
    if node.operator in (MERGE, CHOOSE):
        number = node.inputs[0]
        known = number is not None and number.operator is not None
        return known and versions.function("_conditional.merge") is not None
    typed = (node.spec.arguments[name] for name, value in node.arguments.items() if isinstance(value, DataNode))
    return versions.function(call.name or node.operator) is not None and all(map(argument_type, typed))


def build_pipeline(plan: SplitPlan, *, batch_size: int, threads: int, device_id: int | None) -> Any:
    """Write the part of a graph that is DALI's as a `nvidia.dali.Pipeline`, which is not built yet.

    Args:
        plan: The graph.
        batch_size: The most samples in a batch.
        threads: DALI's threads.
        device_id: The GPU; with None all operators are those for the CPU.
    """
    pipe = versions.new_pipeline(batch_size=batch_size, threads=threads, device_id=device_id)
    with versions.quiet(), pipe:
        builder = _PipelineBuilder(plan, gpu=device_id is not None)
        for node in plan.inside:
            builder.add(node)
        pipe.set_outputs(*(builder.given(node, index, device) for node, index, device in plan.given))
    return pipe


def input_name(number: int) -> str:
    """Name the external input that a value is handed to DALI by."""
    return f"handed_{number}"


class _PipelineBuilder:
    """Adds calls to the pipeline that is being defined.

    Attributes:
        known: Values of all samples, or of those of a scope.
    """

    def __init__(self, plan: SplitPlan, *, gpu: bool) -> None:
        self.dali = versions.dali()
        self.gpu = gpu
        self.scopes = plan.scopes
        self.known: dict[tuple[Key, Scope], DaliValue] = {}
        for number, key in enumerate(plan.handed):
            decoded = _only_decoded(plan, key)
            self.known[key, ()] = self.dali.fn.external_source(name=input_name(number), no_copy=decoded)

    def add(self, node: OperatorNode) -> None:
        """Add the call of an operator."""
        made = self._call(node)
        several = list(made.values()) if isinstance(made, dict) else made
        for index, value in enumerate(several if isinstance(several, (list, tuple)) else [cast("DaliValue", several)]):
            self.known[(node, index), self.scopes[node]] = value

    def given(self, node: OperatorNode, index: int, device: str) -> DaliValue:
        """Give an output of an operator where it is wanted."""
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
            made = function(inputs[0] + self._moved(added, device), inputs[0], device=device)
        else:
            made = function(*inputs, device=device, **self._arguments(node, call), **call.constants, **drawn)
        return cast("DaliResult", made)

    def _device(self, node: OperatorNode) -> str:
        """Say where DALI runs an operator: where it is wanted, if DALI has it there."""
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
        """Give a value for the samples of a scope."""
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
        """Give those samples of a value that fulfil the further conditions of a scope."""
        for depth in range(len(own), len(scope)):
            narrower = scope[: depth + 1]
            if (key, narrower) not in self.known:
                maker, index, number, _ = scope[depth]
                fulfilled = self._fulfilled(scope[depth], scope[:depth])
                split = versions.function("_conditional.split")
                assert split is not None
                for equal, part in zip((True, False), split(value, predicate=fulfilled), strict=True):
                    self.known[key, (*scope[:depth], (maker, index, number, equal))] = part
            value = self.known[key, narrower]
        return value

    def _fulfilled(self, condition: Condition, scope: Scope) -> DaliValue:
        """Tell for each sample of a scope whether the number of a condition is what it should be, or should not be."""
        node, index, number, _ = condition
        key = "fulfilled", node, index, number
        if (key, scope) not in self.known:
            compared = python.eq(self._moved(self._output(node, index, scope), "cpu"), number)
            self.known[key, scope] = cast("DaliValue", compared)
        return self.known[key, scope]

    def _constant(self, array: Array, layout: str) -> DaliValue:
        kept = array.astype(np.float32) if array.dtype == np.float64 else array
        options = {"layout": layout} if layout else {}
        made = self.dali.types.Constant(kept, dtype=self._dtype(kept.dtype.name), device="cpu", **options)
        return cast("DaliValue", made)

    def _dtype(self, name: str) -> object:
        return self.dali.types.to_dali_type(np.dtype(name))

    # Arguments

    def _arguments(self, node: OperatorNode, call: DaliCall) -> dict[str, object]:
        """Give the arguments that are not left at what DALI takes, too, when they are left out."""
        chosen: dict[str, object] = {}
        for name, argument in node.spec.arguments.items():
            value = node.arguments[name]
            if name in call.without:
                continue
            if isinstance(value, DataNode):
                chosen[name] = self._number(value, argument_type(argument), self.scopes[node])
            elif value != argument.default:
                chosen[name] = getattr(self.dali.types, value.name) if isinstance(value, enum.Enum) else value
        return chosen

    def _number(self, value: DataNode, dtype: str, scope: Scope) -> DaliValue:
        """Give an argument that differs from sample to sample, in the type that DALI wants."""
        handed = value.operator, value.index, dtype
        if (handed, ()) in self.known:
            return self._within(handed, self.known[handed, ()], (), scope)
        made = self.dali.fn.cast(self._moved(self._value(value, scope), "cpu"), dtype=self._dtype(dtype))
        return cast("DaliValue", made)

    # Calls that DALI writes in another way

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
        return self._joined(node, device, [(0, True, otherwise), (0, False, taken)])

    def _choose(self, node: OperatorNode, device: str) -> DaliValue:
        return self._joined(node, device, [(place, True, value) for place, value in enumerate(node.inputs[1:])])

    def _joined(self, node: OperatorNode, device: str, branches: list[tuple[int, bool, DataNode | None]]) -> DaliValue:
        """Put the samples of branches together; each has the number that its samples have, or have not."""
        number, scope = node.inputs[0], self.scopes[node]
        merge = versions.function("_conditional.merge")
        assert number is not None and number.operator is not None and merge is not None
        parts, rest = [], [scope]
        for own, equal, value in branches:
            assert value is not None
            maker = number.operator, number.index, own
            parts.append(self._moved(self._value(value, (*scope, (*maker, equal))), device))
            rest.append((*rest[-1], (*maker, False)))
        joined = parts[-1]
        for place in reversed(range(len(parts) - 1)):
            fulfilled = self._fulfilled((number.operator, number.index, branches[place][0], True), rest[place])
            joined = merge(parts[place], joined, predicate=fulfilled)
        return joined


def _array(constant: Expr) -> Array:
    assert isinstance(constant.step, Constant)
    return constant.step.array


def _only_decoded(plan: SplitPlan, key: tuple[OperatorNode, int | str, str]) -> bool:
    """Tell whether a value is only decoded, so that nothing DALI gives shares its memory."""
    users = [
        node
        for node in plan.inside
        for value in (*node.inputs, *node.arguments.values())
        if isinstance(value, DataNode) and (value.operator, value.index) == key[:2]
    ]
    return bool(users) and all(node.operator.startswith("decoders.image") for node in users)
