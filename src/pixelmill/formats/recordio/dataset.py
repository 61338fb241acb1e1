"""RecordIO files as a dataset: images and labels in `.rec`, names in `.lst`, annotations in `.jsonl`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.annotations import Row, apply_row, read_rows
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.faults import RecordFault
from pixelmill.formats.record_files import check_sources, numbers_within, scan_all, stem
from pixelmill.formats.recordio.frames import unframe
from pixelmill.formats.recordio.lists import ListEntry, read_list
from pixelmill.formats.recordio.records import Header, labels_of, unpack
from pixelmill.formats.recordio.scan import cached_scan
from pixelmill.formats.remote_records import keys_and_offsets
from pixelmill.formats.sample import Sample, image_type, split_name
from pixelmill.storage.ranges import Range

_START = 256  # bytes that most headers fit into


class RecordIODataset(Dataset):
    """The records of one or several files.

    Args:
        source: The dataset as the user named it.
        files: The `.rec` files.
    """

    format = "recordio"
    is_recordio = True
    values_apart = True

    def __init__(self, source: str, *, files: Sequence[str]) -> None:
        self.source = source
        self._names = check_sources(files, format="recordio")
        found = scan_all(self._names, cached_scan, places=keys_and_offsets)
        self.index, self.faults = found.index, found.faults
        self._within = numbers_within(self.index)
        self._lists = [_read_list(name) for name in self._names]
        read = [_read_rows(name) for name in self._names]
        self._rows = [rows for rows, _ in read]
        self.faults += tuple(fault for _, faults in read for fault in faults)

    def sample(self, number: int) -> Sample:
        path, offset = self.place(number)
        try:
            framed = self._ranges.read(path, offset or 0, int(self.index.lengths[number]))
            header, image = unpack(unframe(framed))
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        except DataError as error:
            raise self.error(number, "corrupt", str(error)) from None
        return self._described(number, header, image)

    def _described(self, number: int, header: Header, image: bytes) -> Sample:
        file = int(self.index.files[number])
        entry = self._lists[file].get(header.identifier)
        if entry is not None:
            key, extension = split_name(entry.path)
        else:
            key, extension = f"{stem(self._names[file])}-{self._within[number]:08d}", image_type(image) or "bin"
        if not np.isfinite(header.labels).all():
            raise self.error(number, "corrupt", f"a label is not a finite number: {header.labels}")
        implied = Sample(key, image, extension, header.labels)
        where, row = self._rows[file].get(header.identifier, ("", None))
        return implied if row is None else apply_row(row, implied=implied, where=where)

    def description(self, number: int) -> Sample:
        """Read the header alone, unless it is split or longer than usual."""
        path, offset = self.place(number)
        length = int(self.index.lengths[number])
        try:
            start = self._ranges.read(path, offset or 0, min(length, _START))
            header = labels_of(start)
        except OSError as error:
            raise self.error(number, "io", f"{error.strerror or error}") from None
        return self.sample(number) if header is None else self._described(number, header, b"")

    def _description_parts(self, number: int) -> Sequence[Range]:
        path, offset = self.place(number)
        return [Range(path, offset or 0, min(int(self.index.lengths[number]), _START))]

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


def _base(path: str) -> str:
    return split_name(path)[0]


def _beside(path: str, ending: str) -> str | None:
    """Return the file with another ending beside a record file, or None."""
    wanted = f"{_base(path)}.{ending}"
    return storage.local_path(wanted) if storage.has_file(wanted) else None


def _read_list(path: str) -> dict[int, ListEntry]:
    beside = _beside(path, "lst")
    return {} if beside is None else {entry.identifier: entry for entry in read_list(beside)}


def _read_rows(path: str) -> tuple[dict[int, tuple[str, Row]], list[RecordFault]]:
    beside = _beside(path, "jsonl")
    rows: dict[int, tuple[str, Row]] = {}
    found, faults = read_rows(beside) if beside else ([], [])
    for where, row in found:
        identifier = row.get("id")
        if not isinstance(identifier, int):
            line = int(where.rpartition(":")[2])
            faults.append(RecordFault(beside or "", line - 1, 0, 0, "corrupt", f"{where} has no id of a record"))
            continue
        rows[identifier] = (where, row)
    return rows, faults
