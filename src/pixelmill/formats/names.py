"""File names that come from data: which may be used below a folder, and which must be replaced."""

# ruff: noqa: PTH118 - pathlib would rewrite the paths, which are to stay as they were given
from __future__ import annotations

import os
from collections.abc import Callable

from pixelmill.errors import DataError

_LONGEST_PART = 240  # most file systems allow 255 bytes; the rest is for endings such as that of a temporary file
_LONGEST_NAME = 1024
_REFUSED = frozenset('\\:*?"<>|')


def is_plain(name: str) -> bool:
    """Tell whether a name can be a file below a folder on any machine: relative, no `..`, no control characters."""
    if not name or len(os.fsencode(name)) > _LONGEST_NAME or any(c < " " or c == "\x7f" or c in _REFUSED for c in name):
        return False
    return all(
        part not in ("", ".", "..") and len(os.fsencode(part)) <= _LONGEST_PART and not part.endswith((".", " "))
        for part in name.split("/")
    )


class UniqueNames:
    """Gives each sample a file name of its own, its wish where possible.

    Names that differ in upper and lower case only count as equal, since some file systems do not tell them apart.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, wish: str, *, number: int, ending: str = "", is_allowed: Callable[[str], bool] = is_plain) -> str:
        """Give `wish` if it is allowed and nobody has it, else a name made from the number of the sample.

        Args:
            wish: The name without ending.
            number: The number of the sample.
            ending: What will stand behind the name; equal names with different endings may live side by side.
            is_allowed: What names must be like.
        """
        if is_allowed(wish) and self._claim(wish, ending):
            return wish
        name = f"sample-{number:08d}"
        while not self._claim(name, ending):
            name += "~"
        return name

    def _claim(self, name: str, ending: str) -> bool:
        folded = f"{name}.{ending}".casefold()
        if folded in self._taken:
            return False
        self._taken.add(folded)
        return True


def resolve_below(name: str, *, root: str, allow_outside: bool, where: str) -> str:
    """Give the path of a file that a list names.

    Args:
        name: The name as the list has it.
        root: The folder it belongs to.
        allow_outside: True lets the name lead out of `root`.
        where: The line of the list, for messages.
    """
    if "\0" in name or not name:
        raise DataError(f"{where}: {name!r} is not a file name")
    if "://" in name and not allow_outside:
        raise DataError(f"{where}: {name!r} is an address, not a file below {root}; allow_outside=True permits it")
    if allow_outside:
        return os.path.join(root, name)
    if "://" in root:
        if name.startswith("/") or ".." in name.split("/"):
            raise DataError(f"{where}: {name!r} leads out of {root}; allow_outside=True permits it")
        return f"{root.rstrip('/')}/{name}"
    path = os.path.join(root, name)
    inside, below = os.path.realpath(root), os.path.realpath(path)
    if os.path.commonpath((inside, below)) != inside:
        raise DataError(f"{where}: {name!r} leads out of {root}; allow_outside=True permits it")
    return path
