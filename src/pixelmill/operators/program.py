"""What operators are lowered to: steps of the native core, joined by the values they pass on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


class Origin(Protocol):
    """The operator of the graph that a step belongs to."""

    @property
    def operator(self) -> str: ...

    @property
    def line(self) -> str | None: ...


@dataclass(frozen=True, eq=False)
class Step:
    """One instruction: a step of the core by its name, or `constant`, `input`, `callback`, `batch_extents`."""

    kind: str
    inputs: tuple[Expr | None, ...]
    params: Mapping[str, Any]
    outputs: int
    origin: Origin | None


@dataclass(frozen=True, eq=False)
class Expr:
    """One output of a step, and the names of its axes."""

    step: Step
    index: int = 0
    layout: str = ""


# When a step has to run: where this value is this number, or where it is not.
Guard = tuple[Expr, int, bool]

# Steps that look at the whole batch; inside of a branch, at the samples that take it.
OF_BATCHES = frozenset(
    {"callback", "batch_extents", "batch_single", "permute_batch", "batch_permutation", "batch_moments"}
)

_origin: ContextVar[Origin | None] = ContextVar("origin", default=None)
_branch: ContextVar[tuple[Guard, ...]] = ContextVar("branch", default=())


@contextlib.contextmanager
def lowering(origin: Origin, branch: tuple[Guard, ...] = ()) -> Iterator[None]:
    """Make `origin` the owner of all steps made inside, and `branch` the conditions that its samples fulfil."""
    tokens = _origin.set(origin), _branch.set(branch)
    try:
        yield
    finally:
        _origin.reset(tokens[0])
        _branch.reset(tokens[1])


def operator_key() -> Origin:
    """Give the operator being lowered; the compiler puts its random key in this place."""
    origin = _origin.get()
    if origin is None:
        raise LookupError("no operator is being lowered")
    return origin


def step(kind: str, *inputs: Any, gives: str = "", **params: Any) -> Expr:
    """Add a step with one output, of the layout `gives`; an input is an Expr, or None where it is left out."""
    return steps(kind, *inputs, layouts=(gives,), **params)[0]


def steps(kind: str, *inputs: Any, layouts: tuple[str, ...], **params: Any) -> tuple[Expr, ...]:
    """Add a step with one output for each of `layouts`."""
    branch = _branch.get()
    if branch and kind in OF_BATCHES and any(value is not None and value.step.kind != "constant" for value in inputs):
        inputs = (*inputs, *(condition for condition, _, _ in branch))
        params["branch"] = tuple((number, equal) for _, number, equal in branch)
    made = Step(kind, inputs, params, len(layouts), _origin.get())
    return tuple(Expr(made, index, layout) for index, layout in enumerate(layouts))


def split_inputs(made: Step) -> tuple[tuple[Expr | None, ...], tuple[Guard, ...]]:
    """Give what a step works on, and the conditions of the branch it was made in."""
    branch = made.params.get("branch", ())
    first = len(made.inputs) - len(branch)
    pairs = zip(made.inputs[first:], branch, strict=True)
    return made.inputs[:first], tuple((value, number, equal) for value, (number, equal) in pairs if value is not None)


def callback(
    function: Callable[..., Any],
    *inputs: Any,
    layouts: tuple[str, ...],
    batch: bool = True,
    whole: bool = True,
    exact: bool = True,
) -> tuple[Expr, ...]:
    """Add a call of a Python function, with one output for each of `layouts`.

    Args:
        function: What is called, with arrays, or with lists of them.
        inputs: What it is called with.
        layouts: Names of the axes of the outputs.
        batch: Call it once for a batch, with lists, instead of for every sample.
        whole: Call it for all samples of a batch, or of a branch, also where later branches need only some of them.
        exact: Refuse outputs with another number of axes than their layouts name.
    """
    names = ",".join(layouts if exact else [""] * len(layouts))
    return steps("callback", *inputs, layouts=layouts, function=function, batch=batch, whole=whole, names=names)


def constant(value: Any, dtype: Any = None, layout: str = "") -> Expr:
    """Add a value that is the same for every sample."""
    return step("constant", gives=layout, value=np.array(value, dtype, order="C"))


def rebuilt(expr: Expr, *inputs: Expr | None, **params: Any) -> Expr:
    """Give `expr` from a step like its own, with other inputs and with `params` laid over its own."""
    old = expr.step
    return Expr(Step(old.kind, inputs, {**old.params, **params}, old.outputs, old.origin), expr.index, expr.layout)
