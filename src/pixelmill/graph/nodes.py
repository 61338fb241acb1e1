"""The nodes of a graph: operators with their arguments, and the values that connect them."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import ClassVar, NoReturn, TypeAlias

from pixelmill.node_operators import NodeOperators
from pixelmill.operators.declare import Operator
from pixelmill.steps.step import Expr

# Numbers nodes in the order of their creation, for all graphs of the process.
_numbers = itertools.count()


@dataclass(frozen=True, eq=False)
class OperatorNode:
    """An operator with its inputs and arguments.

    Attributes:
        spec: The declaration of the operator.
        inputs: Its inputs; None for optional ones that were left out.
        arguments: Checked constants, or nodes for arguments that differ from sample to sample.
        name: The name of this node.
        device: The device the user requested.
        seed: The user's own seed for its random numbers.
        line: The user's line that created it.
        branch: The conditions of the branches it was created in. Each is a node, a number, and whether samples take the
            branch if the node equals that number, or if it does not.
        same_draws_as: The first node of a call with lists of inputs; all nodes of the call draw the same numbers.
        number: Its place in the order of creation.
        exprs: The values it was lowered to, one for each output.
    """

    spec: Operator
    inputs: tuple[DataNode | None, ...]
    arguments: dict[str, object]
    name: str
    device: str
    seed: int | None
    line: str | None
    branch: Conditions = ()
    same_draws_as: OperatorNode | None = None
    number: int = field(default_factory=lambda: next(_numbers))
    exprs: list[Expr] = field(default_factory=list)

    @property
    def operator(self) -> str:
        """The name of the operator."""
        return self.spec.name

    def dependencies(self) -> list[DataNode]:
        """List the values it depends on: inputs, arguments, and the conditions of its branches."""
        conditions = (condition for condition, _, _ in self.branch)
        values = (*self.inputs, *self.arguments.values(), *conditions)
        return [value for value in values if isinstance(value, DataNode)]


class DataNode(NodeOperators):
    """A value in a graph: one output of an operator, a batch of samples when the pipeline runs.

    Attributes:
        operator: The operator that outputs it; None for constants.
        expr: The step output it was lowered to.
        index: Its number among the outputs of the operator.
        device: The device the user requested the value on.
        source: Set by callers that need to know where a node came from.
        within: The conditions of the part of a batch that it belongs to, if it was split by hand. Operators that use it
            run for this part alone.
        add_operator: Adds an operator to a graph, by name. Set by `pixelmill.graph.calls`, which imports this module.
    """

    __slots__ = ("device", "expr", "index", "operator", "source", "within")

    add_operator: ClassVar[Callable[..., DataNode]]

    def __init__(self, operator: OperatorNode | None, expr: Expr, index: int = 0) -> None:
        self.operator = operator
        self.expr = expr
        self.index = index
        self.device = "cpu"
        self.source: object = None
        self.within: Conditions = ()

    @property
    def name(self) -> str:
        """The name of the node, followed by `[index]` for all outputs but the first."""
        base = "constant" if self.operator is None else self.operator.name
        return base if self.index == 0 else f"{base}[{self.index}]"

    def gpu(self) -> DataNode:
        """Request the value on the GPU; on the native engine it stays in main memory."""
        return self._on("gpu")

    def cpu(self) -> DataNode:
        """Request the value in main memory."""
        return self._on("cpu")

    def with_expr(self, expr: Expr) -> DataNode:
        """Return a copy of the node that was lowered to something else."""
        copy = DataNode(self.operator, expr, self.index)
        copy.device = self.device
        copy.source = self.source
        copy.within = self.within
        return copy

    def with_condition(self, within: Conditions) -> DataNode:
        """Return a copy of the node that belongs to another part of the batch."""
        copy = self.with_expr(self.expr)
        copy.within = within
        return copy

    def _operate(self, operation: str, *operands: object, **arguments: object) -> DataNode:
        return DataNode.add_operator(operation, *operands, **arguments)

    def _on(self, device: str) -> DataNode:
        copy = self.with_expr(self.expr)
        copy.device = device
        return copy

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"{self.name!r} was used in conditional context, but its value is known only when the pipeline runs, so "
            "Python cannot branch on it here; with pipeline_def(enable_conditionals=True), `if`, `and`, `or` and `not` "
            "accept nodes, in functions that have their source and are not marked with do_not_convert"
        )

    def __repr__(self) -> str:
        return f"DataNode(name={self.name!r}, device={self.device!r})"


# Conditions of branches, outermost first: a node, a number, and whether samples take the branch if the node equals it.
Conditions: TypeAlias = tuple[tuple[DataNode, int, bool], ...]

# The conditions of the branches being built in this context, outermost first.
_branch: ContextVar[Conditions] = ContextVar("branch", default=())


@contextlib.contextmanager
def inside_branch(condition: DataNode, number: int, *, equal: bool) -> Iterator[None]:
    """Create operators for only those samples whose `condition` equals `number`, or differs from it."""
    token = _branch.set((*_branch.get(), (condition, number, equal)))
    try:
        yield
    finally:
        _branch.reset(token)


def current_branch() -> Conditions:
    """Return the conditions of the branches being built, outermost first."""
    return _branch.get()


def common_conditions(values: Sequence[object]) -> Conditions:
    """Return the conditions of the parts of a batch that values belong to, each once."""
    found: dict[tuple[int, int, bool], tuple[DataNode, int, bool]] = {}
    for value in values:
        for condition in value.within if isinstance(value, DataNode) else ():
            found.setdefault((id(condition[0]), *condition[1:]), condition)
    return tuple(found.values())


def next_number() -> int:
    """Return a number that no other node has, for names."""
    return next(_numbers)


def operators_of(outputs: Sequence[DataNode]) -> list[OperatorNode]:
    """List the operators of a graph in the order of their creation."""
    seen: dict[OperatorNode, None] = {}
    todo = [node.operator for node in outputs if node.operator is not None]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen[node] = None
        todo += [value.operator for value in node.dependencies() if value.operator is not None]
    return sorted(seen, key=lambda node: node.number)
