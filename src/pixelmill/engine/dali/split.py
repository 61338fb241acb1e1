"""Split a graph into three parts: a native program before DALI, DALI's part, and a native program after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from pixelmill.engine.barriers import Data
from pixelmill.engine.compile import Plan, compile_graph
from pixelmill.engine.dali.scopes import Scope, scopes, widened
from pixelmill.engine.dali.stages import Stage, assign_stages, native_arguments, values_of
from pixelmill.graph.lowering import lower_node_again
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.log import log
from pixelmill.operators.dali import DaliCall
from pixelmill.operators.declare import Argument, Floats, Ints
from pixelmill.operators.decoders import decoded_shape
from pixelmill.steps.sources import BatchSource, Constant, ExternalInput
from pixelmill.steps.step import Expr, lowering
from pixelmill.types import DALIImageType

# An operator, and the number of its output.
Value = tuple[OperatorNode, int]

# An output of DALI: an operator, the number of its output, and the device.
DaliOutput = tuple[OperatorNode, int, str]

# An input of DALI: an operator, the number of its output or the name of an argument that is computed natively, and the
# dtype that DALI expects ("" for any).
DaliInput = tuple[OperatorNode, int | str, str]


@dataclass(frozen=True, eq=False)
class Crossing(BatchSource):
    """An input of the native program after DALI.

    Attributes:
        inside: Whether it is an output of DALI, or of the program before DALI.
        number: The number of that output.
    """

    inside: bool
    number: int


@dataclass(frozen=True, eq=False)
class SplitPlan(Plan):
    """A compiled graph: whole for the native engine, and split for DALI.

    Attributes:
        before: The native program before DALI.
        inside: The operators that DALI runs, in the order of their creation.
        scopes: For which samples DALI runs each of them.
        dali_inputs: The inputs of DALI, and the number of each among the outputs of `before`.
        dali_outputs: The outputs of DALI.
        after: The native program after DALI; None if there is none.
        results: The part that each output of the graph comes from, and the number of the output there.
        devices: The device that each output of the graph is requested on.
    """

    before: Plan
    inside: list[OperatorNode]
    scopes: dict[OperatorNode, Scope]
    dali_inputs: dict[DaliInput, int]
    dali_outputs: list[DaliOutput]
    after: Plan | None
    results: list[tuple[str, int]]
    devices: list[str]


def split(
    whole: Plan,
    nodes: Sequence[OperatorNode],
    outputs: Sequence[DataNode],
    *,
    seed: int,
    gpu: bool,
    has: Callable[[OperatorNode], bool],
) -> SplitPlan | None:
    """Split a graph for DALI; return None if DALI can run none of it.

    Args:
        whole: The graph as the native engine runs it.
        nodes: Its operators, in the order of their creation.
        outputs: Its outputs.
        seed: The seed that random keys are derived from.
        gpu: Whether outputs that are requested on a GPU are delivered there.
        has: Whether the installed DALI can run an operator.
    """
    fit = {node for node in nodes if has(node)}
    stages = assign_stages(nodes, fit)
    found = scopes(stages, outputs)
    # Moving an operator out of DALI can move its users as well, which changes the scopes of others. Each round takes at
    # least one operator from DALI, so this ends.
    while wrong := widened(found, stages):
        fit -= wrong
        stages = assign_stages(nodes, fit)
        found = scopes(stages, outputs)
    if not found:
        return None
    _log_native_operators(stages)
    return _Splitter(stages, found, outputs, gpu=gpu).plan(whole, seed)


def argument_type(argument: Argument) -> str:
    """Return the dtype that DALI expects for an argument that differs from sample to sample; "" if it accepts none."""
    if argument.kind in (float, Floats):
        return "float32"
    return "int32" if argument.kind in (int, Ints) else "bool" if argument.kind is bool else ""


def _log_native_operators(stages: dict[OperatorNode, Stage]) -> None:
    """Log which operators of a pipeline DALI does not run."""
    native = [
        f"{node.operator} ({stage.value} DALI)"
        for node, stage in stages.items()
        if stage is Stage.AFTER or (stage is Stage.BEFORE and node.spec.dali is None)
    ]
    if native:
        log.info("pixelmill: the DALI engine runs these operators natively: %s", ", ".join(dict.fromkeys(native)))


class _Splitter:
    """Collects the values that cross from one part to another.

    Attributes:
        stages: Where each operator runs.
        inside: The operators that DALI runs, with their scopes.
        outputs: The outputs of the graph.
        gpu: Whether outputs that are requested on a GPU are delivered there.
        before: The outputs of the program before DALI.
        numbers: The number of each of these outputs.
        dali_inputs: The inputs of DALI, and their numbers among the outputs of the program before.
        dali_outputs: The outputs of DALI, and their numbers.
        after: The operators after DALI, lowered again to work on DALI's outputs.
        crossings: The inputs of the program after DALI.
    """

    def __init__(
        self,
        stages: dict[OperatorNode, Stage],
        inside: dict[OperatorNode, Scope],
        outputs: Sequence[DataNode],
        *,
        gpu: bool,
    ) -> None:
        self.stages = stages
        self.inside = inside
        self.gpu = gpu
        self.outputs = outputs
        self.before: dict[object, Expr] = {}
        self.numbers: dict[object, int] = {}
        self.dali_inputs: dict[DaliInput, int] = {}
        self.dali_outputs: dict[DaliOutput, int] = {}
        self.after: dict[OperatorNode, list[Expr]] = {}
        self.crossings: dict[Value, Expr] = {}

    def plan(self, whole: Plan, seed: int) -> SplitPlan:
        """Return the three parts. The outputs decide what DALI computes, and that decides what runs before it."""
        for node, stage in self.stages.items():
            if stage is Stage.AFTER:
                self.after[node] = lower_node_again(node, self._expr_after)
        last: list[Expr] = []
        results = [self._result(value, last) for value in self.outputs]
        self._drop_unused()
        for node in self.inside:
            self._add_inputs_of(node)
        before = compile_graph(list(self.before.values()), seed=seed, whole=whole)
        after = compile_graph(last, seed=seed, whole=whole) if last else None
        known = {entry.name: getattr(whole, entry.name) for entry in fields(Plan)}
        return SplitPlan(
            **known,
            before=before,
            inside=list(self.inside),
            scopes=self.inside,
            dali_inputs=self.dali_inputs,
            dali_outputs=list(self.dali_outputs),
            after=after,
            results=results,
            devices=[self._device(value) for value in self.outputs],
        )

    def _drop_unused(self) -> None:
        """Drop operators whose pixels are not used, but at most their shape. DALI would drop them as well."""
        needed: set[OperatorNode] = set()
        todo = [node for node, _, _ in self.dali_outputs if node in self.inside]
        while todo:
            node = todo.pop()
            if node not in needed:
                needed.add(node)
                makers = [value.operator for value in values_of(node)] + [maker for maker, *_ in self.inside[node]]
                todo += [maker for maker in makers if maker in self.inside]
        self.inside = {node: scope for node, scope in self.inside.items() if node in needed}

    def _add_inputs_of(self, node: OperatorNode) -> None:
        """Add the inputs that a DALI call needs from the program before."""
        for value in node.inputs:
            if value is not None:
                self._add_input(value, "")
        call = node.spec.dali
        assert isinstance(call, DaliCall)
        for name, argument in node.arguments.items():
            if isinstance(argument, DataNode) and name not in call.without and not call.adds:
                self._add_input(argument, argument_type(node.spec.arguments[name]))
        for maker, index, _, _ in self.inside[node]:
            if self.stages[maker] is Stage.BEFORE:
                self.dali_inputs[maker, index, ""] = self._output_before(maker, index)
        for name, expr in native_arguments(node).items():
            self.dali_inputs[node, name, ""] = self._add_before((node, name), expr)
        if node.operator.startswith("decoders.image"):
            self._check_header(node)

    def _add_input(self, value: DataNode, dtype: str) -> None:
        if value.operator is not None and self.stages[value.operator] is Stage.BEFORE:
            self.dali_inputs[value.operator, value.index, dtype] = self._output_before(value.operator, value.index)

    def _check_header(self, node: OperatorNode) -> None:
        """Check image headers natively before DALI decodes the images.

        DALI gives up a whole batch at the first damaged header, and has no limit for the size of an image. The header
        becomes an output of the program before, so that this program reports damaged and oversized images by sample.
        """
        encoded = node.inputs[0]
        color, orientation = node.arguments["output_type"], node.arguments["adjust_orientation"]
        assert encoded is not None and isinstance(color, DALIImageType) and isinstance(orientation, bool)
        if encoded.operator is not None and self.stages[encoded.operator] is Stage.BEFORE:
            data = encoded.operator.exprs[encoded.index]
            with lowering(node):
                shape = decoded_shape(data, color, orientation)
            self._add_before((node, "header"), shape)

    def _output_before(self, node: OperatorNode, index: int) -> int:
        return self._add_before((node, index), node.exprs[index])

    def _add_before(self, key: object, expr: Expr) -> int:
        """Make a value an output of the program before DALI, once; return its number."""
        self.before.setdefault(key, expr)
        return self.numbers.setdefault(key, len(self.numbers))

    def _expr_after(self, value: DataNode) -> Expr:
        """Return a value as the native program after DALI sees it."""
        node = value.operator
        if node is None:
            return value.expr
        if node in self.after:
            return self.after[node][value.index]
        expr = node.exprs[value.index]
        if isinstance(expr.step, Constant):
            return expr
        key = node, value.index
        if key not in self.crossings:
            inside = self.stages[node] is Stage.INSIDE
            number = self._dali_output(*key, "cpu") if inside else self._output_before(*key)
            self.crossings[key] = ExternalInput(source=Crossing(inside, number), output=0).value(expr.layout)
        return self.crossings[key]

    def _result(self, value: DataNode, last: list[Expr]) -> tuple[str, int]:
        """Return the part that an output of the graph comes from, and its number there; `last` are those of after."""
        node = value.operator
        if node is None:
            return "before", self._add_before(value, value.expr)
        if node in self.after:
            last.append(self.after[node][value.index])
            return "after", len(last) - 1
        device = self._device(value)
        if self.stages[node] is Stage.INSIDE:
            return "inside", self._dali_output(node, value.index, device)
        if device == "gpu":  # DALI copies it there
            self._add_input(value, "")
            return "inside", self._dali_output(node, value.index, device)
        return "before", self._output_before(node, value.index)

    def _device(self, value: DataNode) -> str:
        return "gpu" if self.gpu and value.device == "gpu" else "cpu"

    def _dali_output(self, node: OperatorNode, index: int, device: str) -> int:
        return self.dali_outputs.setdefault((node, index, device), len(self.dali_outputs))


def as_dali_input(data: Data, dtype: str) -> Data:
    """Return a value as contiguous arrays of the dtype that DALI expects; copy only what is neither."""
    if isinstance(data, np.ndarray):
        return np.asarray(data, dtype or None, order="C")
    return [np.asarray(sample, dtype or None, order="C") for sample in data]
