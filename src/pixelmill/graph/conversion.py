"""Convert functions so that Python's `if`, `and`, `or` and `not` also work on nodes."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys
import textwrap
from collections.abc import Callable
from types import CellType, CodeType, FunctionType, MethodType
from typing import TypeVar, cast

from pixelmill.errors import ArgumentError
from pixelmill.graph.branch_source import HELPERS, Rewriter

# Rewritten functions find their helpers in this module, so these are exported.
from pixelmill.graph.branches import Attribute as Attribute
from pixelmill.graph.branches import Subscript as Subscript
from pixelmill.graph.branches import both as both
from pixelmill.graph.branches import cond as cond
from pixelmill.graph.branches import either as either
from pixelmill.graph.branches import known as known
from pixelmill.graph.branches import load as load
from pixelmill.graph.branches import negated as negated
from pixelmill.graph.branches import value as value
from pixelmill.graph.source_lines import PACKAGE

# Functions of Python are not converted, and of installed packages only those that use pixelmill.
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
# The name of a converted function inside of its own code. With its original name, a function that calls itself would
# find the inner function instead of the global one, which may be decorated.
CONVERTED = "_pixelmill_converted"

Value = TypeVar("Value")


def convert(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function whose `if`, `and`, `or` and `not` also work on nodes, as do those of the functions it calls.

    Args:
        function: A function, a lambda, a bound method, a callable object or a `functools.partial` of one of these.
    """
    if isinstance(function, functools.partial):
        return functools.partial(convert(function.func), *function.args, **function.keywords)
    if isinstance(function, MethodType):
        return MethodType(convert(function.__func__), function.__self__)
    if not isinstance(function, FunctionType):
        return MethodType(convert(type(function).__call__), function)
    definition = _definition(function)
    definition.decorator_list = []
    return _compiled(Rewriter().function(definition), function)


def _definition(function: FunctionType) -> ast.FunctionDef:
    """Parse the source of a function; a lambda becomes a function that returns its expression."""
    # Of the code and not of the function: the source of a wrapper is that of the function it wraps.
    code = function.__code__
    try:
        if code.co_name == "<lambda>":
            return _lambda_definition(code)
        definition = ast.parse(textwrap.dedent(inspect.getsource(code))).body[0]
    except (OSError, TypeError, SyntaxError, StopIteration):
        raise ArgumentError(
            f"enable_conditionals: the source of {function.__name__} is not available; "
            "use pixelmill.graph.branches.cond instead of if"
        ) from None
    if not isinstance(definition, ast.FunctionDef):
        raise ArgumentError(f"enable_conditionals: {function.__name__} is not a plain function")
    ast.increment_lineno(definition, code.co_firstlineno - 1)
    return definition


def _lambda_definition(code: CodeType) -> ast.FunctionDef:
    """Find a lambda in the source of its module by the position of its expression."""
    lines, _ = inspect.findsource(code)
    places = {position[:3:2] for position in code.co_positions()}  # line and column where each instruction starts
    found = next(
        node
        for node in ast.walk(ast.parse("".join(lines)))
        if isinstance(node, ast.Lambda)
        and node.lineno == code.co_firstlineno
        and [argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        == list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
        and (node.body.lineno, node.body.col_offset) in places
    )
    return ast.copy_location(
        ast.FunctionDef(CONVERTED, found.args, [ast.copy_location(ast.Return(found.body), found.body)], []), found
    )


def _compiled(definition: ast.FunctionDef, function: FunctionType) -> Callable[..., object]:
    """Compile a rewritten function with the globals, the closure and the defaults of the original one.

    A function definition alone cannot refer to the closure of another function. So the rewritten function is compiled
    inside of a factory whose arguments have the names of the free variables, which makes them free variables of the
    inner function. A method is compiled inside of a class of the same name, because Python mangles names such as
    `self.__size` by it. Only the code object of the inner function is used, with the original cells; the factory never
    runs.
    """
    outside = {HELPERS: CellType(sys.modules[__name__])}
    outside |= dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    definition.name = CONVERTED
    arguments = ast.arguments([], [ast.arg(name) for name in outside], None, [], [], None, [])
    body: list[ast.stmt] = [definition]
    *_, owner, _ = (None, None, *function.__code__.co_qualname.split("."))
    if owner is not None and owner != "<locals>":
        # Without `global`, the function would find this class in the factory instead of its own one.
        scope: list[ast.stmt] = [] if owner in outside else [ast.Global([owner])]
        body = [*scope, ast.ClassDef(owner, [], [], body, [])]
    factory = ast.FunctionDef("factory", arguments, body, [])
    module = ast.fix_missing_locations(ast.Module([factory], []))
    code = _code_named(CONVERTED, compile(module, function.__code__.co_filename, "exec"))
    closure = tuple(outside[name] for name in code.co_freevars)
    rewritten = FunctionType(
        code.replace(co_name=function.__name__), function.__globals__, function.__name__, function.__defaults__, closure
    )
    rewritten.__kwdefaults__ = function.__kwdefaults__
    return functools.update_wrapper(rewritten, function)


def _code_named(name: str, outer: CodeType) -> CodeType:
    """Return the code with this name that another one contains, at any depth."""
    todo = [outer]
    for code in todo:
        if code.co_name == name:
            return code
        todo += [constant for constant in code.co_consts if inspect.iscode(constant)]
    raise LookupError(name)


@functools.cache
def _converted(function: FunctionType) -> Callable[..., object]:
    rewritten = HELPERS in function.__code__.co_freevars  # defined inside of a function that was converted
    if rewritten or hasattr(function, "__pixelmill_plain__") or _belongs_to_library(function):
        return function
    try:
        return convert(function)
    except ArgumentError:  # no source: the function still works, as long as its conditions are not nodes
        return function


def _belongs_to_library(function: FunctionType) -> bool:
    """Whether a function belongs to Python, to pixelmill, or to an installed module that does not use pixelmill."""
    path = function.__code__.co_filename
    if any(folder in path for folder in INSTALLED):
        modules = (
            getattr(value, "__package__", "") for value in function.__globals__.values() if inspect.ismodule(value)
        )
        return path.startswith(PACKAGE) or not any(str(name).partition(".")[0] == "pixelmill" for name in modules)
    return path.startswith(_libraries())


@functools.cache
def _libraries() -> tuple[str, ...]:
    """Return the folders of Python, those of the environment that a virtual one is based on included, and our own."""
    import sysconfig  # late: programs without conditions start without it

    return tuple({sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib")} | {PACKAGE})


def converted(function: Value) -> Value:
    """Convert a function, method, callable object or partial that a converted function calls, if it is the user's."""
    return cast("Value", _converted_callable(function))


def _converted_callable(function: object) -> object:
    if isinstance(function, FunctionType):
        return _converted(function)
    if isinstance(function, MethodType):
        inner = _converted_callable(function.__func__)
        return function if inner is function.__func__ else MethodType(cast("FunctionType", inner), function.__self__)
    if isinstance(function, functools.partial):
        inner = _converted_callable(function.func)
        return functools.partial(cast("FunctionType", inner), *function.args, **function.keywords)
    call = getattr(type(function), "__call__", None)  # noqa: B004 - the method itself is converted
    if isinstance(function, type) or not isinstance(call, FunctionType):
        return function
    inner = _converted(call)
    return function if inner is call else MethodType(inner, function)
