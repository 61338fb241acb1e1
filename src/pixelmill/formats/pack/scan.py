"""What a pack file holds: its index if that is intact, else what its samples say themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats import example
from pixelmill.formats.annotations import apply_row, decode_row
from pixelmill.formats.faults import FaultKind, RecordFault
from pixelmill.formats.index import INDEX_BYTES
from pixelmill.formats.pack import index_section
from pixelmill.formats.pack.frames import (
    FOOTER_BYTES,
    HEAD_BYTES,
    HEADER_BYTES,
    MAGIC,
    SAMPLE,
    Footer,
    Head,
    crc,
    decode_header,
    header_length,
)
from pixelmill.formats.pack.table import Table
from pixelmill.formats.pack.table_builder import TableBuilder
from pixelmill.formats.sample import Sample

Read = Callable[[int, int], bytes]  # offset and length; shorter where the file ends

_WINDOW = 1 << 20  # bytes that are searched for the next sample at a time


@dataclass(frozen=True, eq=False)
class PackFile:
    """The content of a file.

    Attributes:
        path: The file.
        table: Its samples.
        codebooks: Its codebooks by identity.
        faults: What is damaged; samples that are known by the index alone are checked when they are read.
    """

    path: str
    table: Table
    codebooks: dict[int, bytes]
    faults: tuple[RecordFault, ...] = ()


def scan(path: str, read: Read, *, size: int) -> PackFile:
    """Return the content of a file.

    Of a file at an address only footer and index are read, in two ranges: the header repeats what the index has.

    Args:
        path: The file, for messages.
        read: Reads a range of it.
        size: Its bytes.

    Raises:
        DataError: The file is not a pack.
    """
    faults: list[RecordFault] = []
    header = None if storage.is_remote(path) else _header(path, read, size, faults)
    try:
        table = _indexed(read, size, header)
    except DataError as error:
        faults.append(_fault(path, 0, 0, "checksum", f"index: {error}; samples are found by their heads"))
        header = header or _header(path, read, size, [])
        return _recovered(path, read, size, header or _Header({}, 0), faults)
    own = table.codebooks()
    if header is not None and own != header.codebooks:
        faults.append(_fault(path, 0, 0, "corrupt", "header and index hold different codebooks"))
    return PackFile(path, table, own, tuple(faults))


def check_parts(head: Head, data: bytes) -> dict[str, bytes]:
    """Return the parts of a sample by name; raises DataError if any is damaged.

    Args:
        head: Its lengths and checksums.
        data: The bytes after its head, with padding.
    """
    parts: dict[str, bytes] = {}
    at = 0
    for name, length, checksum in head.parts:
        piece = data[at : at + length]
        at += length
        if len(piece) != length:
            raise DataError(f"{name}: {length} bytes are declared, but only {len(piece)} exist")
        if crc(piece) != checksum:
            raise DataError(f"{name}: the checksum does not match")
        parts[name] = piece
    if data[at:].strip(b"\0"):
        raise DataError("the padding is not zero")
    return parts


def described(parts: dict[str, bytes], *, where: str) -> Sample:
    """Return what the annotations of a sample say, without image, mask and features; `where` names it in errors."""
    row = decode_row(parts["annotations"], where=where)
    return apply_row(row, implied=Sample("", b"", ""), where=where)


def features(data: bytes) -> example.Example:
    """Return the features that have no other place in a sample."""
    return example.decode(data) if data else example.Example()


class _Header(NamedTuple):
    codebooks: dict[int, bytes]
    length: int


def _header(path: str, read: Read, size: int, faults: list[RecordFault]) -> _Header | None:
    """Return the header, or None and a fault if it is damaged."""
    start = read(0, HEADER_BYTES)
    if not start.startswith(MAGIC) and not _has_footer(read, size):
        message = f"pack: the file begins with {start[:8]!r} and has no footer; it is not a pack"
        wrong = _fault(path, 0, 0, "wrong_format", message)
        raise DataError(str(wrong), (wrong.event(0),))
    try:
        length = header_length(start)
        return _Header(decode_header(read(0, length)), length)
    except DataError as error:
        faults.append(_fault(path, 0, 0, "checksum", f"header: {error}"))
        return None


def _indexed(read: Read, size: int, header: _Header | None) -> Table:
    footer = Footer.decode(read(size - FOOTER_BYTES, FOOTER_BYTES) if size >= FOOTER_BYTES else b"", size=size)
    if footer.index_length > INDEX_BYTES:
        raise DataError(f"an index of {footer.index_length} bytes; the limit is {INDEX_BYTES}")
    data = read(footer.index_offset, footer.index_length)
    if len(data) != footer.index_length or crc(data) != footer.index_crc:
        raise DataError("the checksum does not match")
    begin = -1 if header is None else header.length
    return index_section.decode(data, samples=footer.samples, begin=begin, end=footer.index_offset)


class _Recovery:
    """Finds samples by their heads, in a file whose index is damaged or cut off."""

    def __init__(self, path: str, read: Read, size: int, codebooks: dict[int, bytes]) -> None:
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
            self.builder.add(described(check_parts(head, data), where=f"{self._path} at byte {at}"), head, offset=at)
        except DataError as error:
            kind: FaultKind = "truncated" if at + head.size > self._size else "corrupt"
            self.faults.append(_fault(self._path, at, min(head.size, self._size - at), kind, str(error), number))

    def _lost(self, begin: int, end: int) -> None:
        """Note what lies between samples, unless it is what is left of the index."""
        if end < self._size or self._read(begin, len(SAMPLE)) == SAMPLE:
            text = "the head of a sample is damaged"
            self.faults.append(_fault(self._path, begin, end - begin, "corrupt", text, self._number + 1))

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


def _recovered(path: str, read: Read, size: int, header: _Header, faults: list[RecordFault]) -> PackFile:
    found = _Recovery(path, read, size, header.codebooks)
    found.run(header.length)
    return PackFile(path, found.builder.finish(), header.codebooks, (*faults, *found.faults))


def _has_footer(read: Read, size: int) -> bool:
    try:
        Footer.decode(read(max(0, size - FOOTER_BYTES), FOOTER_BYTES), size=size)
    except DataError:
        return False
    return True


def _fault(path: str, offset: int, length: int, kind: FaultKind, message: str, record: int = -1) -> RecordFault:
    return RecordFault(path, record, offset, length, kind, message)
