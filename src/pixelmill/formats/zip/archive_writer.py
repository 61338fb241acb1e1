"""Writes zip archives whose bytes depend on names and contents alone: no times, no owners, nothing packed."""

from __future__ import annotations

import zlib

from pixelmill.errors import ArgumentError
from pixelmill.formats.record_writer import Writable
from pixelmill.formats.zip.frames import (
    ALL_ONES,
    END,
    END64,
    END64_FIELDS,
    END_FIELDS,
    ENTRY,
    ENTRY_FIELDS,
    HEADER,
    HEADER_FIELDS,
    LOCATOR64,
    LOCATOR64_FIELDS,
    MANY,
    STORED,
    UTF8,
    zip64_extra,
)
from pixelmill.formats.zip.members import LARGEST_MEMBER, Member

_VERSION, _VERSION64 = 20, 45  # what a reader must understand: folders; zip64
_UNIX = 3 << 8
_TIME, _DATE = 0, 0x21  # midnight of 1 January 1980, the first that the format can express
_MODE = 0o100644 << 16


class ArchiveWriter:
    """Writes an archive with stored members: images are packed already.

    Args:
        stream: A file open for binary writing.
        position: The offset at which the archive begins in the file.
    """

    def __init__(self, stream: Writable, *, position: int = 0) -> None:
        self._stream = stream
        self._position = position
        self._members: list[Member] = []

    def write(self, name: str, data: bytes) -> Member:
        """Add a file."""
        if len(data) > LARGEST_MEMBER:
            raise ArgumentError(f"zip: {name} has {len(data)} bytes; the limit is {LARGEST_MEMBER}")
        encoded, begin, crc = name.encode(), self._position, zlib.crc32(data)
        sizes = (crc, len(data), len(data), len(encoded), 0)
        self._put(HEADER_FIELDS.pack(HEADER, _VERSION, UTF8, STORED, _TIME, _DATE, *sizes) + encoded)
        member = Member(name, begin, self._position, len(data), len(data), crc, STORED)
        self._put(data)
        self._members.append(member)
        return member

    def close(self) -> None:
        """Write the central directory. The stream stays open."""
        begin = self._position
        for member in self._members:
            self._put(_entry(member))
        length, count, end = self._position - begin, len(self._members), self._position
        if count >= MANY or begin >= ALL_ONES or length >= ALL_ONES:
            rest = END64_FIELDS.size - 12  # the size of the record, without signature and this field
            versions = (_UNIX | _VERSION64, _VERSION64)
            self._put(END64_FIELDS.pack(END64, rest, *versions, 0, 0, count, count, length, begin))
            self._put(LOCATOR64_FIELDS.pack(LOCATOR64, 0, end, 1))
        shown = min(count, MANY)
        sizes = (min(length, ALL_ONES), min(begin, ALL_ONES))
        self._put(END_FIELDS.pack(END, 0, 0, shown, shown, *sizes, 0))

    def _put(self, data: bytes) -> None:
        self._stream.write(data)
        self._position += len(data)


def _entry(member: Member) -> bytes:
    far = member.header >= ALL_ONES
    name, extra = member.name.encode(), zip64_extra(member.header) if far else b""
    version = _VERSION64 if far else _VERSION
    head = (ENTRY, _UNIX | version, version, UTF8, STORED, _TIME, _DATE, member.crc, member.packed, member.size)
    rest = (len(name), len(extra), 0, 0, 0, _MODE, min(member.header, ALL_ONES))
    return ENTRY_FIELDS.pack(*head, *rest) + name + extra
