"""The index of a dataset: the byte range of each item, and columns of what is known about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pixelmill.formats.path_table import PathTable
from pixelmill.storage import is_remote, working_folder

Array = np.ndarray[Any, Any]

INDEX_BYTES = 1 << 30  # the largest index file that is read: some 50 million records
NO_NUMBERS: Array = np.empty(0, np.int64)


def is_count(text: str | bytes) -> bool:
    """Whether a text from an index file is an offset or a size: digits alone, and few enough for 64 bits."""
    return text.isascii() and text.isdigit() and len(text) < 19


@dataclass(frozen=True, eq=False)
class Ragged:
    """A column whose items have different numbers of rows: item i has `rows[starts[i] : starts[i + 1]]`."""

    rows: Array
    starts: Array

    def __getitem__(self, item: int) -> Array:
        found: Array = self.rows[self.starts[item] : self.starts[item + 1]]
        return found

    @classmethod
    def of(cls, rows: Sequence[Array], *, dtype: Any, row_shape: tuple[int, ...] = ()) -> Ragged:
        """Concatenate the rows of all items."""
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        empty = np.empty((0, *row_shape), dtype)
        return cls(np.concatenate([empty, *(np.asarray(row, dtype).reshape(-1, *row_shape) for row in rows)]), starts)


@dataclass(frozen=True, eq=False)
class Index:
    """Item i is `lengths[i]` bytes at `offsets[i]` of `paths[files[i]]`; without these arrays, all of `paths[i]`.

    Attributes:
        paths: The paths of the files.
        files: The file of each item; empty if item i is file i.
        offsets: The first byte of each item; empty for whole files.
        lengths: The number of bytes of each item; empty for whole files.
        columns: Arrays with one row for each item, such as labels, or with several.
        names: The files as the user named them, for messages; empty if these are `paths`.
        root: The part of all paths that the user did not write in a list himself; source_info omits it.
        parts: For items that consist of several pieces: an index for each kind of piece, as long as this one.
        lost: The items that are known to be damaged, with kind and message of the fault.
        sizes: For whole files at addresses, their sizes if a listing named them.
        versions: The version of each file at an address, such as its ETag, if a listing named it.
        base: The folder that relative paths start from: the working folder of the moment when the index was made.
    """

    paths: Sequence[str]
    files: Array = field(default_factory=lambda: NO_NUMBERS)
    offsets: Array = field(default_factory=lambda: NO_NUMBERS)
    lengths: Array = field(default_factory=lambda: NO_NUMBERS)
    columns: Mapping[str, Array | Ragged] = field(default_factory=dict)
    names: Sequence[str] = ()
    root: str = ""
    parts: Mapping[str, Index] = field(default_factory=dict)
    lost: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    sizes: Array = field(default_factory=lambda: NO_NUMBERS)
    versions: Sequence[str] = ()
    base: str = field(default_factory=working_folder)

    def __len__(self) -> int:
        return len(self.paths) if self.files is NO_NUMBERS else len(self.files)

    def __getstate__(self) -> dict[str, object]:
        """Leave out the arrays that there are not: whole files are told from no records by identity."""
        return {name: value for name, value in vars(self).items() if value is not NO_NUMBERS}

    def __setstate__(self, state: dict[str, object]) -> None:
        missing = dict.fromkeys(("files", "offsets", "lengths", "sizes"), NO_NUMBERS)
        vars(self).update({**missing, **state})

    def path_table(self) -> PathTable:
        """Return the paths in one table, as they are."""
        return self.paths if isinstance(self.paths, PathTable) else PathTable.of(self.paths)

    def anchored_paths(self) -> PathTable:
        """Return the paths for the core, which opens files when the working folder may have changed."""
        return self.path_table().anchored(self.base)

    def is_remote(self) -> bool:
        """Whether some of the files are at addresses."""
        return self.paths.is_remote if isinstance(self.paths, PathTable) else any(map(is_remote, self.paths))

    def info_column(self, part: str | None) -> str | None:
        """Return the name of the column with the source_info of items, or of one of their pieces."""
        name = "source_info" if part is None else f"source_info of {part}"
        return name if name in self.columns else None

    def locate(self, item: int) -> tuple[str, int | None]:
        """Return the path of an item and its first byte, None for a whole file."""
        number = int(self.files[item]) if len(self.files) else item
        return (self.names or self.paths)[number], int(self.offsets[item]) if len(self.offsets) else None
