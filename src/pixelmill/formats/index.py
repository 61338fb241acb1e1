"""The index of a dataset: where the bytes of each item lie, and what is known about it beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

NO_NUMBERS: Array = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Ragged:
    """A column in which items have different numbers of rows: item i has `rows[starts[i] : starts[i + 1]]`."""

    rows: Array
    starts: Array

    def __getitem__(self, item: int) -> Array:
        found: Array = self.rows[self.starts[item] : self.starts[item + 1]]
        return found

    @classmethod
    def of(cls, rows: Sequence[Array], *, dtype: Any, row_shape: tuple[int, ...] = ()) -> Ragged:
        """Put the rows of all items one behind the other."""
        starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        empty = np.empty((0, *row_shape), dtype)
        return cls(np.concatenate([empty, *(np.asarray(row, dtype).reshape(-1, *row_shape) for row in rows)]), starts)


@dataclass(frozen=True, eq=False)
class Index:
    """Item i is `lengths[i]` bytes at `offsets[i]` of `paths[files[i]]`; without these, it is the whole of `paths[i]`.

    Attributes:
        paths: File names as the operating system has them.
        files: The file of each item; left out where item i is simply file i.
        offsets: First byte of each item; empty for whole files.
        lengths: Bytes of each item; empty for whole files.
        columns: Arrays with one row for each item, such as labels, or with several.
        names: File names as the user gave them, for messages; `paths` where they do not differ.
        root: The folder that all paths are below, as far as the user did not write it himself; for source_info.
        parts: The pieces of items that consist of several: an index for each, as long as this one.
        lost: Items that are known to be damaged, with kind and message of the fault.
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

    def __len__(self) -> int:
        return len(self.paths) if self.files is NO_NUMBERS else len(self.files)

    def encoded_paths(self) -> list[bytes]:
        """Give the paths in the operating system's bytes, so that names that are not UTF-8 survive."""
        return [os.fsencode(path) for path in self.paths]

    def info_column(self, part: str | None) -> str | None:
        """Give the name of the column that tells users where items, or pieces of them, come from."""
        name = "source_info" if part is None else f"source_info of {part}"
        return name if name in self.columns else None

    def locate(self, item: int) -> tuple[str, int | None]:
        """Give the path of an item and the byte where it starts, None for a whole file."""
        number = int(self.files[item]) if len(self.files) else item
        return (self.names or self.paths)[number], int(self.offsets[item]) if len(self.offsets) else None
