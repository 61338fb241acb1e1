"""Reads the profiles of valgrind's callgrind: how many instructions each function executed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

# Without name and position compression, which the parser below does not support.
OPTIONS = ("--tool=callgrind", "--compress-strings=no", "--compress-pos=no")


@dataclass
class Profile:
    """Instructions by function.

    Attributes:
        own: Those of the function itself.
        total: Those of the function and all it calls. Recursion would count twice; the functions of interest have none.
        calls: How often a function was called.
    """

    own: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)


def read(path: Path) -> Profile:
    """Read a profile.

    A function begins with `fn=`; its lines are `position cost`. A call is `cfn=`, `calls=count position` and a line
    with the inclusive cost of the call.
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
