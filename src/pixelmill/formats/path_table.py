"""Paths of a dataset in two arrays, which may be mapped from a file that many processes share."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, overload

import numpy as np

from pixelmill.storage import anchored
from pixelmill.storage.system import WINDOWS

Array = np.ndarray[Any, Any]

_OUTSIDE = (b"\0\0", b"\0/", b"://")  # a name that is empty, or begins with a slash, or is an address
_UPWARD = (b"/../", b"/..\0", b"\0../", b"\0..\0")


class PathTable(Sequence[str]):
    """A list of paths. A path becomes a string when it is asked for: a dataset may have hundreds of millions.

    Args:
        names: The ends of the paths as the operating system's bytes, each followed by a zero byte, in one array.
        starts: Where each begins; at the end, the length of `names`.
        prefix: The beginning of all paths.
    """

    def __init__(self, names: Array, starts: Array, prefix: str = "") -> None:
        self.names = names
        self.starts = starts
        self.prefix = prefix

    @classmethod
    def of(cls, paths: Iterable[str], prefix: str = "") -> PathTable:
        """Return a table of paths, given without the prefix."""
        encoded = [os.fsencode(path) for path in paths]
        names = np.frombuffer(b"".join(b"%b\0" % path for path in encoded), np.uint8)
        ends = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)) + 1)
        return cls(names, np.concatenate([[0], ends]).astype(np.int64), prefix)

    @classmethod
    def checked(cls, names: Array, starts: Array, prefix: str = "") -> PathTable | None:
        """Return a table of arrays that may be forged; None if they are not names and where they begin."""
        if names.ndim != 1 or names.dtype != np.uint8 or starts.ndim != 1 or starts.dtype != np.int64:
            return None
        if not len(starts) or starts[0] != 0 or starts[-1] != len(names) or (np.diff(starts) < 1).any():
            return None
        zeros = np.flatnonzero(names == 0)
        return cls(names, starts, prefix) if np.array_equal(zeros + 1, starts[1:]) else None

    def anchored(self, base: str) -> PathTable:
        """Return the table with paths that start from a folder if they are relative."""
        if not base or "://" in self.prefix or self.prefix.startswith("/"):
            return self
        if self.prefix or not self._has_absolute():
            return PathTable(self.names, self.starts, os.path.join(base, self.prefix))  # noqa: PTH118
        return PathTable.of(anchored(path, base) for path in self)

    def _has_absolute(self) -> bool:
        """Whether one of the names is an absolute path, an address, or empty, which stands for no file."""
        data = b"\0" + self.names.tobytes()
        return WINDOWS or any(map(data.__contains__, _OUTSIDE))  # C:/folder

    @property
    def is_remote(self) -> bool:
        """Whether one of the paths is an address."""
        return "://" in self.prefix or b"://" in self.names.tobytes()

    def are_below(self, prefix: str) -> bool:
        """Whether the paths have this prefix, and names lead below the folder it names; see `file_names.is_below`."""
        if self.prefix != prefix:
            return False
        # Each name follows a zero byte now. One expression for all of this takes ten times as long.
        data = b"\0" + self.names.tobytes()
        return not (any(map(data.__contains__, _OUTSIDE)) or (b".." in data and any(map(data.__contains__, _UPWARD))))

    def name(self, number: int) -> str:
        """Return a path without the prefix."""
        if number < 0 or number >= len(self):
            number = range(len(self))[number]
        start, end = self.starts[number : number + 2].tolist()
        return os.fsdecode(self.names[start : end - 1].tobytes())

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, item: int) -> str: ...
    @overload
    def __getitem__(self, item: slice) -> list[str]: ...
    def __getitem__(self, item: int | slice) -> str | list[str]:
        if isinstance(item, slice):
            return [self[number] for number in range(*item.indices(len(self)))]
        return self.prefix + self.name(item)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(map(str.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]
