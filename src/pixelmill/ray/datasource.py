"""Datasets of any container as a source of Ray Data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from pixelmill.errors import ArgumentError, DataError, MissingDependency
from pixelmill.formats.columns import COLUMNS
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Sample
from pixelmill.pipeline.remote_program import fingerprint

try:
    import pyarrow as pa
    import ray.data
    from ray.data.block import BlockMetadata
    from ray.data.datasource import ReadTask
except ImportError:
    raise MissingDependency("ray[data]", "ray") from None

OnError = Literal["raise", "report"]

_TABLE_BYTES = 32 << 20  # of images in one table; a task yields as many tables as it needs
_SIZED = 64  # samples whose size is looked up to estimate that of all

_TYPES = {
    "image": pa.large_binary(),
    "label": pa.list_(pa.int64()),
    "target": pa.list_(pa.float32()),
    "boxes": pa.list_(pa.list_(pa.float32(), 4)),
    "box_label": pa.list_(pa.int64()),
    "mask": pa.large_binary(),
}


@dataclass(frozen=True)
class _Source:
    """What a task needs to read its samples.

    Attributes:
        paths: The dataset as the user named it.
        format: The container; None if its content says what it is.
        looks: What the dataset looked like on the driver.
        columns: The columns to read.
        on_error: What to do with a sample that cannot be read.
    """

    paths: tuple[str, ...]
    format: str | None
    looks: tuple[int | str, ...]
    columns: tuple[str, ...]
    on_error: OnError

    def schema(self) -> Any:
        """Return the types of the columns."""
        names = {"number": pa.int64(), "key": pa.string(), **{name: _TYPES[name] for name in self.columns}}
        return pa.schema({**names, "error": pa.string()} if self.on_error == "report" else names)


class DatasetSource(ray.data.Datasource):  # type: ignore[misc]
    """Samples of a dataset as rows; `read_dataset` documents the arguments and the columns."""

    def __init__(
        self,
        path: str | os.PathLike[str] | Sequence[str],
        *,
        format: str | None = None,
        columns: Sequence[str] = ("image", "label"),
        on_error: OnError = "raise",
    ) -> None:
        super().__init__()
        unknown = [name for name in columns if name not in COLUMNS]
        if unknown or isinstance(columns, str):
            raise ArgumentError(f"read_dataset: columns must be some of {', '.join(COLUMNS)}, got {columns!r}")
        if on_error not in ("raise", "report"):
            raise ArgumentError(f"read_dataset: on_error must be 'raise' or 'report', got {on_error!r}")
        paths = (os.fspath(path),) if isinstance(path, (str, os.PathLike)) else tuple(path)
        dataset = _open(paths, format)
        if dataset.faults and on_error == "raise":
            raise DataError(f"read_dataset: {dataset.faults[0]}; on_error='report' lists such pieces")
        self._faults = tuple(str(fault) for fault in dataset.faults)
        self._count = len(dataset)
        self._bytes = _estimated_bytes(dataset, mask="mask" in columns)
        self._source = _Source(paths, format, tuple(fingerprint(dataset.index)), tuple(columns), on_error)

    def estimate_inmemory_data_size(self) -> int:
        """Return about how many bytes all rows have."""
        return self._bytes

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: object = None
    ) -> list[Any]:
        """Return tasks that each read a run of samples, which lie next to each other in their files."""
        del data_context
        tasks = max(1, min(parallelism, self._count))
        bounds = [self._count * number // tasks for number in range(tasks + 1)]
        made = []
        for start, stop in pairwise(bounds):
            size = self._bytes * (stop - start) // max(self._count, 1)
            about = BlockMetadata(num_rows=stop - start, size_bytes=size, exec_stats=None, input_files=None)
            read = partial(_read, self._source, start, stop)
            made.append(ReadTask(read, about, self._source.schema(), per_task_row_limit=per_task_row_limit))
        if self._faults:
            about = BlockMetadata(num_rows=len(self._faults), size_bytes=1, exec_stats=None, input_files=None)
            made.append(ReadTask(partial(_lost, self._source, self._faults), about, self._source.schema()))
        return made


def read_dataset(
    path: str | os.PathLike[str] | Sequence[str],
    *,
    format: str | None = None,
    columns: Sequence[str] = ("image", "label"),
    on_error: OnError = "raise",
    **options: Any,
) -> ray.data.Dataset:
    """Read a dataset of any container with Ray Data.

    Each task reads a run of samples by their byte ranges. Rows have the columns `number` (of the sample in the
    dataset), `key`, and those that were asked for, with the names and types of `readers.dataset`: `image`, `label`,
    `target`, `boxes`, `box_label`, `mask`. Images and masks are encoded; `label`, `target` and boxes are lists.

    Args:
        path: A folder, a file, a pattern, an address, or several files. All nodes must see it.
        format: The container; recognized by its content if None.
        columns: The columns to read.
        on_error: `"raise"` ends the job at a damaged sample; `"report"` adds a column `error` that says what is wrong
            with a row, whose other columns are then null. Pieces of a container that are not even samples are rows
            with the number -1.
        options: Passed to `ray.data.read_datasource`, such as `override_num_blocks` and `concurrency`.
    """
    return ray.data.read_datasource(DatasetSource(path, format=format, columns=columns, on_error=on_error), **options)


@lru_cache(maxsize=4)
def _opened(source: _Source) -> Dataset:
    """Open the dataset of a task, once for all tasks of a process."""
    dataset = _open(source.paths, source.format)
    found = tuple(fingerprint(dataset.index))
    if found != source.looks:
        raise DataError(
            f"read_dataset: {dataset.source} looks different from here: {found[0]} samples, and {source.looks[0]} "
            "on the driver; all nodes must see the same files under the same paths"
        )
    return dataset


def _open(paths: tuple[str, ...], format: str | None) -> Dataset:
    return open_dataset(paths[0] if len(paths) == 1 else list(paths), format)


def _read(source: _Source, start: int, stop: int) -> Iterator[Any]:
    """Yield the samples of a range as tables; runs in a task."""
    dataset = _opened(source)
    rows: list[dict[str, object]] = []
    size = 0
    dataset.expect(range(start, stop))
    for number in range(start, stop):
        try:
            sample = dataset.sample(number)
            rows.append(_row(sample, number, source.columns))
            size += sample.size()
        except DataError as error:
            if source.on_error == "raise":
                raise
            rows.append({"number": number, "error": str(error)})
        if size >= _TABLE_BYTES:
            yield pa.Table.from_pylist(rows, schema=source.schema())
            rows, size = [], 0
    if rows:
        yield pa.Table.from_pylist(rows, schema=source.schema())


def _lost(source: _Source, faults: tuple[str, ...]) -> Iterator[Any]:
    rows = [{"number": -1, "error": fault} for fault in faults]
    yield pa.Table.from_pylist(rows, schema=source.schema())


def _row(sample: Sample, number: int, columns: Sequence[str]) -> dict[str, object]:
    if "label" in columns and not all(isinstance(label, int) for label in sample.labels):
        raise DataError(f"the labels of {sample.name} are not integers; read them as the column 'target'")
    boxes = sample.boxes
    known: dict[str, object] = {
        "image": sample.image,
        "label": sample.labels,
        "target": sample.labels,
        "boxes": [] if boxes is None else boxes.ltrb.tolist(),
        "box_label": [] if boxes is None or boxes.labels is None else boxes.labels.tolist(),
        "mask": sample.mask or b"",
    }
    return {"number": number, "key": sample.key, **{name: known[name] for name in columns}}


def _estimated_bytes(dataset: Dataset, *, mask: bool) -> int:
    """Return about how many bytes the images have, by the sizes of some samples."""
    count = len(dataset)
    chosen = np.unique(np.linspace(0, count - 1, min(_SIZED, count)).astype(np.int64))
    sizes = []
    for number in chosen:
        try:
            sizes.append(dataset.size(int(number)))
        except (OSError, DataError):
            sizes.append(0)
    return int(sum(sizes) / max(len(sizes), 1) * count * (1.5 if mask else 1.0))
