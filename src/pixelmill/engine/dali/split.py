"""A graph cut into three: what runs natively before DALI, what DALI does, and what runs natively behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from pixelmill.engine.barriers import Data
from pixelmill.engine.compile import Plan, compile_graph
from pixelmill.engine.dali.placing import Place, drawn, placed, values_of
from pixelmill.engine.dali.scopes import Scope, scopes, widened
from pixelmill.graph.nodes import DataNode, OperatorNode, lowered_again
from pixelmill.log import log
from pixelmill.operators.dali import DaliCall
from pixelmill.operators.declare import Argument, Floats, Ints
from pixelmill.operators.decoders import decoded_shape
from pixelmill.steps.sources import BatchSource, Constant, ExternalInput
from pixelmill.steps.step import Expr, lowering
from pixelmill.types import DALIImageType

# An output of an operator.
Value = tuple[OperatorNode, int]

# What DALI gives: an output of an operator, on the CPU or on the GPU.
Given = tuple[OperatorNode, int, str]

# What is handed to DALI: an output of an operator, or an argument of a call that is found out natively; and its type.
Handed = tuple[OperatorNode, int | str, str]


@dataclass(frozen=True, eq=False)
class Crossing(BatchSource):
    """A value that is handed to the native program behind DALI.

    Attributes:
        inside: Whether DALI gives it, or the program before DALI.
        number: Its number among the outputs there.
    """

    inside: bool
    number: int


@dataclass(frozen=True, eq=False)
class SplitPlan(Plan):
    """A compiled graph, whole for the native engine, and cut for DALI.

    Attributes:
        front: What runs before.
        inside: The operators that DALI runs, in the order of their creation.
        scopes: The samples it runs each of them for.
        handed: What it gets, and the number of each among the outputs of `front`.
        given: What it gives.
        behind: What runs behind; None where nothing does.
        results: Where each output of the graph comes from: the name of the part, and the number of its output.
        devices: Where each output of the graph is wanted.
    """

    front: Plan
    inside: list[OperatorNode]
    scopes: dict[OperatorNode, Scope]
    handed: dict[Handed, int]
    given: list[Given]
    behind: Plan | None
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
    """Cut a graph for DALI; None where nothing of it is for DALI.

    Args:
        whole: The graph as the native engine runs it.
        nodes: Its operators, in the order of their creation.
        outputs: What it gives.
        seed: What random keys follow from.
        gpu: Whether outputs that are wanted on a GPU go there.
        has: Tells whether the DALI that is installed can do the work of an operator.
    """
    fit = {node for node in nodes if has(node)}
    places = placed(nodes, fit)
    found = scopes(places, outputs)
    while wrong := widened(found, places):
        fit -= wrong
        places = placed(nodes, fit)
        found = scopes(places, outputs)
    if not found:
        return None
    _note(places)
    return _Cut(places, found, outputs, gpu=gpu).plan(whole, seed)


def argument_type(argument: Argument) -> str:
    """Name the type that DALI wants of an argument that differs from sample to sample."""
    if argument.kind in (float, Floats):
        return "float32"
    return "int32" if argument.kind in (int, Ints) else "bool" if argument.kind is bool else ""


def _note(places: dict[OperatorNode, Place]) -> None:
    """Tell once for a pipeline what of it DALI does not do."""
    native = [
        f"{node.operator} ({place.value} DALI)"
        for node, place in places.items()
        if place is Place.BEHIND or (place is Place.BEFORE and node.spec.dali is None)
    ]
    if native:
        log.info("pixelmill: the DALI engine runs these operators natively: %s", ", ".join(dict.fromkeys(native)))


class _Cut:
    """Collects what crosses from one part to another."""

    def __init__(
        self,
        places: dict[OperatorNode, Place],
        inside: dict[OperatorNode, Scope],
        outputs: Sequence[DataNode],
        *,
        gpu: bool,
    ) -> None:
        self.places = places
        self.inside = inside
        self.gpu = gpu
        self.outputs = outputs
        self.front: dict[object, Expr] = {}
        self.numbers: dict[object, int] = {}
        self.handed: dict[Handed, int] = {}
        self.given: dict[Given, int] = {}
        self.behind: dict[OperatorNode, list[Expr]] = {}
        self.crossings: dict[Value, Expr] = {}

    def plan(self, whole: Plan, seed: int) -> SplitPlan:
        for node, place in self.places.items():
            if place is Place.BEHIND:
                self.behind[node] = lowered_again(node, self._expr_behind)
        last: list[Expr] = []
        results = [self._result(value, last) for value in self.outputs]
        self._drop_unneeded()
        for node in self.inside:
            self._hand(node)
        front = compile_graph(list(self.front.values()), seed=seed, whole=whole)
        behind = compile_graph(last, seed=seed, whole=whole) if last else None
        known = {entry.name: getattr(whole, entry.name) for entry in fields(Plan)}
        return SplitPlan(
            **known,
            front=front,
            inside=list(self.inside),
            scopes=self.inside,
            handed=self.handed,
            given=list(self.given),
            behind=behind,
            results=results,
            devices=[self._device(value) for value in self.outputs],
        )

    def _drop_unneeded(self) -> None:
        """Leave out what DALI would leave out, too: operators of which at most the shape is needed."""
        needed: set[OperatorNode] = set()
        todo = [node for node, _, _ in self.given if node in self.inside]
        while todo:
            node = todo.pop()
            if node not in needed:
                needed.add(node)
                makers = [value.operator for value in values_of(node)] + [maker for maker, *_ in self.inside[node]]
                todo += [maker for maker in makers if maker in self.inside]
        self.inside = {node: scope for node, scope in self.inside.items() if node in needed}

    def _hand(self, node: OperatorNode) -> None:
        """Note what a call of DALI gets from before."""
        for value in node.inputs:
            if value is not None:
                self._hand_value(value, "")
        call = node.spec.dali
        assert isinstance(call, DaliCall)
        for name, argument in node.arguments.items():
            if isinstance(argument, DataNode) and name not in call.without and not call.adds:
                self._hand_value(argument, argument_type(node.spec.arguments[name]))
        for maker, index, _, _ in self.inside[node]:
            if self.places[maker] is Place.BEFORE:
                self.handed[maker, index, ""] = self._before(maker, index)
        for name, expr in drawn(node).items():
            self.handed[node, name, ""] = self._wanted((node, name), expr)
        if node.operator.startswith("decoders.image"):
            self._check_header(node)

    def _hand_value(self, value: DataNode, dtype: str) -> None:
        if value.operator is not None and self.places[value.operator] is Place.BEFORE:
            self.handed[value.operator, value.index, dtype] = self._before(value.operator, value.index)

    def _check_header(self, node: OperatorNode) -> None:
        """Let damaged headers and pictures beyond the limits be found natively, as DALI stops at the first of them."""
        encoded = node.inputs[0]
        color, orientation = node.arguments["output_type"], node.arguments["adjust_orientation"]
        assert encoded is not None and isinstance(color, DALIImageType) and isinstance(orientation, bool)
        if encoded.operator is not None and self.places[encoded.operator] is Place.BEFORE:
            data = encoded.operator.exprs[encoded.index]
            with lowering(node):
                shape = decoded_shape(data, color, orientation)
            self._wanted((node, "header"), shape)

    def _before(self, node: OperatorNode, index: int) -> int:
        return self._wanted((node, index), node.exprs[index])

    def _wanted(self, key: object, expr: Expr) -> int:
        self.front.setdefault(key, expr)
        return self.numbers.setdefault(key, len(self.numbers))

    def _expr_behind(self, value: DataNode) -> Expr:
        """Give a value as the native program behind DALI sees it."""
        node = value.operator
        if node is None:
            return value.expr
        if node in self.behind:
            return self.behind[node][value.index]
        expr = node.exprs[value.index]
        if isinstance(expr.step, Constant):
            return expr
        key = node, value.index
        if key not in self.crossings:
            inside = self.places[node] is Place.INSIDE
            number = self._give(*key, "cpu") if inside else self._before(*key)
            self.crossings[key] = ExternalInput(source=Crossing(inside, number), output=0).value(expr.layout)
        return self.crossings[key]

    def _result(self, value: DataNode, last: list[Expr]) -> tuple[str, int]:
        node = value.operator
        if node is None:
            return "front", self._wanted(value, value.expr)
        if node in self.behind:
            last.append(self.behind[node][value.index])
            return "behind", len(last) - 1
        wanted = self._device(value)
        if self.places[node] is Place.INSIDE:
            return "inside", self._give(node, value.index, wanted)
        if wanted == "gpu":
            self._hand_value(value, "")
            return "inside", self._give(node, value.index, wanted)
        return "front", self._before(node, value.index)

    def _device(self, value: DataNode) -> str:
        return "gpu" if self.gpu and value.device == "gpu" else "cpu"

    def _give(self, node: OperatorNode, index: int, device: str) -> int:
        return self.given.setdefault((node, index, device), len(self.given))


def handed_array(data: Data, dtype: str) -> Data:
    """Bring a value into the type that DALI wants of it, and its elements side by side; copy what is not so."""
    if isinstance(data, np.ndarray):
        return np.asarray(data, dtype or None, order="C")
    return [np.asarray(sample, dtype or None, order="C") for sample in data]
