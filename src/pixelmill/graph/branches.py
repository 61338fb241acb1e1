"""Branches in graphs: `if`, `and`, `or`, `not` on nodes, and short forms for random choices.

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
from typing import Any

from pixelmill import fn
from pixelmill.errors import ArgumentError
from pixelmill.graph.branch_source import HELPERS, Rewriter
from pixelmill.graph.calls import call
from pixelmill.graph.nodes import DataNode, inside_branch
from pixelmill.graph.source_lines import PACKAGE
from pixelmill.operators import REGISTRY

# Functions of installed packages are not the user's, and are left alone: also those of another environment that this
# one stands on.
LIBRARIES = tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib")} | {PACKAGE})
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
CONVERTED = "__pixelmill_converted"  # inside, so that a function that calls itself finds itself where it did before


class _Undefined:
    """Stands for a variable that has no value on one way through the program."""

    def __repr__(self) -> str:
        return "<no value>"


UNDEFINED = _Undefined()


def do_not_convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """Leave a function as it is when a graph with conditionals calls it."""
    function.__pixelmill_plain__ = True  # type: ignore[attr-defined]
    return function


def merge(condition: DataNode, taken: Any, otherwise: Any) -> Any:
    """Take one of two values for each sample; lists, tuples and dicts part by part."""
    return _joined("_branches.merge", condition, (taken, otherwise))


def _joined(operator: str, condition: DataNode, values: Sequence[Any]) -> Any:
    """Join the values of branches part by part, where they have parts."""
    first = values[0]
    if all(value is first for value in values):
        return first
    if any(isinstance(value, _Undefined) for value in values):
        return UNDEFINED
    if all(isinstance(value, (list, tuple)) and len(value) == len(first) for value in values):
        return type(first)(_joined(operator, condition, parts) for parts in zip(*values, strict=True))
    if all(isinstance(value, dict) and value.keys() == first.keys() for value in values):
        return {key: _joined(operator, condition, [value[key] for value in values]) for key in first}
    return call(REGISTRY[operator], [condition, *values], {})


def cond(condition: Any, taken: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """Do what `if condition: taken() else: otherwise()` would; on a node, choose for each sample."""
    if not isinstance(condition, DataNode):
        return taken() if condition else otherwise()
    with inside_branch(condition, 0, equal=False):
        first = taken()
    with inside_branch(condition, 0, equal=True):
        second = otherwise()
    return merge(condition, first, second)


def both(first: Any, second: Callable[[], Any]) -> Any:
    """Do what `first and second()` would."""
    return cond(first, second, lambda: False) if isinstance(first, DataNode) else first and second()


def either(first: Any, second: Callable[[], Any]) -> Any:
    """Do what `first or second()` would."""
    return cond(first, lambda: True, second) if isinstance(first, DataNode) else first or second()


def negated(value: Any) -> Any:
    """Do what `not value` would."""
    return merge(value, False, True) if isinstance(value, DataNode) else not value


def load(read: Callable[[], Any]) -> Any:
    """Read a variable that may not have a value yet."""
    try:
        return read()
    except NameError:
        return UNDEFINED


def value(found: Any, name: str) -> Any:
    """Give the value of a variable, which must have one whatever branches were taken."""
    if isinstance(found, _Undefined):
        raise ArgumentError(
            f"if: the variable {name!r} gets a value in one branch only; give it one in the other, or before"
        )
    return found


def choose(number: DataNode, choices: Sequence[Callable[[], Any]]) -> Any:
    """Take for each sample the value that the choice with this number gives."""
    if not choices:
        raise ArgumentError("choose: there is nothing to choose from")
    values = []
    for place, choice in enumerate(choices):
        with inside_branch(number, place, equal=True):
            values.append(choice())
    return _joined("_branches.choose", number, values)


def apply_with_probability(
    probability: float | DataNode, function: Callable[..., Any], *inputs: Any, seed: int | None = None
) -> Any:
    """Apply a function of nodes to a random part of the samples, and leave the others alone.

    Args:
        probability: How likely a sample is changed.
        function: Takes the inputs and gives as many values.
        inputs: Nodes.
        seed: A seed for the choice.
    """
    chosen = fn.random.coin_flip(probability=probability, seed=seed)
    return cond(chosen, lambda: function(*inputs), lambda: inputs[0] if len(inputs) == 1 else inputs)


def one_of(
    functions: Sequence[Callable[..., Any]], *inputs: Any, p: Sequence[float] | None = None, seed: int | None = None
) -> Any:
    """Apply one of several functions of nodes to each sample, chosen at random.

    Args:
        functions: Each takes the inputs and gives values of the same kind.
        inputs: Nodes.
        p: How likely each function is; equally, when left out.
        seed: A seed for the choice.
    """
    number = fn.random.choice(len(functions), p=p, seed=seed)
    return choose(number, [functools.partial(function, *inputs) for function in functions])


def convert(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function whose `if`, `and`, `or` and `not` also work on nodes, and so in the functions it calls."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise ArgumentError(
            f"enable_conditionals needs the source of {function.__name__}, which cannot be found; "
            "use pixelmill.graph.branches.cond in it instead"
        ) from None
    definition = ast.parse(source).body[0]
    if not isinstance(definition, ast.FunctionDef):
        raise ArgumentError(f"enable_conditionals: {function.__name__} is not a plain function")
    definition.decorator_list = []
    ast.increment_lineno(definition, function.__code__.co_firstlineno - 1)
    return _compiled(Rewriter().function(definition), function)


def _compiled(definition: ast.FunctionDef, function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a rewritten function in the place of the old one: with its globals, its closure and its defaults."""
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
    made = FunctionType(
        code.replace(co_name=function.__name__), function.__globals__, function.__name__, function.__defaults__, closure
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(made, function)


@functools.cache
def _converted(function: FunctionType) -> Callable[..., Any]:
    path = function.__code__.co_filename
    installed = path.startswith(LIBRARIES) or any(folder in path for folder in INSTALLED)
    if installed or hasattr(function, "__pixelmill_plain__"):
        return function
    try:
        return convert(function)
    except ArgumentError:  # no source: it can still be called, if only with conditions that are known
        return function


def converted(function: Any) -> Any:
    """Convert what a converted function calls, where that is the user's own."""
    return _converted(function) if isinstance(function, FunctionType) else function
