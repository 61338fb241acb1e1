"""MXNet RecordIO as a dataset: `.rec`, its `.idx`, the names in `.lst`, and what is left in a `.jsonl` beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import facts, recordio, storage
from pixelmill.formats.adapters.ranges import RangeReader, keys_and_offsets
from pixelmill.formats.adapters.records import check_sources, numbers_within, scan_all, stem
from pixelmill.formats.dataset import Dataset, Output, ShardWriter
from pixelmill.formats.kept_scans import scan_recordio
from pixelmill.formats.recordio import ListEntry
from pixelmill.formats.sample import Sample, image_type, split_name


class RecordIODataset(Dataset):
    """The records of one or several files.

    Args:
        source: What the user named.
        files: The `.rec` files.
    """

    format = "recordio"

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = check_sources(files, format="recordio")
        found = scan_all(self._names, scan_recordio, places=keys_and_offsets)
        self.index, self.faults = found.index, found.faults
        self._ranges = RangeReader()
        self._within = numbers_within(self.index)
        self._lists = [_read_list(name) for name in self._names]
        self._rows = [_read_rows(name) for name in self._names]

    def sample(self, number: int) -> Sample:
        file = int(self.index.files[number])
        path, offset = self.place(number)
        try:
            framed = self._ranges.read(path, offset or 0, int(self.index.lengths[number]))
            header, image = recordio.unpack(recordio.unframe(framed))
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        except DataError as error:
            raise self.error(number, "corrupt", str(error)) from None
        entry = self._lists[file].get(header.identifier)
        if entry is not None:
            key, extension = split_name(entry.path)
        else:
            key, extension = f"{stem(self._names[file])}-{self._within[number]:08d}", image_type(image) or "bin"
        if not np.isfinite(header.labels).all():
            raise self.error(number, "corrupt", f"a label is not a finite number: {header.labels}")
        implied = Sample(key, image, extension, header.labels)
        where, row = self._rows[file].get(header.identifier, ("", None))
        return implied if row is None else facts.apply(row, implied=implied, where=where)

    def size(self, number: int) -> int:
        return int(self.index.lengths[number])

    @property
    def layout(self) -> str:
        return "image records with names" if any(self._lists) else "image records"

    @property
    def files(self) -> tuple[str, ...]:
        beside = [f"{_base(name)}.lst" for name, found in zip(self._names, self._lists, strict=True) if found]
        beside += [f"{_base(name)}.jsonl" for name, found in zip(self._names, self._rows, strict=True) if found]
        return (*self._names, *beside)


class RecordIOWriter(ShardWriter):
    """Writes records, their index, and their names.

    Args:
        open_file: Opens a file of the shard.
        names: `records`, `index`, `list` and `annotations`.
    """

    def __init__(self, open_file: Callable[[str], Output], names: Mapping[str, str]) -> None:
        super().__init__(open_file, names)
        self._stack = ExitStack()
        stream = self._stack.enter_context(open_file(names["records"]))
        self._writer = self._stack.enter_context(recordio.RecordWriter(stream))
        self._index: list[tuple[int, int]] = []
        self._list: list[ListEntry] = []
        self._rows: list[bytes] = []

    def add(self, sample: Sample, *, name: str | None = None) -> None:
        number = self.samples
        labels = [float(label) for label in sample.labels] or [0.0]
        path = name or sample.name
        if any(c in path for c in "\t\n\r") or path != path.strip() or not path:
            path = f"sample-{number:08d}.{image_type(sample.image) or 'bin'}"
        key, extension = split_name(path)
        # A label that float32 cannot hold comes back changed, and the row then has it in full.
        implied = Sample(key, b"", extension, tuple(np.asarray(labels, np.float32).tolist()))
        row = facts.difference(sample, implied=implied, mask=True)
        offset, _ = self._writer.write_image(labels, number, sample.image)
        self._index.append((number, offset))
        self._list.append(ListEntry(number, tuple(labels), path))
        if row:
            self._rows.append(facts.encode_row({"id": number, **row}))
        self.samples += 1

    def close(self) -> None:
        self._stack.close()
        with self._open_file(self._names["index"]) as stream:
            stream.write(recordio.index_text(self._index))
        with self._open_file(self._names["list"]) as stream:
            stream.write(recordio.list_text(self._list))
        if self._rows:
            with self._open_file(self._names["annotations"]) as stream:
                stream.write(b"".join(row + b"\n" for row in self._rows))


def _base(path: str) -> str:
    return split_name(path)[0]


def _beside(path: str, ending: str) -> str | None:
    """Find the file with another ending beside a record file."""
    wanted = f"{_base(path)}.{ending}"
    folder, _, name = wanted.rpartition("/")
    found = name in storage.list_folder(folder or ".")[1]
    return storage.local_path(wanted) if found else None


def _read_list(path: str) -> dict[int, ListEntry]:
    beside = _beside(path, "lst")
    return {} if beside is None else {entry.identifier: entry for entry in recordio.read_list(beside)}


def _read_rows(path: str) -> dict[int, tuple[str, dict[str, Any]]]:
    beside = _beside(path, "jsonl")
    rows: dict[int, tuple[str, dict[str, Any]]] = {}
    for number, line in enumerate(storage.read_file(beside, limit=1 << 33).split(b"\n") if beside else (), start=1):
        if line.strip():
            where = f"{beside}:{number}"
            row = facts.decode_row(line, where=where)
            if not isinstance(row.get("id"), int):
                raise DataError(f"annotations: {where} has no id of a record")
            rows[row["id"]] = (where, row)
    return rows
