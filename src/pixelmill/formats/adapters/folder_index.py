"""The names of all images below a folder, kept in the index cache as long as no folder changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelmill.formats import storage
from pixelmill.formats.sample import IMAGE_EXTENSIONS, split_name

ENDINGS = IMAGE_EXTENSIONS
Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Listing:
    """The images below a folder.

    Attributes:
        names: Relative names with `/`, sorted by their bytes within each class folder.
        labels: The number of the class folder of each, -1 for a file outside of all.
        classes: The class folders, empty ones included, sorted by their bytes.
    """

    names: list[str]
    labels: Array
    classes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def name(self, number: int) -> str:
        """Give the relative name of an image."""
        return self.names[number]


def load(root: str) -> Listing:
    """List the images below a folder."""
    return _scan(root)


def _scan(root: str) -> Listing:
    classes, _ = storage.list_folder(root)
    names: list[str] = []
    counts: list[int] = []
    flat = list(_files(root, ""))
    names += flat
    for folder in classes:
        before = len(names)
        names += sorted(_files(root, folder), key=os.fsencode)
        counts.append(len(names) - before)
    labels = np.repeat(np.arange(-1, len(classes), dtype=np.int32), [len(flat), *counts])
    return Listing(names, labels, tuple(classes))


def _files(root: str, folder: str) -> Iterator[str]:
    if not folder:
        for name in storage.list_folder(root)[1]:
            if split_name(name)[1].lower() in ENDINGS:
                yield name
        return
    for inner, files in storage.walk(root, below=folder):
        for name in files:
            if split_name(name)[1].lower() in ENDINGS:
                yield f"{inner}/{name}"
