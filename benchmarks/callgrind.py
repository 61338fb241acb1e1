"""Reads what valgrind's callgrind writes: how many instructions went into which function."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# Without the abbreviations of names and positions that the parser below does not know.
OPTIONS = ("--tool=callgrind", "--compress-strings=no", "--compress-pos=no")


@dataclass
class Profile:
    """Instructions by function.

    Attributes:
        own: Those of a function itself.
        total: Those of a function and all it calls. Recursion would count twice; the functions asked about have none.
        calls: How often a function was called.
    """

    own: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)


def read(path: Path) -> Profile:
    """Read a profile.

    A function begins with `fn=`; its lines are `position cost`. A call is `cfn=`, `calls=count position` and a line
    with the cost of all that the call did.
    """
    profile = Profile()
    function = callee = ""
    called = 0
    for line in path.read_text("utf-8", "replace").splitlines():
        key, separator, value = line.partition("=")
        if separator and key == "fn":
            function = value
        elif separator and key == "cfn":
            callee = value
        elif separator and key == "calls":
            called = int(value.split()[0])
        elif line[:1].isdigit():
            cost = int(line.split()[1]) if " " in line else 0
            if called:
                profile.total[callee] += cost
                profile.calls[callee] += called
                called = 0
            else:
                profile.own[function] += cost
    return profile
