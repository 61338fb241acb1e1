"""The result of scanning a record file: its records, and what is damaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pixelmill.errors import Event
from pixelmill.formats.index import Array, Index

FaultKind = Literal["checksum", "truncated", "corrupt", "too_large", "unsupported", "wrong_format"]


@dataclass(frozen=True)
class RecordFault:
    """A piece of a container that cannot be used.

    Attributes:
        path: The file.
        record: The number of the record in the file, counting lost ones.
        offset: The first byte that is lost.
        length: The number of bytes that are lost.
        kind: The kind of damage.
        message: The damage in words.
    """

    path: str
    record: int
    offset: int
    length: int
    kind: FaultKind
    message: str

    def __str__(self) -> str:
        return f"{self.message} (record {self.record}, {self.length} bytes at byte {self.offset} of {self.path})"

    def event(self, sample: int) -> Event:
        """Return the fault as an event of a sample."""
        return Event(self.kind, self.message, sample=sample, epoch=0, path=self.path, offset=self.offset)


@dataclass(frozen=True, eq=False)
class Scan:
    """The content of a record file.

    Attributes:
        index: The records that are intact.
        faults: The pieces of the file that are lost, in file order.
    """

    index: Index
    faults: tuple[RecordFault, ...] = ()


def joined(scans: Sequence[Scan]) -> Index:
    """Join the scans of several files into one index. Lost pieces are items too; reading one raises its fault."""
    files: list[int] = []
    offsets: list[int] = []
    lengths: list[int] = []
    lost: dict[int, tuple[str, str]] = {}
    for number, scan in enumerate(scans):
        found = [(int(a), int(b), None) for a, b in zip(scan.index.offsets, scan.index.lengths, strict=True)]
        damaged = [(fault.offset, fault.length, fault) for fault in scan.faults if fault.length > 0]
        for offset, length, fault in sorted([*found, *damaged], key=lambda item: item[0]):
            if fault is not None:
                lost[len(files)] = (fault.kind, fault.message)
            files.append(number)
            offsets.append(offset)
            lengths.append(length)
    paths = [path for scan in scans for path in scan.index.paths]
    return Index(paths, numbers(files), numbers(offsets), numbers(lengths), lost=lost)


def numbers(values: Sequence[int]) -> Array:
    """Return numbers as an array of the type that an index has."""
    return np.array(values, np.int64)
