"""From the operators of a graph to calls of DALI."""

from __future__ import annotations

import enum
import operator as python
from collections.abc import Callable
from typing import Any

import numpy as np

from pixelmill.engine.dali import versions
from pixelmill.engine.dali.split import SplitPlan, Value, argument_type
from pixelmill.graph import DataNode, OperatorNode
from pixelmill.operators.arithmetic import OPERATIONS
from pixelmill.operators.dali import DaliCall
from pixelmill.operators.declare import Argument
from pixelmill.operators.subscripts import SUBSCRIPT

# Arithmetic that DALI writes as Python's operators; the rest are functions of its `math`.
PYTHON: dict[str, Callable[..., Any]] = {
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


def supported(node: OperatorNode, *, gpu: bool) -> bool:
    """Tell whether the DALI that is installed can do the work of an operator."""
    call = node.spec.dali
    if not isinstance(call, DaliCall) or ("cpu" not in call.devices and not (gpu and node.device == "gpu")):
        return False
    if node.spec is OPERATIONS.get(node.operator):
        return node.operator in PYTHON or hasattr(versions.dali().math, node.operator)
    if node.spec is SUBSCRIPT:
        return True
    typed = (node.spec.arguments[name] for name, value in node.arguments.items() if isinstance(value, DataNode))
    return versions.function(call.name or node.operator) is not None and all(map(argument_type, typed))


def emitted(plan: SplitPlan, *, batch_size: int, threads: int, device_id: int | None) -> Any:
    """Write the part of a graph that is DALI's as a `nvidia.dali.Pipeline`, which is not built yet.

    Args:
        plan: The graph.
        batch_size: The most samples in a batch.
        threads: DALI's threads.
        device_id: The GPU; with None all operators are those for the CPU.
    """
    pipe = versions.new_pipeline(batch_size=batch_size, threads=threads, device_id=device_id)
    with versions.quiet(), pipe:
        emitter = _Emitter(plan, gpu=device_id is not None)
        for node in plan.inside:
            emitter.emit(node)
        pipe.set_outputs(*(emitter.given(node, index, device) for node, index, device in plan.given))
    return pipe


def input_name(number: int) -> str:
    """Name the external input that a value is handed to DALI by."""
    return f"handed_{number}"


class _Emitter:
    def __init__(self, plan: SplitPlan, *, gpu: bool) -> None:
        self.dali = versions.dali()
        self.gpu = gpu
        self.handed = {
            key: self.dali.fn.external_source(name=input_name(number), no_copy=_only_decoded(plan, key))
            for number, key in enumerate(plan.handed)
        }
        self.values: dict[Value, Any] = {}

    def emit(self, node: OperatorNode) -> None:
        """Add the call of an operator."""
        made = self._call(node)
        several = list(made.values()) if isinstance(made, dict) else made
        for index, value in enumerate(several if isinstance(several, (list, tuple)) else [several]):
            self.values[node, index] = value

    def given(self, node: OperatorNode, index: int, device: str) -> Any:
        """Give an output of an operator where it is wanted."""
        made = self.values.get((node, index))
        return self._moved(self.handed[node, index, ""] if made is None else made, device)

    def _call(self, node: OperatorNode) -> Any:
        call, device = node.spec.dali, self._device(node)
        assert isinstance(call, DaliCall)
        if node.spec is OPERATIONS.get(node.operator):
            return self._arithmetic(node, device)
        if node.spec is SUBSCRIPT:
            return self._subscript(node, device)
        inputs = [self._input(node, place, device) for place in range(len(node.inputs))]
        while inputs and inputs[-1] is None:
            inputs.pop()
        arguments = {**self._arguments(node, call), **call.constants}
        for name in () if call.drawn is None else [key[1] for key in self.handed if key[0] is node]:
            if isinstance(name, str):
                arguments[name] = self.handed[node, name, ""]
        function = versions.function(call.name or node.operator)
        assert function is not None
        return function(*inputs, device=device, **arguments)

    def _device(self, node: OperatorNode) -> str:
        """Say where DALI runs an operator: where it is wanted, if DALI has it there."""
        call = node.spec.dali
        assert isinstance(call, DaliCall)
        if not self.gpu or node.device == "cpu":
            return "cpu"
        return "mixed" if "mixed" in call.devices else "gpu" if "gpu" in call.devices else "cpu"

    def _input(self, node: OperatorNode, place: int, device: str) -> Any:
        value, call = node.inputs[place], node.spec.dali
        assert isinstance(call, DaliCall)
        if value is None:
            return None
        found = self._value(value)
        return self._moved(found, "gpu" if device == "gpu" and place not in call.cpu_inputs else "cpu")

    def _moved(self, value: Any, device: str) -> Any:
        if not hasattr(value, "device") or value.device == device:
            return value
        return value.gpu() if device == "gpu" else value.cpu()

    def _value(self, value: DataNode, dtype: str = "") -> Any:
        """Give a value in DALI: as it was handed, as a call gave it, or as a constant."""
        node = value.operator
        if node is None:
            return self._constant(value.expr.step.params["value"], value.expr.layout, dtype)
        if (node, value.index, dtype) in self.handed:
            return self.handed[node, value.index, dtype]
        found = self.values[node, value.index]
        return found if not dtype else self.dali.fn.cast(self._moved(found, "cpu"), dtype=self._dtype(dtype))

    def _constant(self, array: Any, layout: str, dtype: str) -> Any:
        kept = array.astype(dtype) if dtype else array.astype(np.float32) if array.dtype == np.float64 else array
        options = {"layout": layout} if layout else {}
        return self.dali.types.Constant(kept, dtype=self._dtype(kept.dtype.name), device="cpu", **options)

    def _dtype(self, name: str) -> Any:
        return self.dali.types.to_dali_type(np.dtype(name))

    def _arguments(self, node: OperatorNode, call: DaliCall) -> dict[str, Any]:
        """Give the arguments that are not left at what DALI takes, too, when they are left out."""
        chosen = {}
        for name, argument in node.spec.arguments.items():
            value = node.arguments[name]
            if name not in call.without and (isinstance(value, DataNode) or value != argument.default):
                chosen[name] = self._argument(value, argument)
        return chosen

    def _argument(self, value: Any, argument: Argument) -> Any:
        if isinstance(value, DataNode):
            return self._moved(self._value(value, argument_type(argument)), "cpu")
        if isinstance(value, enum.Enum):
            return getattr(self.dali.types, value.name)
        return value

    def _arithmetic(self, node: OperatorNode, device: str) -> Any:
        operands = [self._operand(value, device) for value in node.inputs if value is not None]
        function = PYTHON.get(node.operator) or getattr(self.dali.math, node.operator)
        return function(*operands)

    def _operand(self, value: DataNode, device: str) -> Any:
        if value.operator is None and value.expr.step.params["value"].ndim == 0:
            number = value.expr.step.params["value"]
            return self.dali.types.Constant(number.item(), dtype=self._dtype(number.dtype.name))
        return self._moved(self._value(value), device)

    def _subscript(self, node: OperatorNode, device: str) -> Any:
        data, *bounds = node.inputs
        assert data is not None
        fours = [bounds[place : place + 4] for place in range(0, len(bounds), 4)]
        return self._moved(self._value(data), device)[tuple(map(self._bound, fours))]

    def _bound(self, four: list[DataNode | None]) -> Any:
        index, *ends = (None if value is None else self._whole_number(value) for value in four)
        return slice(*ends) if index is None else index

    def _whole_number(self, value: DataNode) -> Any:
        if value.operator is None:
            return int(value.expr.step.params["value"])
        return self._moved(self._value(value), "cpu")


def _only_decoded(plan: SplitPlan, key: tuple[OperatorNode, int | str, str]) -> bool:
    """Tell whether a value is only decoded, so that nothing DALI gives shares its memory."""
    users = [
        node
        for node in plan.inside
        for value in (*node.inputs, *node.arguments.values())
        if isinstance(value, DataNode) and (value.operator, value.index) == key[:2]
    ]
    return bool(users) and all(node.operator.startswith("decoders.image") for node in users)
