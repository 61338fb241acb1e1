"""Kinds of values that options take."""

from __future__ import annotations

import re
from typing import Any

import click

_STORAGE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKmMgGtT]?)(i?)[bB]?")
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


class _Storage(click.ParamType[int]):
    name = "BYTES"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        found = _STORAGE.fullmatch(str(value).strip())
        number = 0
        if found is not None:
            amount, unit, binary = found.groups()
            number = int(float(amount) * (1024 if binary else 1000) ** _POWERS[unit.lower()])
        if number < 1:
            self.fail(f"{value!r} is not a number of bytes such as 256MB, 1GiB or 500000", param, ctx)
        return number


class _Size(click.ParamType[tuple[int, ...]]):
    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        from pixelmill.conversion.encoding import parse_size

        try:
            return parse_size(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a length such as 224, nor HEIGHTxWIDTH such as 224x256", param, ctx)


class _Split(click.ParamType[tuple[tuple[str, float], ...]]):
    name = "NAME=SHARE,…"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[tuple[str, float], ...]:
        if isinstance(value, tuple):
            return value
        from pixelmill.conversion.selection import parse_split

        try:
            return parse_split(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


STORAGE = _Storage()
SIZE = _Size()
SPLIT = _Split()
