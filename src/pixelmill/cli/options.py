"""Command-line options from declared ones: each field of an options class becomes a click option."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pixelmill.errors import suggestion
from pixelmill.options.declaration import (
    FOLDER,
    PYTHON_ONLY,
    Option,
    OptionGroup,
    Parsed,
    Range,
    options_of,
)

Command = TypeVar("Command", bound=Callable[..., object])

# What click passes to a command: the result of the option's type, which click does not annotate.
OptionValue = Any

if TYPE_CHECKING:
    ParamType = click.ParamType[OptionValue]
    ChoiceType = click.Choice[str]
else:  # click before 8.2 has no brackets here
    ParamType = click.ParamType
    ChoiceType = click.Choice

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")


def with_options(*declared: type[OptionGroup], without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Add the options of these classes to a command, which gets them as keyword arguments.

    Args:
        declared: The classes; the options appear in their order.
        without: Fields that the command takes in another way, such as a positional argument.
    """

    def decorate(command: Command) -> Command:
        found = [option for group in declared for option in options_of(group)]
        found.sort(key=lambda option: option.default is not MISSING or option.cli.preset)  # required ones first
        for option in reversed(found):
            if PYTHON_ONLY not in option.marks and option.name not in without:
                command = _click_option(option)(command)
        return command

    return decorate


def _click_option(option: Option) -> Callable[[Command], Command]:
    names = option.cli.names or (f"--{option.name.replace('_', '-')}",)
    default = option.default if option.cli.default is MISSING else option.cli.default
    attributes: dict[str, OptionValue] = {"help": _help(option), "metavar": option.cli.metavar}
    if option.kind is bool and "/" not in names[0]:
        attributes["is_flag"] = True
    elif option.kind is not bool:
        attributes["type"] = _type(option)
    if option.cli.preset:
        attributes["default"] = None
    elif default is MISSING:
        attributes["required"] = True
    elif default not in (None, ()):
        shown = option.kind is not bool or "/" in names[0]
        attributes |= {"default": default, "show_default": shown}
    return click.option(*names, option.name, **attributes)


def _help(option: Option) -> str:
    default = option.help.default
    if default is None and option.cli.preset and option.kind is not bool:
        default = f"{option.default}"
    return f"{option.help.text}  [default: {default}]" if default else option.help.text


def _type(option: Option) -> ParamType | type:
    if option.parsed is not None:
        return _ParsedType(option.parsed)
    choices = option.cli.choices or option.choices
    if choices:
        return SuggestingChoice(choices)
    if FOLDER in option.marks:
        return click.Path(file_okay=False)
    if option.kind not in (int, float):
        return str
    limits = option.cli.limits or option.limits
    return NumberType(option.kind, limits if option.cli.checked else None)


class NumberType(ParamType):
    """A number within limits, which messages say in words."""

    def __init__(self, kind: type[int] | type[float], limits: Range | None = None) -> None:
        self.name = "N" if kind is int else "X"
        self._kind = kind
        self._limits = limits

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the placeholder of the value in the help text."""
        return self.name

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | float:
        """Return the number, or fail with what is wrong with it."""
        try:
            number = self._kind(str(value))
        except ValueError:
            what = "whole number" if self._kind is int else "number"
            self.fail(f"{value!r} is not a {what}", param, ctx)
        if self._limits is not None and number not in self._limits:
            self.fail(f"must be {self._limits}, got {value}", param, ctx)
        return number


class SuggestingChoice(ChoiceType):
    """A choice that knows what a misspelled value was meant to be."""

    def convert(self, value: OptionValue, param: click.Parameter | None, ctx: click.Context | None) -> OptionValue:
        """Return the value, or fail with a similar one."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            listed = ", ".join(map(repr, self.choices))
            self.fail(f"{value!r} is not one of {listed}{suggestion(value, self.choices)}", param, ctx)


class _ParsedType(ParamType):
    """A value that a function of `pixelmill.options.values` reads."""

    def __init__(self, parsed: Parsed) -> None:
        self.name = parsed.name
        self._parse = parsed.parse

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
