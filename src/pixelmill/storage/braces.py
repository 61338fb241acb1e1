"""Names of many files in one: `train-{000..146}.tar` and `{train,valid}.tar`, as shells and WebDataset write them."""

from __future__ import annotations

import re
from itertools import product

from pixelmill.errors import ArgumentError

_BRACES = re.compile(r"\{([^{}]*)\}")
_RANGE = re.compile(r"(\d{1,18})\.\.(\d{1,18})")
_MOST = 1_000_000  # names


def expanded(pattern: str) -> list[str]:
    """Return the names that a pattern stands for, in its order; itself if there are no braces to expand."""
    parts: list[list[str]] = []
    count, place = 1, 0
    for found in _BRACES.finditer(pattern):
        size = _size(found[1])
        count *= max(size, 1)
        if count > _MOST:
            raise ArgumentError(f"{pattern} stands for more than {_MOST:,} files")
        parts += [[pattern[place : found.start()]], _values(found[1]) if size else [found[0]]]
        place = found.end()
    return ["".join(chosen) for chosen in product(*parts, [pattern[place:]])]


def _size(inside: str) -> int:
    """Return how many values braces stand for; 0 if they stand for themselves."""
    bounds = _RANGE.fullmatch(inside)
    if bounds is not None:
        return abs(int(bounds[1]) - int(bounds[2])) + 1
    return inside.count(",") + 1 if "," in inside else 0


def _values(inside: str) -> list[str]:
    bounds = _RANGE.fullmatch(inside)
    if bounds is None:
        return inside.split(",")
    first, last = int(bounds[1]), int(bounds[2])
    step = 1 if first <= last else -1
    is_padded = any(len(text) > 1 and text.startswith("0") for text in bounds.groups())
    width = max(map(len, bounds.groups())) if is_padded else 0
    return [f"{number:0{width}d}" for number in range(first, last + step, step)]
