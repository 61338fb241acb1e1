"""Parsers for values on the command line: sizes, byte counts, splits, parts and intervals."""

from __future__ import annotations

import re
from decimal import Decimal

_BYTES = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kKmMgGtTpP])(i?))?[bB]?")
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SIZE = re.compile(r"(\d+)(?:x(\d+))?")

Split = tuple[tuple[str, float], ...]


def parse_bytes(text: str) -> int:
    """Read a number of bytes such as `256MB`, `1GiB` or `500000`."""
    found = _BYTES.fullmatch(text.strip())
    number = 0
    if found is not None:
        amount, unit, binary = found.groups()
        number = int(Decimal(amount) * (1024 if binary else 1000) ** (_POWERS[unit.lower()] if unit else 0))
    if number < 1:
        raise ValueError(f"{text!r} is not a number of bytes such as 256MB, 1GiB or 500000")
    return number


def parse_size(text: str) -> int | tuple[int, int]:
    """Read `224` or `224x256`, height first."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a length such as 224, nor HEIGHTxWIDTH such as 224x256")
    height, width = found.groups()
    return int(height) if width is None else (int(height), int(width))


def parse_split(text: str) -> Split:
    """Read `train=0.9,valid=0.1`."""
    parts = []
    for item in text.split(","):
        name, equals, fraction = item.strip().partition("=")
        if not name or not equals or "/" in name or name.startswith("."):
            raise ValueError(f"{item!r} is not of the form NAME=FRACTION, such as train=0.9")
        try:
            value = float(fraction)
        except ValueError:
            raise ValueError(f"the fraction of {name} is not a number: {fraction!r}") from None
        if not 0 < value <= 1:
            raise ValueError(f"the fraction of {name} must be above 0 and at most 1, got {fraction}")
        parts.append((name, value))
    if len({name for name, _ in parts}) < len(parts):
        raise ValueError("a name occurs twice")
    total = sum(value for _, value in parts)
    if total > 1 + 1e-9:
        raise ValueError(f"the fractions add up to {total:g}, more than 1")
    return tuple(parts)


def parse_part(text: str) -> tuple[int, int]:
    """Read `I/N`, a part of a job."""
    index, _, count = text.partition("/")
    if not (index.isdecimal() and count.isdecimal() and int(count)):
        raise ValueError(f"{text!r} is not of the form I/N with I from 0 to N-1, such as 0/8")
    if int(index) >= int(count):
        known = f"parts are counted from 0, so the last of {count} is {int(count) - 1}/{count}"
        raise ValueError(f"{text!r} is not of the form I/N with I from 0 to N-1: {known}")
    return int(index), int(count)


def parse_interval(text: str) -> tuple[int, int]:
    """Read `75` or `70-95`."""
    low, _, high = text.partition("-")
    if not low.isdecimal() or not (high or low).isdecimal():
        raise ValueError(f"{text!r} is not a number or two such as 70-95")
    return int(low), int(high or low)
