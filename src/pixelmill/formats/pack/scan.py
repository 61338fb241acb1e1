"""What a pack file holds: its index if that is intact, else what its samples say themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats import example
from pixelmill.formats.faults import FaultKind, RecordFault
from pixelmill.formats.index import INDEX_BYTES
from pixelmill.formats.pack import index_section
from pixelmill.formats.pack.frames import (
    FOOTER_BYTES,
    HEADER_BYTES,
    MAGIC,
    Footer,
    Read,
    crc,
    decode_header,
    header_length,
)
from pixelmill.formats.pack.table import Table


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
        from pixelmill.formats.pack.recovery import recover  # on use: few indexes are damaged

        codebooks, begin = header or _Header({}, 0)
        table, lost = recover(path, read, size=size, begin=begin, codebooks=codebooks)
        return PackFile(path, table, codebooks, (*faults, *lost))
    own = table.codebooks()
    if header is not None and own != header.codebooks:
        faults.append(_fault(path, 0, 0, "corrupt", "header and index hold different codebooks"))
    return PackFile(path, table, own, tuple(faults))


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


def _has_footer(read: Read, size: int) -> bool:
    try:
        Footer.decode(read(max(0, size - FOOTER_BYTES), FOOTER_BYTES), size=size)
    except DataError:
        return False
    return True


def _fault(path: str, offset: int, length: int, kind: FaultKind, message: str) -> RecordFault:
    return RecordFault(path, -1, offset, length, kind, message)
