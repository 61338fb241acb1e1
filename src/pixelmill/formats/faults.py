"""What a container can be wrong about, and where: the result of scanning a record file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pixelmill.errors import Event
from pixelmill.formats.index import Index

FaultKind = Literal["checksum", "truncated", "corrupt", "too_large", "wrong_format"]


@dataclass(frozen=True)
class RecordFault:
    """A piece of a container that could not be used.

    Attributes:
        path: The file.
        record: The number of the record in the file, lost ones counted.
        offset: The first byte that is lost.
        length: How many bytes are lost.
        kind: What is wrong with it.
        message: The same in words.
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
        """Give the fault as what happened to a sample."""
        return Event(self.kind, self.message, sample=sample, epoch=0, path=self.path, offset=self.offset)


@dataclass(frozen=True, eq=False)
class Scan:
    """What a record file holds.

    Attributes:
        index: The records that are whole.
        faults: The pieces of the file that are lost, in its order.
    """

    index: Index
    faults: tuple[RecordFault, ...] = ()
