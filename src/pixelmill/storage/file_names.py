"""File names that come from data: which are safe to use below a folder, and which must be replaced."""

# ruff: noqa: PTH118 - pathlib would rewrite the paths, which are to stay as they were given
from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence

from pixelmill.errors import DataError

_LONGEST_PART = 240  # most file systems allow 255 bytes; the rest is for endings such as those of temporary files
_LONGEST_NAME = 1024
# What no file can be called: NUL, and half of a character, as JSON may hold it. Python writes a byte that is not UTF-8
# as one of \udc80 to \udcff.
_NO_NAME = r"[\x00\ud800-\udc7f\udd00-\udfff]"
_OUTSIDE = re.compile(rf"^$|^/|(?:^|/)\.\.(?:/|$)|://|{_NO_NAME}")
# Parts that `is_plain` refuses, of names that begin and end with a newline.
_ODD_PARTS = ("\n/", "//", "/\n", "\n\n", "./", " /", ".\n", " \n")
_REFUSED = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')


def is_plain(name: str) -> bool:
    """Whether a name can be a file below a folder on any machine: relative, no `..`, no control characters."""
    try:
        if not name or len(os.fsencode(name)) > _LONGEST_NAME or _REFUSED.search(name):
            return False
    except UnicodeEncodeError:  # half of a character
        return False
    return all(
        part not in ("", ".", "..") and len(os.fsencode(part)) <= _LONGEST_PART and not part.endswith((".", " "))
        for part in name.split("/")
    )


def are_plain(names: Sequence[str]) -> bool:
    """Whether `is_plain` holds for all names; a list may have millions, so that they are looked at together."""
    if not names or max(map(len, names)) > _LONGEST_PART // 4:
        return all(map(is_plain, names))
    text = "\n" + "\n".join(names) + "\n"
    if text.count("\n") != len(names) + 1 or _REFUSED.search("".join(set(text) - {"\n"})):
        return all(map(is_plain, names))
    if any(map(text.__contains__, _ODD_PARTS)) or not text.isascii():
        return all(map(is_plain, names))
    return True


def is_below(name: str) -> bool:
    """Whether a name leads below the folder that it is relative to, links aside: relative, no `..`, nothing odd."""
    return _OUTSIDE.search(name) is None


def are_below(names: Iterable[str]) -> bool:
    """Whether `is_below` holds for all names; a cache may hold millions."""
    return not any(map(_OUTSIDE.search, names))


class UniqueNames:
    """Assigns each sample a file name of its own, the preferred one if possible.

    Names that differ only in case count as equal, since some file systems do not distinguish them. No file gets the
    name of a folder that another file is in.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._folders: set[str] = set()

    def take(
        self, preferred: str, *, number: int, ending: str = "", is_allowed: Callable[[str], bool] = is_plain
    ) -> str:
        """Return `preferred` if it is allowed and not taken, else a name made from the number of the sample.

        Args:
            preferred: The preferred name, without ending.
            number: The number of the sample.
            ending: The ending of the file; equal names with different endings do not clash.
            is_allowed: Whether a name is allowed.
        """
        if is_allowed(preferred) and self._claim(preferred, ending):
            return preferred
        name = f"sample-{number:08d}"
        while not self._claim(name, ending):
            name += "~"
        return name

    def _claim(self, name: str, ending: str) -> bool:
        folded = f"{name}.{ending}".casefold()
        folders = _folders(folded, any_ending=not ending)
        if folded in self._taken or folded in self._folders or not self._taken.isdisjoint(folders):
            return False
        self._taken.add(folded)
        self._folders.update(folders)
        return True


def _folders(path: str, *, any_ending: bool) -> list[str]:
    """Return the folders of a path as `UniqueNames` compares them with files."""
    parts = path.split("/")[:-1]
    found = ["/".join(parts[: number + 1]) for number in range(len(parts))]
    # A file whose ending is not known yet counts as `name.`, and must differ from folders with any ending.
    return [f"{folder.rpartition('.')[0] or folder}." for folder in found] if any_ending else found


def resolve_below(
    name: str,
    *,
    root: str,
    allow_outside: bool,
    where: str,
    permit: str = "allow_outside=True permits it",
    base: str = "",
) -> str:
    """Return the path of a file that a list names; raises DataError if it leads out of `root`, also through a link.

    Args:
        name: The name as it stands in the list.
        root: The folder that the name is relative to.
        allow_outside: Whether the name may lead out of `root`.
        where: The line of the list, for messages.
        permit: What the user can do, for messages.
        base: The folder that a relative root starts from; the working folder of this moment if empty.
    """
    if not name or re.search(_NO_NAME, name):
        raise DataError(f"{where}: {name!r} is not a file name")
    if "://" in name and not allow_outside:
        raise DataError(f"{where}: {name!r} is an address, not a file below {root}; {permit}")
    if allow_outside:
        return os.path.join(root, name)
    if "://" in root:
        if not is_below(name):
            raise DataError(f"{where}: {name!r} leads out of {root}; {permit}")
        return f"{root.rstrip('/')}/{name}"
    path = os.path.join(root, name)
    inside, below = os.path.realpath(os.path.join(base, root)), os.path.realpath(os.path.join(base, path))
    if os.path.commonpath((inside, below)) != inside:
        raise DataError(f"{where}: {name!r} leads out of {root}; {permit}")
    return path
