"""The samples of a dataset by class, for readers that read all classes equally often."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.formats.index import Array, Index, Ragged


@dataclass(frozen=True, eq=False)
class ClassGroups:
    """The items of each class that has any.

    Attributes:
        items: The items, those of a class side by side.
        starts: The place of the first item of each class, and the number of items at the end.
        count: The number of items of the dataset, including damaged ones, which are in no class.
        identity: A number that differs for other groups, for the state of a reader.
    """

    items: Array
    starts: Array
    count: int
    identity: int = field(init=False)

    def __post_init__(self) -> None:
        text = self.items.astype("<i8").tobytes() + self.starts.astype("<i8").tobytes()
        number = int.from_bytes(hashlib.blake2b(text, digest_size=6).digest(), "little")
        object.__setattr__(self, "identity", number)

    @property
    def per_class(self) -> int:
        """How many items of each class an epoch has: together about as many as the dataset has."""
        return -(-len(self.items) // (len(self.starts) - 1))

    def __len__(self) -> int:
        """Return the length of an epoch."""
        return self.per_class * (len(self.starts) - 1)


def group_by_class(index: Index) -> ClassGroups:
    """Group the items of an index by its column `label`. Damaged items are in no group."""
    labels = index.columns["label"]
    assert isinstance(labels, Ragged)
    good = np.ones(len(index), bool)
    good[list(index.lost)] = False
    items = np.flatnonzero(good)
    counts = np.diff(labels.starts)[items]
    if (counts != 1).any():
        wrong = int(items[(counts != 1).argmax()])
        path, _ = index.locate(wrong)
        raise ArgumentError(
            f"balanced: every sample needs exactly one label, and sample {wrong} ({path}) has {len(labels[wrong])}"
        )
    numbers = labels.rows[labels.starts[items]]
    order = np.argsort(numbers, kind="stable")
    _, first = np.unique(numbers[order], return_index=True)
    return ClassGroups(items[order], np.append(first, len(items)).astype(np.int64), len(index))
