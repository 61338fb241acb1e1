"""Some samples of a dataset as a dataset, such as one of its splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.index import Array, Index, Ragged
from pixelmill.formats.sample import Sample
from pixelmill.formats.splits import same_split


class Subset(Dataset):
    """The samples of a dataset at some places.

    Args:
        whole: The dataset.
        numbers: The numbers of its samples.
    """

    format = ""

    def __init__(self, whole: Dataset, numbers: Sequence[int]) -> None:
        self.whole = whole
        self.numbers: Array = np.asarray(numbers, np.int64)
        self.source, self.remarks = whole.source, whole.remarks
        object.__setattr__(self, "format", whole.format)  # that of the dataset, not of this class
        self.index = _chosen(whole.index, self.numbers)

    @classmethod
    def of_split(cls, whole: Dataset, split: str) -> Subset:
        """Return one split of a dataset; raises ArgumentError if it has no such split."""
        names: list[str | None] = []
        for number in range(len(whole)):
            try:
                names.append(whole.split_of(number))
            except DataError:
                names.append(None)
        places = [number for number, name in enumerate(names) if same_split(name, split)]
        if not places:
            there = ", ".join(sorted({name for name in names if name}))
            message = f"it has {there}" if there else "it is not divided into splits"
            raise ArgumentError(f"split: {whole.source} has no split {split!r}; {message}")
        return cls(whole, places)

    def sample(self, number: int) -> Sample:
        return self.whole.sample(int(self.numbers[number]))

    def expect(self, numbers: Iterable[int]) -> None:
        self.whole.expect(int(self.numbers[number]) for number in numbers)

    def outline(self, number: int) -> Sample:
        return self.whole.outline(int(self.numbers[number]))

    def description(self, number: int) -> Sample:
        return self.whole.description(int(self.numbers[number]))

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        found = self.whole.byte_ranges(what)
        return None if found is None else _chosen(found, self.numbers)

    def values(self, name: str) -> Ragged | None:
        column = self.whole.values(name)
        if column is None:
            return None
        rows = [column[number] for number in self.numbers.tolist()]
        return Ragged.of(rows, dtype=column.rows.dtype, row_shape=column.rows.shape[1:])

    def size(self, number: int) -> int:
        return self.whole.size(int(self.numbers[number]))

    def has_mask(self, number: int) -> bool:
        return self.whole.has_mask(int(self.numbers[number]))

    def split_of(self, number: int) -> str | None:
        return self.whole.split_of(int(self.numbers[number]))

    def raw(self, number: int) -> bytes | None:
        return self.whole.raw(int(self.numbers[number]))

    @property
    def layout(self) -> str:
        return self.whole.layout

    @property
    def classes(self) -> tuple[str, ...]:
        return self.whole.classes

    @property
    def files(self) -> tuple[str, ...]:
        return self.whole.files


def _chosen(index: Index, numbers: Array) -> Index:
    """Return the items of an index at some places."""
    if not len(index.files):
        paths = [index.paths[number] for number in numbers.tolist()]
        names = [index.names[number] for number in numbers.tolist()] if len(index.names) else ()
        sizes = index.sizes[numbers] if len(index.sizes) else index.sizes
        versions = [index.versions[number] for number in numbers.tolist()] if len(index.versions) else ()
        chosen = replace(index, paths=paths, names=names, sizes=sizes, versions=versions)
    else:
        parts = {name: getattr(index, name)[numbers] for name in ("files", "offsets", "lengths")}
        chosen = replace(index, **parts)
    places = {number: place for place, number in enumerate(numbers.tolist())}
    lost = {places[number]: fault for number, fault in index.lost.items() if number in places}
    return replace(chosen, lost=lost, columns={}, parts={})
