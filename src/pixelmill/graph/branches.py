"""Branches in graphs: `if`, `and`, `or`, `not` on nodes, and shorthands for random choices.

A graph is built once, so both branches of an `if` on a node are built; when the pipeline runs, each sample takes one of
them. `pixelmill.graph.conversion` rewrites the source of functions so that Python's own `if` does this.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from pixelmill import fn
from pixelmill.errors import ArgumentError, ArgumentTypeError
from pixelmill.graph.calls import call
from pixelmill.graph.nodes import DataNode, inside_branch
from pixelmill.operators import REGISTRY
from pixelmill.types import ArrayConstant, ScalarConstant

# What values of branches may be merged; lists, tuples and dicts of them are merged element by element.
MERGEABLE = (DataNode, ScalarConstant, ArrayConstant, bool, int, float, np.ndarray, np.generic)

Function = TypeVar("Function", bound=Callable[..., object])


class _Undefined:
    """Stands for a variable that has no value that a graph could use.

    Args:
        reason: Why it has none.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return "<no value>"


UNDEFINED = _Undefined(
    "is assigned in one branch only. Variables need to be initialized in every code path (both `if` branches) or "
    "before the if"
)


def do_not_convert(function: Function) -> Function:
    """Mark a function to be called as it is from a graph with conditionals."""
    function.__pixelmill_plain__ = True  # type: ignore[attr-defined]
    return function


# Branches return what the user's functions return: nodes, or nested lists, tuples and dicts of them. So the functions
# below return Any, as `a if c else b` does.


def merge(condition: DataNode, taken: object, otherwise: object) -> Any:
    """Select one of two values for each sample; in lists, tuples and dicts element by element."""
    return _merged("_branches.merge", condition, (taken, otherwise))


def _merged(operator: str, condition: DataNode, values: Sequence[Any]) -> Any:
    """Merge the values of branches, element by element if they are containers of the same structure."""
    first = values[0]
    if all(value is first for value in values):
        return first
    for value in values:
        if isinstance(value, _Undefined):
            return value
    if all(isinstance(value, (list, tuple)) and len(value) == len(first) for value in values):
        return type(first)(_merged(operator, condition, parts) for parts in zip(*values, strict=True))
    if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
        return {key: _merged(operator, condition, [value[key] for value in values]) for key in first}
    if not all(isinstance(value, MERGEABLE) for value in values):
        kinds = " and ".join(repr(type(value).__name__) for value in values)
        return _Undefined(
            f"is different in the branches, {kinds}. The values need to have the same nesting structure in every code "
            "path, of nodes, numbers and arrays"
        )
    return call(REGISTRY[operator], [condition, *values], {})


def cond(
    condition: object,
    taken: Callable[[], object],
    otherwise: Callable[[], object],
    places: Callable[[], Sequence[Place]] = lambda: (),
) -> Any:
    """Evaluate `taken() if condition else otherwise()`; if the condition is a node, for each sample.

    Args:
        condition: A node, or any value.
        taken: Returns the value if the condition is true.
        otherwise: Returns the value if it is false.
        places: Returns the attributes and elements that either of them may assign; they are merged too.
    """
    if not isinstance(condition, DataNode):
        return taken() if condition else otherwise()
    kept = places()
    before = [place.load() for place in kept]
    with inside_branch(condition, 0, equal=False):
        first = taken()
    after = [place.load() for place in kept]
    for place, old in zip(kept, before, strict=True):
        place.store(old)
    with inside_branch(condition, 0, equal=True):
        second = otherwise()
    for place, one in zip(kept, after, strict=True):
        place.store(value(merge(condition, one, place.load()), place.text))
    return merge(condition, first, second)


def both(first: object, second: Callable[[], object]) -> object:
    """Evaluate `first and second()`."""
    return cond(first, second, lambda: False) if isinstance(first, DataNode) else first and second()


def either(first: object, second: Callable[[], object]) -> object:
    """Evaluate `first or second()`."""
    return cond(first, lambda: True, second) if isinstance(first, DataNode) else first or second()


def negated(value: object) -> object:
    """Evaluate `not value`."""
    return merge(value, False, True) if isinstance(value, DataNode) else not value


@dataclass(frozen=True)
class Place:
    """An attribute or an element of an object, which branches may assign.

    Attributes:
        owner: The object.
        key: The name of the attribute, or the index of the element.
        text: Its source, for messages.
    """

    owner: Any
    key: Any
    text: str

    def load(self) -> object:
        """Return the value, or UNDEFINED if it has none yet."""
        raise NotImplementedError

    def store(self, value: object) -> None:
        """Set the value; UNDEFINED removes it."""
        raise NotImplementedError


class Attribute(Place):
    """An attribute of an object."""

    def load(self) -> object:
        return getattr(self.owner, self.key, UNDEFINED)

    def store(self, value: object) -> None:
        if not isinstance(value, _Undefined):
            setattr(self.owner, self.key, value)
        elif hasattr(self.owner, self.key):
            delattr(self.owner, self.key)


class Subscript(Place):
    """An element of a list or dict."""

    def load(self) -> object:
        try:
            return self.owner[self.key]
        except LookupError:
            return UNDEFINED

    def store(self, value: object) -> None:
        if not isinstance(value, _Undefined):
            self.owner[self.key] = value
        elif not isinstance(self.load(), _Undefined):
            del self.owner[self.key]


def load(read: Callable[[], object]) -> object:
    """Return the value of a variable, or UNDEFINED if it has none yet."""
    try:
        return read()
    except NameError:
        return UNDEFINED


def value(found: object, name: str) -> object:
    """Return the value of a variable; raise ArgumentError if only some branches assign it."""
    if isinstance(found, _Undefined):
        raise ArgumentError(f"if: the {name if name == 'return value' else f'variable {name!r}'} {found.reason}")
    return found


def known(condition: object, reason: str) -> object:
    """Return the condition of an `if` that was not rewritten; raise ArgumentTypeError if it is a node."""
    if isinstance(condition, DataNode):
        raise ArgumentTypeError(
            f"if: the value of {condition.name!r} is known only when the pipeline runs, and {reason}"
        )
    return condition


def choose(number: DataNode, branches: Sequence[Callable[[], object]]) -> Any:
    """Return for each sample the result of the branch with this number."""
    if not branches:
        raise ArgumentError("choose: needs at least one branch")
    values = []
    for place, branch in enumerate(branches):
        with inside_branch(number, place, equal=True):
            values.append(branch())
    return _merged("_branches.choose", number, values)


def apply_with_probability(
    probability: float | DataNode, function: Callable[..., object], *inputs: object, seed: int | None = None
) -> Any:
    """Apply a function of nodes to a random subset of the samples, and return the others unchanged.

    Args:
        probability: The probability that the function is applied to a sample.
        function: Takes the inputs and returns as many values.
        inputs: Nodes.
        seed: A seed for the draw.
    """
    applies = fn.random.coin_flip(probability=probability, seed=seed)
    return cond(applies, lambda: function(*inputs), lambda: inputs[0] if len(inputs) == 1 else inputs)


def one_of(
    functions: Sequence[Callable[..., object]],
    *inputs: object,
    p: Sequence[float] | None = None,
    seed: int | None = None,
) -> Any:
    """Apply one of several functions of nodes to each sample, selected at random.

    Args:
        functions: Each takes the inputs and returns values of the same kind.
        inputs: Nodes.
        p: The probability of each function; equal by default.
        seed: A seed for the draw.
    """
    number = fn.random.choice(len(functions), p=p, seed=seed)
    return choose(number, [functools.partial(function, *inputs) for function in functions])
