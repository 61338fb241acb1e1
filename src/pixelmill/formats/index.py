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
class Index:
    """Item i is `lengths[i]` bytes at `offsets[i]` of `paths[files[i]]`; without these, it is the whole of `paths[i]`.

    Attributes:
        paths: File names as the operating system has them.
        files: The file of each item; empty where item i is simply file i.
        offsets: First byte of each item; empty for whole files.
        lengths: Bytes of each item; empty for whole files.
        columns: Arrays with one row for each item, such as labels.
        names: File names as the user gave them, for messages; `paths` where they do not differ.
    """

    paths: Sequence[str]
    files: Array = field(default_factory=lambda: NO_NUMBERS)
    offsets: Array = field(default_factory=lambda: NO_NUMBERS)
    lengths: Array = field(default_factory=lambda: NO_NUMBERS)
    columns: Mapping[str, Array] = field(default_factory=dict)
    names: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.files) or len(self.paths)

    def encoded_paths(self) -> list[bytes]:
        """Give the paths in the operating system's bytes, so that names that are not UTF-8 survive."""
        return [os.fsencode(path) for path in self.paths]

    def locate(self, item: int) -> tuple[str, int | None]:
        """Give the path of an item and the byte where it starts, None for a whole file."""
        number = int(self.files[item]) if len(self.files) else item
        return self.paths[number], int(self.offsets[item]) if len(self.offsets) else None
