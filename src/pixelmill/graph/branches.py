"""Branches in graphs: `if`, `and`, `or`, `not` on nodes, and shorthands for random choices.

A graph is built once, so both branches of an `if` on a node are built; when the pipeline runs, each sample takes one of
them. `convert` rewrites the source of a function so that Python's own `if` does this.
"""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys
import sysconfig
import textwrap
from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any, TypeVar, cast

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.graph.branch_source import HELPERS, Rewriter
from pixelmill.graph.calls import call
from pixelmill.graph.nodes import DataNode, inside_branch
from pixelmill.graph.source_lines import PACKAGE
from pixelmill.operators import REGISTRY

# Functions of installed packages are not converted, including those of the environment that a virtual one is based on.
LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib")} | {PACKAGE})
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
# The name of a converted function inside of its own code. With its original name, a function that calls itself would
# find the inner function instead of the global one, which may be decorated.
CONVERTED = "__pixelmill_converted"

Function = TypeVar("Function", bound=Callable[..., object])
Value = TypeVar("Value")


class _Undefined:
    """Stands for a variable that has no value on one path through the program."""

    def __repr__(self) -> str:
        return "<no value>"


UNDEFINED = _Undefined()


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
    if any(isinstance(value, _Undefined) for value in values):
        return UNDEFINED
    if all(isinstance(value, (list, tuple)) and len(value) == len(first) for value in values):
        return type(first)(_merged(operator, condition, parts) for parts in zip(*values, strict=True))
    if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
        return {key: _merged(operator, condition, [value[key] for value in values]) for key in first}
    return call(REGISTRY[operator], [condition, *values], {})


def cond(condition: object, taken: Callable[[], object], otherwise: Callable[[], object]) -> Any:
    """Evaluate `taken() if condition else otherwise()`; if the condition is a node, for each sample."""
    if not isinstance(condition, DataNode):
        return taken() if condition else otherwise()
    with inside_branch(condition, 0, equal=False):
        first = taken()
    with inside_branch(condition, 0, equal=True):
        second = otherwise()
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


def load(read: Callable[[], object]) -> object:
    """Return the value of a variable, or UNDEFINED if it has none yet."""
    try:
        return read()
    except NameError:
        return UNDEFINED


def value(found: object, name: str) -> object:
    """Return the value of a variable; raise ArgumentError if only some branches assign it."""
    if isinstance(found, _Undefined):
        raise ArgumentError(
            f"if: the variable {name!r} is assigned in one branch only; assign it in the other branch or before the if"
        )
    return found


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


def convert(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function whose `if`, `and`, `or` and `not` also work on nodes, as do those of the functions it calls."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise ArgumentError(
            f"enable_conditionals: the source of {function.__name__} is not available; "
            "use pixelmill.graph.branches.cond instead of if"
        ) from None
    definition = ast.parse(source).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise ArgumentError(f"enable_conditionals: {function.__name__} is not a plain function")
    definition.decorator_list = []
    ast.increment_lineno(definition, function.__code__.co_firstlineno - 1)
    return _compiled(Rewriter().function(definition), function)


def _compiled(definition: ast.FunctionDef, function: Callable[..., object]) -> Callable[..., object]:
    """Compile a rewritten function with the globals, the closure and the defaults of the original one.

    A function definition alone cannot refer to the closure of another function. So the rewritten function is compiled
    inside of a factory whose arguments have the names of the free variables, which makes them free variables of the
    inner function. Only the code object of that one is used, with the original cells; the factory never runs.
    """
    outside = {HELPERS: CellType(sys.modules[__name__])}
    outside |= dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    definition.name = CONVERTED
    arguments = ast.arguments([], [ast.arg(name) for name in outside], None, [], [], None, [])
    factory = ast.FunctionDef("factory", arguments, [definition], [])
    module = ast.fix_missing_locations(ast.Module([factory], []))
    compiled = compile(module, function.__code__.co_filename, "exec")
    inside = next(constant for constant in compiled.co_consts if inspect.iscode(constant))
    code = next(c for c in inside.co_consts if inspect.iscode(c) and c.co_name == CONVERTED)
    closure = tuple(outside[name] for name in code.co_freevars)
    rewritten = FunctionType(
        code.replace(co_name=function.__name__), function.__globals__, function.__name__, function.__defaults__, closure
    )
    rewritten.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(rewritten, function)


@functools.cache
def _converted(function: FunctionType) -> Callable[..., object]:
    path = function.__code__.co_filename
    installed = path.startswith(LIBRARIES) or any(folder in path for folder in INSTALLED)
    if installed or hasattr(function, "__pixelmill_plain__"):
        return function
    try:
        return convert(function)
    except ArgumentError:  # no source: the function still works, as long as its conditions are not nodes
        return function


def converted(function: Value) -> Value:
    """Convert a function that a converted function calls, if it is the user's own."""
    return cast("Value", _converted(function)) if isinstance(function, FunctionType) else function
