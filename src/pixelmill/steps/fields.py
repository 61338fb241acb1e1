"""The fields of a declared step: their names, their types, and the checks of both."""

from __future__ import annotations

import dataclasses
import enum
import sys
import types as python_types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal

import numpy as np

# Fields that every step has, and that do not change what it computes.
COMMON = frozenset({"origin", "branch"})

Check = Callable[[object], bool]

_DECLARATIONS: dict[type, Declaration] = {}


@dataclass(frozen=True, eq=False)
class Field:
    """An input or a parameter of a kind of step.

    Attributes:
        name: Its name.
        hint: The type of the value, or of each element if `many`.
        optional: Whether it, or an element of it, may be None.
        many: Whether it is a tuple.
        default: Returns the value of a field that is left out; None if it is required.
        fits: Whether a value, or an element, that is not None has the right type.
    """

    name: str
    hint: object
    optional: bool
    many: bool
    default: Callable[[], object] | None
    fits: Check = field(repr=False, compare=False)

    def checked(self, kind: str, value: object) -> object:
        """Return the value as the step keeps it, or raise a TypeError that names the step and the field."""
        if self.many:
            if isinstance(value, tuple) and all(map(self._element, value)):
                return tuple(map(self._kept, value))
        elif self._element(value):
            return self._kept(value)
        raise TypeError(f"{kind}: {self.name} must be {self.words()}, got {value!r}")

    def taken(self, kind: str, given: Mapping[str, object]) -> object:
        """Return the given value of the field, or its default."""
        if self.name in given:
            return given[self.name]
        if self.default is None:
            raise TypeError(f"{kind}: {self.name} is missing")
        return self.default()

    def words(self) -> str:
        """Describe the values that it accepts."""
        one = describe(self.hint) + (" or None" if self.optional else "")
        return f"a tuple whose elements are each {one}" if self.many else one

    def _element(self, value: object) -> bool:
        return self.optional if value is None else self.fits(value)

    def _kept(self, value: object) -> object:
        return float(value) if self.hint is float and isinstance(value, int) else value


@dataclass(frozen=True, eq=False)
class Declaration:
    """All fields of a kind of step."""

    inputs: tuple[Field, ...]
    parameters: tuple[Field, ...]
    fields: tuple[Field, ...]

    def checked(self, kind: str, given: Mapping[str, object]) -> dict[str, object]:
        """Return a value for every field; raise a TypeError for unknown, missing or mistyped fields."""
        values: dict[str, object] = {}
        for entry in self.fields:
            value = entry.taken(kind, given)
            values[entry.name] = value if entry.name in COMMON else entry.checked(kind, value)
        if len(values) < len(given.keys() | values.keys()):
            unknown = next(name for name in given if name not in values)
            import difflib  # late: for mistakes alone

            close = difflib.get_close_matches(unknown, values, n=1)
            hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(values.keys() - COMMON) or 'none'}"
            raise TypeError(f"{kind}: there is no field {unknown!r}; {hint}")
        return values


def declaration_of(kind: type, is_input: Callable[[object], bool]) -> Declaration:
    """Read the annotations of a kind of step, once."""
    if kind not in _DECLARATIONS:
        _DECLARATIONS[kind] = _read(kind, is_input)
    return _DECLARATIONS[kind]


def _read(kind: type, is_input: Callable[[object], bool]) -> Declaration:
    hints: dict[str, object] = {}
    for base in reversed(kind.__mro__[:-1]):
        if "__dataclass_fields__" not in vars(base):
            # The constructor is that of Step, for all kinds.
            dataclass(init=False, repr=False, eq=False, kw_only=True)(base)
        hints |= _hints(base)
    fields = [_field(entry.name, hints[entry.name], _default(entry)) for entry in dataclasses.fields(kind)]
    own = [entry for entry in fields if entry.name not in COMMON]
    inputs = tuple(entry for entry in own if is_input(entry.hint))
    if any(entry.many for entry in inputs[:-1]):
        raise LookupError(f"{kind.__name__}: only the last input can be a tuple")
    return Declaration(inputs, tuple(entry for entry in own if entry not in inputs), tuple(fields))


def _hints(base: type) -> dict[str, object]:
    """Evaluate the annotations of a class. Many fields have the same annotation, so each is evaluated once."""
    found: dict[str, object] = {}
    for name, text in vars(base).get("__annotations__", {}).items():
        if not text.startswith("ClassVar"):
            found[name] = _evaluated(base.__module__, text)
    return found


@lru_cache(None)
def _evaluated(module: str, text: str) -> object:
    holder = python_types.SimpleNamespace(__annotations__={"it": text})
    return typing.get_type_hints(holder, vars(sys.modules[module]))["it"]


def _default(entry: dataclasses.Field[object]) -> Callable[[], object] | None:
    if entry.default_factory is not dataclasses.MISSING:
        return entry.default_factory
    return None if entry.default is dataclasses.MISSING else partial(_same, entry.default)


def _same(value: object) -> object:
    return value


def _field(name: str, hint: object, default: Callable[[], object] | None) -> Field:
    many = typing.get_origin(hint) is tuple
    if many:
        hint = typing.get_args(hint)[0]
    optional = typing.get_origin(hint) in (typing.Union, python_types.UnionType)
    if optional:
        (hint,) = (choice for choice in typing.get_args(hint) if choice is not type(None))
    return Field(name, hint, optional, many, default, _check(hint))


@lru_cache(None)
def _check(hint: object) -> Check:
    """Return the test for a type. A bool is not accepted as a number, though it is an int in Python."""
    if typing.get_origin(hint) is Literal:
        return lambda value: isinstance(value, str) and value in typing.get_args(hint)
    if hint is int:
        return lambda value: type(value) is int
    if hint is float:
        return lambda value: isinstance(value, (int, float)) and not isinstance(value, (bool, enum.Enum))
    plain = typing.get_origin(hint) or hint
    if not isinstance(plain, type):
        raise LookupError(f"a field of a step cannot be {hint!r}")
    return partial(_is, plain)


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind)


def describe(hint: object) -> str:
    """Describe the values of a type in words."""
    if typing.get_origin(hint) is Literal:
        return "one of " + ", ".join(map(repr, typing.get_args(hint)))
    words: dict[object, str] = {
        bool: "True or False",
        int: "a whole number",
        float: "a number",
        str: "a string",
        np.ndarray: "an array",
    }
    plain = typing.get_origin(hint) or hint
    return words.get(plain) or (f"a {plain.__name__}" if isinstance(plain, type) else str(hint))
