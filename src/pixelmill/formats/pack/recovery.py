"""Finds the samples of a pack by their heads, where its index is damaged or cut off."""

from __future__ import annotations

from collections.abc import Mapping

from pixelmill.errors import DataError
from pixelmill.formats.annotations import apply_row, decode_row
from pixelmill.formats.faults import FaultKind, RecordFault
from pixelmill.formats.pack.frames import HEAD_BYTES, SAMPLE, Head, Read, check_parts
from pixelmill.formats.pack.table import Table
from pixelmill.formats.pack.table_builder import TableBuilder
from pixelmill.formats.sample import Sample

_WINDOW = 1 << 20  # bytes that are searched for the next sample at a time


def recover(
    path: str, read: Read, *, size: int, begin: int, codebooks: Mapping[int, bytes]
) -> tuple[Table, tuple[RecordFault, ...]]:
    """Return the samples of a file, and what is damaged.

    Args:
        path: The file, for messages.
        read: Reads a range of it.
        size: Its bytes.
        begin: Where its samples begin.
        codebooks: Its codebooks by identity.
    """
    found = _Recovery(path, read, size, codebooks)
    found.run(begin)
    return found.builder.finish(), tuple(found.faults)


def _described(parts: dict[str, bytes], *, where: str) -> Sample:
    """Return what the annotations of a sample say, without image, mask and features; `where` names it in errors."""
    row = decode_row(parts["annotations"], where=where)
    return apply_row(row, implied=Sample("", b"", ""), where=where)


class _Recovery:
    def __init__(self, path: str, read: Read, size: int, codebooks: Mapping[int, bytes]) -> None:
        self._path, self._read, self._size = path, read, size
        self.builder = TableBuilder(codebooks)
        self.faults: list[RecordFault] = []
        self._number = 0

    def run(self, at: int) -> None:
        """Search the file from a byte on."""
        while at < self._size:
            found = Head.decode(self._read(at, HEAD_BYTES))
            if found is None:
                begin, at = at, self._next(at + 1)
                self._lost(begin, at)
            else:
                self._take(at, *found)
                at = min(at + found[1].size, self._size)

    def _take(self, at: int, number: int, head: Head) -> None:
        self._number = number
        data = self._read(at + HEAD_BYTES, head.size - HEAD_BYTES)
        try:
            if len(data) != head.size - HEAD_BYTES:
                raise DataError("the file ends inside of the sample")
            self.builder.add(_described(check_parts(head, data), where=f"{self._path} at byte {at}"), head, offset=at)
        except DataError as error:
            kind: FaultKind = "truncated" if at + head.size > self._size else "corrupt"
            self.faults.append(RecordFault(self._path, number, at, min(head.size, self._size - at), kind, str(error)))

    def _lost(self, begin: int, end: int) -> None:
        """Note what lies between samples, unless it is what is left of the index."""
        if end < self._size or self._read(begin, len(SAMPLE)) == SAMPLE:
            text = "the head of a sample is damaged"
            self.faults.append(RecordFault(self._path, self._number + 1, begin, end - begin, "corrupt", text))

    def _next(self, at: int) -> int:
        """Return where the next head begins, or the end of the file."""
        while at < self._size:
            window = self._read(at, _WINDOW + HEAD_BYTES)
            place = window.find(SAMPLE)
            while place >= 0:
                if Head.decode(self._read(at + place, HEAD_BYTES)) is not None:
                    return at + place
                place = window.find(SAMPLE, place + 1)
            at += _WINDOW
        return self._size
