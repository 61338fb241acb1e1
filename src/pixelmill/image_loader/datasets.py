"""Datasets sample by sample: what `open_dataset` returns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any, Generic, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from pixelmill import storage
from pixelmill.errors import ArgumentError, IndexOutOfRangeError
from pixelmill.formats import registry
from pixelmill.formats.dataset import Dataset, Schema
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.sample import Sample
from pixelmill.image_loader.image_sample import ImageSample

T = TypeVar("T")
U = TypeVar("U")
Source: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


class ImageDataset(Sequence[T], Generic[T]):
    """Samples of a dataset in any container, by number; a map-style dataset for `torch.utils.data.DataLoader`.

    Slices are datasets too, and share the container. Datasets can be passed to worker processes, however these are
    started.

    Args:
        container: The dataset as its container defines it.
        numbers: The samples, by their numbers in the container.
        function: Makes an item of a sample.
    """

    def __init__(
        self, container: Dataset, *, numbers: Sequence[int], function: Callable[[ImageSample], T] | None
    ) -> None:
        self.container = container
        self._numbers = numbers
        self._function = function

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, item: int | np.integer[Any]) -> T: ...
    @overload
    def __getitem__(self, item: slice | Sequence[int] | NDArray[Any]) -> ImageDataset[T]: ...
    def __getitem__(self, item: object) -> T | ImageDataset[T]:
        if isinstance(item, slice):
            return self._select(self._numbers[item])
        if isinstance(item, (Sequence, np.ndarray)) and not isinstance(item, (str, bytes)):
            return self._select([self._numbers[self._place(place)] for place in item])
        number = self._numbers[self._place(item)]
        sample = ImageSample(self.container.sample(number), number)
        return sample if self._function is None else self._function(sample)  # type: ignore[return-value]

    def __iter__(self) -> Iterator[T]:
        return (self[place] for place in range(len(self)))

    def _select(self, numbers: Sequence[int]) -> ImageDataset[T]:
        return ImageDataset(self.container, numbers=numbers, function=self._function)

    def _place(self, item: object) -> int:
        try:
            place = index(item)  # type: ignore[arg-type]
        except TypeError:
            raise TypeError(f"a dataset takes numbers, slices and lists of numbers, got {item!r}") from None
        if not -len(self) <= place < len(self):
            raise IndexOutOfRangeError(f"the dataset has {len(self)} samples, got the number {place}")
        return place

    def with_transform(self, function: Callable[[ImageSample], U]) -> ImageDataset[U]:
        """Return the same dataset with another item for each sample: what the function returns for it.

        Args:
            function: Takes an `ImageSample`. Worker processes that are spawned need a function of a module.
        """
        return ImageDataset(self.container, numbers=self._numbers, function=function)

    def sample(self, number: int) -> Sample:
        """Return a sample as its container holds it: the encoded image and all annotations."""
        return self.container.sample(self._numbers[self._place(number)])

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes by label; empty if the container does not list them."""
        return self.container.classes

    @property
    def format(self) -> str:
        """The name of the container."""
        return self.container.format

    @property
    def source(self) -> str:
        """The dataset as it was named."""
        return self.container.source

    @property
    def layout(self) -> str:
        """How the container is used."""
        return self.container.layout

    @property
    def schema(self) -> Schema:
        """What the first samples hold."""
        return self.container.schema

    @property
    def files(self) -> tuple[str, ...]:
        """All files that the samples are read from."""
        return self.container.files

    @property
    def faults(self) -> tuple[RecordFault, ...]:
        """Pieces of the container that cannot be read; they do not count as samples."""
        return self.container.faults

    def __repr__(self) -> str:
        parts = [repr(self.source), self.format, f"{len(self):,} samples"]
        if self.classes:
            names = ", ".join(self.classes[:3]) + (", ..." if len(self.classes) > 3 else "")
            parts.append(f"{len(self.classes):,} classes: {names}")
        if self.faults:
            parts.append(f"{len(self.faults):,} damaged pieces")
        return f"ImageDataset({', '.join(parts)})"


def open_dataset(
    source: Source,
    format: str | None = None,
    *,
    split: str | None = None,
    root: str | None = None,
    allow_outside: bool = False,
    path_column: str | None = None,
    label_column: str | None = None,
) -> ImageDataset[ImageSample]:
    """Open a dataset and recognize its container by its content.

    Args:
        source: A folder, a file, a pattern such as `train-*.tfrecord` or `{000..146}.tar`, an address for fsspec, or
            several files.
        format: One of the containers that `convert` knows; raises DataError if the content is something else.
        split: A part of the dataset such as `"train"`: the samples that belong to it, the folder of this name, or the
            files that begin with it.
        root: For lists: the folder that paths are relative to.
        allow_outside: For lists: permit paths that lead out of the root.
        path_column: For tables: the column of paths; found by its name if None.
        label_column: For tables: the column of labels; found by its name if None.

    Example:
        >>> dataset = open_dataset("photos")  # doctest: +SKIP
        >>> len(dataset), dataset[0].label, dataset[0].image().shape  # doctest: +SKIP
        (300, 0, (375, 500, 3))
    """
    columns = {"path_column": path_column, "label_column": label_column}
    container = open_container(source, format, split=split, root=root, allow_outside=allow_outside, **columns)
    return ImageDataset(container, numbers=range(len(container)), function=None)


def open_container(
    source: Source,
    format: str | None = None,
    *,
    split: str | None = None,
    root: str | None = None,
    allow_outside: bool = False,
    path_column: str | None = None,
    label_column: str | None = None,
) -> Dataset:
    """Open a dataset as its container defines it; see `open_dataset`."""
    if not isinstance(source, (str, os.PathLike, Sequence)):
        raise ArgumentError(f"open_dataset: expected a path, an address or a list of files, got {source!r}")
    columns = {"path_column": path_column, "label_column": label_column}
    return registry.open_dataset(
        expanded(source), format, split=split, root=root, allow_outside=allow_outside, **columns
    )


def expanded(source: Source) -> str | list[str]:
    """Return a source with the home folder of the user in place of `~`."""
    if not isinstance(source, (str, os.PathLike)):
        return [os.fspath(path) for path in source]
    text = storage.plain(os.fspath(source))
    return text if storage.is_remote(text) else os.path.expanduser(text)  # noqa: PTH111 - it may be a pattern
