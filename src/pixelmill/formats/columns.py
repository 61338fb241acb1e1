"""The columns of a dataset for training: the same names and types for every container.

| column | type |
|---|---|
| `image` | the encoded image, uint8, one axis |
| `label` | its labels as integers, int64, one axis |
| `target` | its labels as floats, float32, one axis |
| `boxes` | left, top, right, bottom as fractions of the size, float32, (n, 4) |
| `box_label` | the class of each box, int64, one axis |
| `corners` | x and y of the four corners of each box as fractions of the size, float32, (n, 4, 2) |
| `mask` | the encoded mask, uint8, one axis; empty if there is none |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats import index_cache
from pixelmill.formats.column_copy import copied_ranges, dataset_stamp, first_event
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.index import Array, Index, Ragged
from pixelmill.formats.sample import Label, Sample

Item = int | RecordFault  # the number of a sample, or a damaged piece of the container
Lost = dict[int, tuple[str, str]]  # items that cannot be read: kind and message

CACHED_FROM = 5000  # samples of record files; the labels of fewer are collected in a moment
BYTES: tuple[BytesColumn, ...] = ("image", "mask")
VALUES = ("label", "target", "boxes", "box_label", "corners")
COLUMNS = ("image", *VALUES, "mask")


def column_index(dataset: Dataset, names: Sequence[str]) -> Index:
    """Index a dataset for a reader: columns of bytes are parts of the index, the others are its columns.

    Damaged pieces of the container are items too, so that `on_error` decides about them.

    Args:
        dataset: The dataset.
        names: Some of `COLUMNS`.
    """
    items = _items(dataset)
    values = [name for name in VALUES if name in names]
    # The values of most records are in them: who collects them reads all, so the copy that this leaves is read later.
    fetch = _fetched if values and len(dataset.index.files) and not dataset.values_apart else _unchanged
    lost: Lost = {place: (item.kind, item.message) for place, item in enumerate(items) if isinstance(item, RecordFault)}
    columns = _values(dataset, items, lost, values)
    parts: dict[str, Index] = {name: fetch(_part(dataset, items, lost, name)) for name in BYTES if name in names}
    return replace(fetch(_arranged(dataset.index, items)), columns=columns, parts=parts, lost=lost)


def _fetched(index: Index) -> Index:
    """Replace files at addresses by copies on this machine."""
    return replace(index, paths=storage.local_paths(index.paths), versions=())


def _unchanged(index: Index) -> Index:
    return index


def _items(dataset: Dataset) -> Sequence[Item]:
    """Return the numbers of the samples, with the damaged pieces of the container in their places."""
    faults = [fault for fault in dataset.faults if fault.length > 0]
    if not faults:
        return range(len(dataset))
    index = dataset.index
    numbers = {path: number for paths in (index.paths, index.names) for number, path in enumerate(paths)}
    places: list[tuple[int, int, Item]] = [
        (file, offset, number)
        for number, (file, offset) in enumerate(zip(index.files.tolist(), index.offsets.tolist(), strict=True))
    ]
    places += [(numbers.get(fault.path, 0), fault.offset, fault) for fault in faults]
    return [item for _, _, item in sorted(places, key=lambda place: place[:2])]


def _part(dataset: Dataset, items: Sequence[Item], lost: Lost, name: BytesColumn) -> Index:
    found = dataset.byte_ranges(name)
    if found is None:
        found = copied_ranges(dataset, name)
    for place, item in enumerate(items):
        if not isinstance(item, RecordFault) and item in found.lost:
            lost.setdefault(place, found.lost[item])
    return _arranged(found, items)


def _arranged(index: Index, items: Sequence[Item]) -> Index:
    """Bring the ranges of samples into the order of `items`."""
    if isinstance(items, range):
        return replace(index, lost={})
    numbers = np.array([0 if isinstance(item, RecordFault) else item for item in items], np.int64)
    empty = np.array([isinstance(item, RecordFault) for item in items])
    files, offsets = index.files[numbers], index.offsets[numbers]
    lengths = np.where(empty, 0, index.lengths[numbers])
    return replace(index, files=files, offsets=offsets, lengths=lengths, lost={}, columns={}, parts={})


@dataclass
class _Column:
    """A column under construction.

    Attributes:
        convert: Returns the rows of a sample.
        dtype: The type of the column.
        row_shape: The shape of a row; () for numbers.
        values: The rows of all items so far; numbers in one list, since most items have a single one.
        counts: The number of rows of each item.
    """

    convert: Callable[[Sample], Sequence[Label] | Array]
    dtype: type[np.generic]
    row_shape: tuple[int, ...] = ()
    values: list[Label | Array] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def add(self, rows: Sequence[Label] | Array) -> None:
        """Append the rows of an item."""
        self.values.extend(rows)
        self.counts.append(len(rows))

    def finished(self) -> Ragged:
        """Return the column."""
        starts = np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)
        return Ragged(np.array(self.values, self.dtype).reshape(-1, *self.row_shape), starts)


def _box_labels(sample: Sample) -> Sequence[int] | Array:
    """Return the classes of boxes; nothing if the dataset does not have them."""
    return () if sample.boxes is None or sample.boxes.labels is None else sample.boxes.labels


def _columns(names: Sequence[str]) -> dict[str, _Column]:
    known = {
        "label": _Column(_integers, np.int64),
        "target": _Column(lambda sample: sample.labels, np.float32),
        "boxes": _Column(lambda sample: () if sample.boxes is None else sample.boxes.ltrb, np.float32, (4,)),
        "box_label": _Column(_box_labels, np.int64),
        "corners": _Column(lambda sample: () if sample.boxes is None else sample.boxes.corners(), np.float32, (4, 2)),
    }
    return {name: known[name] for name in names}


def _values(dataset: Dataset, items: Sequence[Item], lost: Lost, names: Sequence[str]) -> Mapping[str, Array | Ragged]:
    """Return the values of all samples, from the cache if possible; a sample whose values cannot be used is lost."""
    if isinstance(items, range):
        direct = {name: column for name in names if (column := dataset.values(name)) is not None}
        if len(direct) == len(names):
            return direct
    # The files of other datasets are one for each sample: comparing their times would take as long as their names do.
    is_cached = bool(names) and len(dataset) >= CACHED_FROM and bool(len(dataset.index.files)) and not lost
    kind = " ".join(["columns", *names, *([dataset.part] if dataset.part else [])])
    stamp = dataset_stamp(dataset) if is_cached else (0, 0)
    kept = index_cache.load(dataset.files[0], kind, stamp=stamp) if is_cached else None
    found = None if kept is None else _unpacked(kept, names, len(items))
    if found is None:
        found = _collected(dataset, items, lost, names)
        if is_cached and not lost:
            arrays = {f"{name} {part}": getattr(found[name], part) for name in names for part in ("rows", "starts")}
            index_cache.store(dataset.files[0], kind, arrays, stamp=stamp)
    return found


def _unpacked(kept: dict[str, Array], names: Sequence[str], count: int) -> dict[str, Ragged] | None:
    """Rebuild columns from the cache; None if they cannot be those of so many items."""
    columns = {}
    for name, column in _columns(names).items():
        rows, starts = kept.get(f"{name} rows"), kept.get(f"{name} starts")
        if rows is None or starts is None or starts.dtype != np.int64:
            return None
        if starts.shape != (count + 1,) or starts[0] != 0:
            return None
        if rows.dtype != column.dtype or rows.shape[1:] != column.row_shape or starts[-1] != len(rows):
            return None
        if (np.diff(starts) < 0).any():
            return None
        columns[name] = Ragged(rows, starts)
    return columns


def _collected(dataset: Dataset, items: Sequence[Item], lost: Lost, names: Sequence[str]) -> dict[str, Ragged]:
    columns = _columns(names)
    described = dataset.outline if "corners" in columns else dataset.description  # which may leave outlines out
    if columns and dataset.values_apart:
        expect = dataset.expect_outlines if "corners" in columns else dataset.expect_descriptions
        expect(item for item in items if not isinstance(item, RecordFault))
    for place, item in enumerate(items if columns else ()):
        rows: dict[str, Sequence[Label] | Array] = dict.fromkeys(columns, ())
        if not isinstance(item, RecordFault):
            try:
                sample = described(item)
                rows = {name: column.convert(sample) for name, column in columns.items()}
            except DataError as error:
                lost[place] = first_event(error)
        for name, row in rows.items():
            columns[name].add(row)
    return {name: column.finished() for name, column in columns.items()}


def _integers(sample: Sample) -> Sequence[Label]:
    if not all(isinstance(label, int) for label in sample.labels):
        text = ", ".join(map(str, sample.labels[:4]))
        raise DataError(f"the labels {text} of {sample.name} are not integers; read them as the column 'target'")
    return sample.labels
