"""Annotations for option fields, and what follows from them: checks, signatures, documentation and plan values."""

from __future__ import annotations

import functools
import inspect
import os
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import MISSING, dataclass, fields, replace
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, ParamSpec, Protocol, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as type_hints

from pixelmill.errors import ArgumentError, suggestion
from pixelmill.options.limits import Range as Range  # re-exported: an annotation like the others

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


@dataclass(frozen=True)
class Choices:
    """The allowed texts, where the type is not a `Literal` that lists them."""

    values: tuple[str, ...]


@dataclass(frozen=True)
class Help:
    """What an option does, in one text for `--help` and for the docstring.

    Attributes:
        text: Whole sentences.
        default: What happens without the option, where its default value does not say it.
        python: A further sentence for the docstring, about values that the command line does not have.
    """

    text: str
    default: str | None = None
    python: str = ""


@dataclass(frozen=True, init=False)
class Cli:
    """How the command line spells an option, where that does not follow from its name and type.

    Attributes:
        names: The spellings; `--field-name` without any.
        metavar: The placeholder of the value in the help text.
        choices: The allowed texts, if the command line allows fewer than the Python function.
        checked: False leaves the check of the value to the Python function.
        limits: The range that the command line allows, if it differs.
        default: The default of the command line, if it differs.
        preset: A preset may set the value: the command line passes the option only if it is given.
    """

    names: tuple[str, ...]
    metavar: str | None
    choices: tuple[str, ...]
    checked: bool
    limits: Range | None
    default: object
    preset: bool

    def __init__(
        self,
        *names: str,
        metavar: str | None = None,
        choices: tuple[str, ...] = (),
        checked: bool = True,
        limits: Range | None = None,
        default: object = MISSING,
        preset: bool = False,
    ) -> None:
        values = {"names": names, "metavar": metavar, "choices": choices, "checked": checked}
        for name, value in {**values, "limits": limits, "default": default, "preset": preset}.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Parsed:
    """How a text of the command line becomes the value of an option.

    Attributes:
        parse: The function; ValueError says what is wrong with the text.
        name: The placeholder of the value in the help text.
    """

    parse: Callable[[str], object]
    name: str


@dataclass(frozen=True)
class PlanKey:
    """The key of an option in plans and manifests.

    Attributes:
        key: The key; None for an option that does not change what is written.
        if_set: Leave the option out of plans while it has its default, so that the hashes of older plans stay.
    """

    key: str | None
    if_set: bool = False


UNPLANNED = PlanKey(None)
PYTHON_ONLY = "python only"  # not on the command line
FOLDER = "folder"  # a path that must not be a file
PATH = "path"  # a text that may be a path


@dataclass(frozen=True)
class Option:
    """Everything that is known about one option."""

    name: str
    kind: Any
    optional: bool
    default: object
    positional: bool
    limits: Range | None
    choices: tuple[str, ...]
    help: Help
    cli: Cli
    parsed: Parsed | None
    plan_key: str | None
    plan_if_set: bool
    marks: frozenset[str]

    @property
    def is_path(self) -> bool:
        """Whether values are paths, or several paths."""
        return bool({FOLDER, PATH} & self.marks) or os.PathLike[str] in get_args(self.kind)

    def check(self, command: str, value: object) -> None:
        """Raise ArgumentError for a value that is not allowed."""
        if value is None and self.optional:
            return
        if self.choices and value not in self.choices:
            hint = suggestion(value, self.choices)
            raise ArgumentError(f"{command}: {self.name} must be one of {', '.join(self.choices)}, got {value!r}{hint}")
        if self.limits is None:
            return
        if not isinstance(value, (int, float)) or isinstance(value, bool) or value not in self.limits:
            raise ArgumentError(f"{command}: {self.name} must be {self.limits}, got {value!r}")


class OptionGroup(Protocol):
    """A frozen dataclass of options."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


class Declared(OptionGroup, Protocol):
    """The options of a whole command. `command` is what error messages begin with."""

    command: ClassVar[str]


G = TypeVar("G", bound=OptionGroup)
O = TypeVar("O", bound=Declared)  # noqa: E741 - the usual letter for options


@functools.cache
def options_of(declared: type[OptionGroup]) -> tuple[Option, ...]:
    """Return the options of a class: those that Python takes by position first."""
    hints = type_hints(declared, include_extras=True)
    found = [_option(item.name, hints[item.name], item.default, not item.kw_only) for item in fields(declared)]
    return tuple(sorted(found, key=lambda option: not option.positional))


def _option(name: str, hint: object, default: object, positional: bool) -> Option:
    hint, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    kind = _without_none(hint)
    literals = get_args(kind) if get_origin(kind) is Literal else ()
    listed = _only(marks, Choices)
    plan_key = _only(marks, PlanKey)
    return Option(
        name=name,
        kind=type(literals[0]) if literals else kind,
        optional=kind is not hint,
        default=default,
        positional=positional,
        limits=_only(marks, Range),
        choices=listed.values if listed else literals,
        help=_only(marks, Help) or Help(""),
        cli=_only(marks, Cli) or Cli(),
        parsed=_only(marks, Parsed),
        plan_key=plan_key.key if plan_key else name,
        plan_if_set=plan_key is not None and plan_key.if_set,
        marks=frozenset(mark for mark in marks if isinstance(mark, str)),
    )


def _without_none(hint: object) -> Any:
    """Return the type of `X | None` without None."""
    if get_origin(hint) in (Union, UnionType):
        others = [part for part in get_args(hint) if part is not NoneType]
        return others[0] if len(others) == 1 else hint
    return hint


def _only(marks: Iterable[object], kind: type[T]) -> T | None:
    return next((mark for mark in marks if isinstance(mark, kind)), None)


def check(options: Declared) -> None:
    """Raise ArgumentError for the first value that its declaration does not allow."""
    for option in options_of(type(options)):
        option.check(options.command, getattr(options, option.name))


def with_home(options: O) -> O:
    """Return options whose paths have the home folder in place of `~`."""
    changed = {}
    for option in options_of(type(options)):
        value = getattr(options, option.name)
        expanded = _with_home(value) if option.is_path else value
        if expanded != value:
            changed[option.name] = expanded
    return replace(options, **changed) if changed else options


def _with_home(value: object) -> object:
    if isinstance(value, (str, os.PathLike)) and os.fspath(value).startswith("~"):
        return os.path.expanduser(value)  # noqa: PTH111 - addresses stay as they are
    return type(value)(map(_with_home, value)) if isinstance(value, (list, tuple)) else value


def pick(group: type[G], options: OptionGroup, **changes: object) -> G:
    """Return the options of one group out of those of a command that includes it."""
    values = {item.name: getattr(options, item.name) for item in fields(group)}
    return group(**{**values, **changes})


def values_of(group: type[OptionGroup], options: OptionGroup) -> dict[str, Any]:
    """Return the values of one group by name, as keyword arguments."""
    return {item.name: getattr(options, item.name) for item in fields(group)}


def plan_values(options: OptionGroup) -> dict[str, Any]:
    """Return the values that decide what is written, by their keys in the plan."""
    return {
        option.plan_key: getattr(options, option.name)
        for option in options_of(type(options))
        if option.plan_key is not None and not (option.plan_if_set and getattr(options, option.name) == option.default)
    }


def takes(declared: Callable[P, O]) -> Callable[[Callable[[O], R]], Callable[P, R]]:
    """Turn a function of an options object into one that takes the options as arguments.

    The new function has the signature of the class, checks the values, and documents each option in its docstring.
    """

    def decorate(function: Callable[[O], R]) -> Callable[P, R]:
        signature = _signature(function, declared)

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:  # the constructor would name the class, which callers do not know
                raise TypeError(f"{function.__name__}() {error}") from None
            options = with_home(declared(*args, **kwargs))
            check(options)
            return function(options)

        call.__dict__["__signature__"] = signature  # where `help` and `inspect` look for it
        call.__doc__ = _documented(function.__doc__ or "", declared)
        return call

    return decorate


def _signature(function: Callable[..., object], declared: Callable[..., object]) -> inspect.Signature:
    """Return the signature of the class with the result of the function; the types are shown without annotations."""
    found = inspect.signature(declared)
    hints = type_hints(declared)
    shown = [item.replace(annotation=hints[item.name]) for item in found.parameters.values()]
    return found.replace(parameters=shown, return_annotation=inspect.signature(function).return_annotation)


def _documented(docstring: str, declared: Any) -> str:
    """Insert the section `Args` before the section `Returns`, or at the end."""
    text = inspect.cleandoc(docstring)
    head, returns, tail = text.partition("\nReturns:")
    lines = [_entry(option) for option in options_of(declared)]
    return "\n".join([head.rstrip(), "", "Args:", *lines, *([returns + tail] if returns else [])])


def _entry(option: Option) -> str:
    default = f" Default: {option.help.default}." if option.help.default else ""
    text = f"{option.name}: {option.help.text}{default} {option.help.python}".rstrip()
    return textwrap.fill(text, 116, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False)
