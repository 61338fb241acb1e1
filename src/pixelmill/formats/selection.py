"""A part of a dataset as a dataset of its own, and opening one split of a dataset."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.column_copy import copied_ranges
from pixelmill.formats.dataset import BytesColumn, Dataset, ExampleKeys
from pixelmill.formats.index import Array, Index, Ragged
from pixelmill.formats.recognize import is_companion
from pixelmill.formats.sample import Sample
from pixelmill.formats.splits import same_split

Source = str | os.PathLike[str] | Sequence[str]


class Selection(Dataset):
    """Some samples of a dataset.

    Damaged pieces of the container belong to no sample, so they are counted in a remark instead of being faults here.

    Args:
        dataset: The whole dataset.
        numbers: The samples, by their numbers in it.
        part: What they are, for caches: equal for equal numbers.
    """

    def __init__(self, dataset: Dataset, numbers: Array, part: str) -> None:
        self._dataset = dataset
        self._numbers = numbers
        self.part = part
        self.format = dataset.format  # type: ignore[misc]  # that of the class for all other datasets
        self.is_recordio, self.values_apart = dataset.is_recordio, dataset.values_apart
        self.source = dataset.source
        self.index = self._selected(dataset.index)
        lost = f"{len(dataset.faults)} damaged pieces of the container belong to no split"
        self.remarks = (*dataset.remarks, *([lost] if dataset.faults else []))

    def _selected(self, index: Index) -> Index:
        places = {int(number): place for place, number in enumerate(self._numbers)}
        lost = {places[number]: fault for number, fault in index.lost.items() if number in places}
        if not len(index.files):
            paths = [index.paths[number] for number in self._numbers]
            names = [index.names[number] for number in self._numbers] if index.names else ()
            return replace(index, paths=paths, names=names, lost=lost, versions=())
        files, offsets, lengths = (array[self._numbers] for array in (index.files, index.offsets, index.lengths))
        return replace(index, files=files, offsets=offsets, lengths=lengths, lost=lost)

    def sample(self, number: int) -> Sample:
        return self._dataset.sample(int(self._numbers[number]))

    def outline(self, number: int) -> Sample:
        return self._dataset.outline(int(self._numbers[number]))

    def description(self, number: int) -> Sample:
        return self._dataset.description(int(self._numbers[number]))

    def expect(self, numbers: Iterable[int]) -> None:
        self._dataset.expect(int(self._numbers[number]) for number in numbers)

    def expect_outlines(self, numbers: Iterable[int]) -> None:
        self._dataset.expect_outlines(int(self._numbers[number]) for number in numbers)

    def expect_descriptions(self, numbers: Iterable[int]) -> None:
        self._dataset.expect_descriptions(int(self._numbers[number]) for number in numbers)

    def byte_ranges(self, what: BytesColumn) -> Index | None:
        found = self._dataset.byte_ranges(what)
        return self._selected(copied_ranges(self._dataset, what) if found is None else found)

    def values(self, name: str) -> Ragged | None:
        whole = self._dataset.values(name)
        if whole is None:
            return None
        rows = [whole[int(number)] for number in self._numbers]
        return Ragged.of(rows, dtype=whole.rows.dtype, row_shape=whole.rows.shape[1:])

    def example_keys(self) -> ExampleKeys | None:
        return self._dataset.example_keys()

    def size(self, number: int) -> int:
        return self._dataset.size(int(self._numbers[number]))

    def has_mask(self, number: int) -> bool:
        return self._dataset.has_mask(int(self._numbers[number]))

    def split_of(self, number: int) -> str | None:
        return self._dataset.split_of(int(self._numbers[number]))

    @property
    def layout(self) -> str:
        return self._dataset.layout

    @property
    def classes(self) -> tuple[str, ...]:
        return self._dataset.classes


def open_split(open_dataset: Callable[[Source], Dataset], source: Source, split: str) -> Dataset:
    """Open one split of a dataset.

    If samples of the dataset say which split they belong to, as those of a folder with `train/` and `val/` do, and
    those of COCO, YOLO and Pascal VOC, it is the samples of this one; classes have the same numbers in all splits.
    Otherwise it is the folder of this name, or the files that begin with it, such as `train-00000-of-00004.tfrecord`.

    Args:
        open_dataset: Opens a dataset.
        source: The whole dataset.
        split: The name of the split; usual names of the same split stand for each other.
    """
    folder, whole = _folder_of(source), None
    try:
        whole = open_dataset(source)
    except (ArgumentError, DataError):
        if folder is None:
            raise
    if whole is not None and any(whole.split_of(number) is not None for number in {0, len(whole) - 1}):
        return _selected(whole, split)
    if folder is None:
        raise ArgumentError(f"split: {_shown(source)} is not divided into splits; name the files of {split!r} instead")
    return open_dataset(_named_after(folder, split))


def _selected(dataset: Dataset, split: str) -> Dataset:
    splits = [dataset.split_of(number) for number in range(len(dataset))]
    numbers = np.flatnonzero([same_split(split, own) for own in splits])
    if not len(numbers):
        there = ", ".join(sorted({str(own) for own in splits}))
        raise ArgumentError(f"split: {dataset.source} has no split {split!r}; it has {there}")
    if len(numbers) == len(dataset):
        return dataset
    return Selection(dataset, numbers, f"split {split}")


def _folder_of(source: Source) -> str | None:
    if not isinstance(source, (str, os.PathLike)):
        return None
    folder = storage.plain(os.fspath(source))
    return folder if storage.is_folder(folder) else None


def _named_after(folder: str, split: str) -> str | list[str]:
    folders, files = storage.list_folder(folder)
    for found in folders:
        if same_split(split.casefold(), found.casefold()):
            return storage.join(folder, found)
    own = [file for file in files if same_split(split.casefold(), _first_part(file))]
    if own:  # indexes and notes accompany records; tables alone are lists of images
        records = [file for file in own if not is_companion(file)]
        return [storage.join(folder, file) for file in records or own]
    there = ", ".join([*folders, *files][:6]) or "nothing"
    raise ArgumentError(f"split: {folder} has no folder or files of the split {split!r}; it holds {there}")


def _first_part(file: str) -> str:
    stem = file.casefold()
    return next((stem[:place] for place, letter in enumerate(stem) if not letter.isalpha()), stem)


def _shown(source: Source) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else ", ".join(source[:2])
