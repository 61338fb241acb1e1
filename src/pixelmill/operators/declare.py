"""Operator declarations: one typed function with a docstring each.

The signature defines names, types, defaults and limits; the docstring is the documentation; the body lowers the
operator to steps of the core. It runs once when a graph is compiled, never per sample. `fn`, `ops`, their stubs and
docs/operators.md are derived from it.
"""

from __future__ import annotations

import enum
import inspect
import itertools
import os
import re
import types as python_types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, Literal, SupportsFloat, SupportsInt, TypeVar, cast

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError, ArgumentTypeError
from pixelmill.operators.dali import EXACT, SAME, OnDali, Tolerance
from pixelmill.options.limits import Range as Range  # re-exported: part of a declaration, like the names below
from pixelmill.steps.shapes import Scalar
from pixelmill.steps.sources import Constant, constant
from pixelmill.steps.step import Expr

T = TypeVar("T")
Floats = list[float]
Ints = list[int]
Strings = list[str]
Tensor = Expr

# Converts a constant to a declared type; raises TypeError or ValueError if it does not fit.
Convert = Callable[[object], object]

# What the body of an operator returns: its outputs, optionally named.
Lowered = Expr | tuple[Expr, ...] | dict[str, Expr]
Body = TypeVar("Body", bound=Callable[..., Lowered])

# Marks an argument that may be a node, with one value per sample. The body receives an Expr either way, or None.
PER_SAMPLE = "per sample"
PerSample = Annotated[T, PER_SAMPLE]

# Marks a per-sample argument that may be an array for each sample, although a constant is a single number.
SHAPED = "shaped"
PerSampleArray = Annotated[T, PER_SAMPLE, SHAPED]

# Marks an argument that the body receives unchecked.
Anything = Annotated[Any, "anything"]


@dataclass(frozen=True)
class Argument:
    """A keyword argument of an operator."""

    name: str
    kind: object
    per_sample: bool
    shaped: bool
    default: object
    required: bool
    limits: Range | None
    doc: str

    def check(self, operator: str, value: object) -> object:
        """Convert a constant to the declared type; raises ArgumentError with the allowed values if it does not fit."""
        if value is None:
            return None
        try:
            checked = _converters(self.kind)(value)
        except (TypeError, ValueError):
            raise ArgumentTypeError(f"{operator}: {self.name} must be {describe(self.kind)}, got {value!r}") from None
        numbers = cast("list[float]", checked if isinstance(checked, list) else [checked])
        if self.limits is not None and not all(number in self.limits for number in numbers):
            raise ArgumentError(f"{operator}: {self.name} must be {self.limits}, got {value!r}")
        return checked

    def lowered(self, value: object) -> Expr | None:
        """Return a checked per-sample argument as an expression of the program."""
        if value is None:
            return None
        if isinstance(value, Expr):
            # A node may hold a number as an array with one element; `Scalar` checks that there is just one.
            single = not self.shaped and self.kind not in (Ints, Floats) and not isinstance(value.step, Constant)
            return Scalar(number=value, name=self.name).value() if single else value
        return constant(value, np.int64 if self.kind in (int, Ints, bool) else np.float64)


@dataclass(frozen=True)
class Operator:
    """A declared operator, with all derived facts."""

    name: str
    body: Callable[..., Lowered]
    inputs: tuple[str, ...]
    optional_inputs: int
    many_inputs: bool
    input_docs: Mapping[str, str]
    arguments: Mapping[str, Argument]
    summary: str
    details: str
    draws: bool
    outputs: int | None
    renamed: Mapping[str, str]
    ignored: frozenset[str]
    aliases: tuple[str, ...]
    class_name: str
    leading: tuple[str, ...] = ()
    dali: OnDali = SAME
    tolerance: Tolerance = EXACT
    required_inputs: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "required_inputs", len(self.inputs) - self.optional_inputs)

    def signature(self) -> inspect.Signature:
        """Return the signature of its function: inputs by position, arguments by keyword."""
        kinds = inspect.Parameter
        if self.many_inputs:
            parameters = [kinds(self.inputs[0], kinds.VAR_POSITIONAL)]
        else:
            absent = [kinds.empty] * self.required_inputs + [None] * self.optional_inputs
            parameters = [
                kinds(name, kinds.POSITIONAL_ONLY, default=default)
                for name, default in zip(self.inputs, absent, strict=True)
            ]
        led = [] if self.inputs else [self.arguments[name] for name in self.leading]
        while any(last.required and not first.required for first, last in itertools.pairwise(led)):
            led.pop()  # Python allows no parameter without a default after one with a default
        for argument in [*led, *(argument for argument in self.arguments.values() if argument not in led)]:
            default = kinds.empty if argument.required else argument.default
            kind = kinds.POSITIONAL_OR_KEYWORD if argument in led else kinds.KEYWORD_ONLY
            parameters.append(kinds(argument.name, kind, default=default))
        options = [kinds(name, kinds.KEYWORD_ONLY, default=None) for name in ("device", "name", "seed")]
        # Positional parameters must come before keyword-only ones; the sort is stable within each kind.
        return inspect.Signature(sorted([*parameters, *options], key=lambda parameter: parameter.kind))


class Registry(Mapping[str, Operator]):
    """Operators by name. A declaration is parsed on first use: programs use few operators, and start-up stays fast."""

    def __init__(self) -> None:
        self._declared: dict[str, Callable[[], Operator]] = {}
        self._read: dict[str, Operator] = {}

    def add(self, name: str, read: Callable[[], Operator]) -> None:
        """Add a declaration, parsed by `read` on first use."""
        self._declared[name] = read

    def __getitem__(self, name: str) -> Operator:
        if name not in self._read:
            self._read[name] = self._declared[name]()
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._declared)

    def __len__(self) -> int:
        return len(self._declared)


# Names that begin with an underscore are internal.
REGISTRY = Registry()


def public_names() -> list[str]:
    """Return the names of the operators that `fn` and `ops` offer."""
    return [name for name in REGISTRY if not name.startswith("_")]


def public_operators() -> dict[str, Operator]:
    """Return the operators that `fn` and `ops` offer, by name."""
    return {name: REGISTRY[name] for name in public_names()}


# Memory and hardware hints that every DALI operator accepts; they have no effect here.
COMMON_IGNORED = frozenset({"preserve", "bytes_per_sample_hint"})


def operator(
    name: str,
    *,
    draws: bool = False,
    outputs: int | None = 1,
    renamed: Mapping[str, str] | None = None,
    ignored: Sequence[str] = (),
    aliases: Sequence[str] = (),
    class_name: str | None = None,
    leading: Sequence[str] = (),
    dali: OnDali = SAME,
    tolerance: Tolerance = EXACT,
) -> Callable[[Body], Body]:
    """Declare an operator.

    Args:
        name: Its name below `fn`, such as `decoders.image`.
        draws: Whether it draws random numbers and therefore takes a `seed`.
        outputs: The number of outputs; None if that depends on the arguments.
        renamed: Legacy names of arguments, mapped to their current names.
        ignored: Arguments that are accepted without effect.
        aliases: Legacy names of the operator, in the spelling of `ops`.
        class_name: The name of its class in `ops`, if it cannot be derived from `name`.
        leading: Arguments that the class also takes by position, and so does the function if it has no inputs.
        dali: The equivalent DALI call; by default the one of the same name, None if there is none.
        tolerance: How far its results may differ from DALI's.
    """

    def read(body: Body) -> Operator:
        summary, details, docs = _docstring(name, body)
        hints = typing.get_type_hints(body, include_extras=True)
        inputs, optional, many, arguments = [], 0, False, {}
        for parameter in inspect.signature(body).parameters.values():
            doc = docs.pop(parameter.name, None)
            if doc is None:
                raise LookupError(f"operator {name}: the docstring does not document {parameter.name}")
            if parameter.kind is parameter.KEYWORD_ONLY:
                arguments[parameter.name] = _argument(parameter, hints[parameter.name], doc)
                continue
            many |= parameter.kind is parameter.VAR_POSITIONAL
            inputs.append((parameter.name, doc))
            optional += parameter.default is not parameter.empty
        if docs:
            raise LookupError(f"operator {name}: the docstring documents {', '.join(docs)}, which is not a parameter")
        last = name.rsplit(".", 1)[-1]
        return Operator(
            name=name,
            body=body,
            inputs=tuple(input_name for input_name, _ in inputs),
            optional_inputs=optional,
            many_inputs=many,
            input_docs=dict(inputs),
            arguments=arguments,
            summary=summary,
            details=details,
            draws=draws,
            outputs=outputs,
            renamed=dict(renamed or {}),
            ignored=COMMON_IGNORED | frozenset(ignored),
            aliases=tuple(aliases),
            class_name=class_name or "".join(word.capitalize() for word in last.split("_")),
            leading=tuple(leading),
            dali=dali,
            tolerance=tolerance,
        )

    def declare(body: Body) -> Body:
        REGISTRY.add(name, partial(read, body))
        return body

    return declare


def _argument(parameter: inspect.Parameter, hint: object, doc: str) -> Argument:
    hint = _without_none(hint)
    marks: Sequence[object] = ()
    if typing.get_origin(hint) is Annotated:
        hint, *marks = typing.get_args(hint)
    required = parameter.default is parameter.empty
    return Argument(
        parameter.name,
        kind=hint,
        per_sample=PER_SAMPLE in marks,
        shaped=SHAPED in marks,
        default=None if required else parameter.default,
        required=required,
        limits=next((mark for mark in marks if isinstance(mark, Range)), None),
        doc=doc,
    )


def _without_none(hint: object) -> object:
    if typing.get_origin(hint) in (typing.Union, python_types.UnionType):
        (hint,) = (choice for choice in typing.get_args(hint) if choice is not type(None))
    return hint


def _docstring(name: str, body: Body) -> tuple[str, str, dict[str, str]]:
    text = inspect.getdoc(body)
    if text is None:
        raise LookupError(f"operator {name} has no docstring")
    head, _, tail = text.partition("\nArgs:\n")
    summary, _, details = head.strip().partition("\n\n")
    docs: dict[str, str] = {}
    for line in tail.splitlines():
        start = re.match(r"    (\w+): (.*)", line)
        if start:
            docs[start[1]] = start[2].strip()
        elif line.strip():
            docs[next(reversed(docs))] += " " + line.strip()
    return " ".join(summary.split()), details.strip(), docs


def _whole(value: object) -> int:
    number = int(cast("SupportsInt", value))
    if number != value:
        raise ValueError(value)
    return number


def _real(value: object) -> float:
    if isinstance(value, str):
        raise TypeError(value)
    number = float(cast("SupportsFloat", value))
    if np.isnan(number):
        raise ValueError(value)
    return number


def _flag(value: object) -> bool:
    # Not `bool(value)`, which would accept a misplaced string or list.
    if value not in (0, 1):
        raise ValueError(value)
    return bool(value)


def _text(value: object) -> str:
    if isinstance(value, os.PathLike):
        value = value.__fspath__()
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _list_of(convert: Convert) -> Convert:
    def converted(value: object) -> list[object]:
        if isinstance(value, (str, os.PathLike)) or np.ndim(cast("npt.ArrayLike", value)) == 0:
            return [convert(value)]
        items = cast("npt.ArrayLike", value)
        # Matrices of warps may be passed nested; arguments are flat lists, as in DALI.
        listed = np.ravel(items) if np.ndim(items) > 1 else cast("Iterable[object]", value)
        return [convert(item) for item in listed]

    return converted


def _converters(kind: object) -> Convert:
    if typing.get_origin(kind) is Literal:
        return lambda value: _one_of(typing.get_args(kind), value)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind
    table: dict[object, Convert] = {
        int: _whole,
        float: _real,
        bool: _flag,
        str: _text,
        Floats: _list_of(_real),
        Ints: _list_of(_whole),
        Strings: _list_of(_text),
        Any: lambda value: value,
    }
    return next(convert for known, convert in table.items() if known == kind)


def _one_of(choices: tuple[object, ...], value: object) -> object:
    if value not in choices:
        raise ValueError(value)
    return value


def describe(kind: object) -> str:
    """Describe the values that an argument of this type takes, for messages."""
    if typing.get_origin(kind) is Literal:
        return "one of " + ", ".join(map(repr, typing.get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return f"a {kind.__name__} of pixelmill.types"
    words = [
        (int, "an integer"),
        (float, "a number"),
        (bool, "True or False"),
        (str, "a string"),
        (Floats, "a number or a list of numbers"),
        (Ints, "an integer or a list of integers"),
        (Strings, "a path or a list of paths"),
        (Any, "anything"),
    ]
    return next(text for known, text in words if known == kind)
