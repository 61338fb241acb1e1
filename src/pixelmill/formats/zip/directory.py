"""The central directory of a zip archive, found by the end record at the end of the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pixelmill.formats.faults import FaultKind
from pixelmill.formats.zip.frames import (
    END,
    END64,
    END64_FIELDS,
    END_FIELDS,
    ENTRY,
    HEADER,
    LOCATOR64,
    LOCATOR64_FIELDS,
    Header,
    parse_entry,
)

_LONGEST_COMMENT = 0xFFFF

Read = Callable[[int, int], bytes]  # offset and length


class LostDirectoryError(Exception):
    """Raised if an archive has no usable central directory."""

    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind


@dataclass(frozen=True)
class Directory:
    """The place of a central directory.

    Attributes:
        offset: Its offset.
        size: Its size in bytes.
        entries: The number of members that it declares.
    """

    offset: int
    size: int
    entries: int


@dataclass(frozen=True)
class Damage:
    """What is wrong with a central directory.

    Attributes:
        offset: Where the damage begins.
        length: How many bytes of the directory are lost.
        message: What it is.
    """

    offset: int
    length: int
    message: str


def find_directory(read: Read, size: int) -> Directory:
    """Return the place of the central directory.

    Args:
        read: Reads bytes of the archive.
        size: The size of the archive.

    Raises:
        LostDirectoryError: There is none, or it does not lie where the end record says.
    """
    end, (disk, disk_of_directory, here, entries, length, offset) = _end_record(read, size)
    zip64 = _zip64_directory(read, end)
    if zip64 is None and (disk or disk_of_directory or here != entries):
        raise LostDirectoryError("unsupported", "the archive is split over several files")
    directory, expected_end = zip64 or (Directory(offset, length, entries), end)
    # Bytes that were inserted or removed anywhere move the directory, and so do bytes put before the archive.
    if directory.offset + directory.size != expected_end:
        raise LostDirectoryError("corrupt", "the central directory is not where the end of the archive says")
    if directory.size and read(directory.offset, len(ENTRY)) != ENTRY:
        raise LostDirectoryError("corrupt", "the central directory does not begin with an entry")
    return directory


def read_entries(read: Read, directory: Directory) -> tuple[list[Header], Damage | None]:
    """Return the entries of a central directory up to the first damage, and that."""
    data = read(directory.offset, directory.size)
    found: list[Header] = []
    position = 0
    while position < len(data):
        entry = parse_entry(data, position)
        if entry is None:
            where = directory.offset + position
            return found, Damage(where, len(data) - position, "an entry of the central directory is damaged")
        found.append(entry)
        position += entry.length
    if len(found) != directory.entries:
        text = f"the central directory declares {directory.entries} entries and has {len(found)}"
        return found, Damage(directory.offset, 0, text)
    return found, None


def _end_record(read: Read, size: int) -> tuple[int, tuple[int, ...]]:
    """Return the offset and the fields of the end record: the last one whose comment reaches to the end."""
    begin = max(0, size - END_FIELDS.size - _LONGEST_COMMENT)
    tail = read(begin, size - begin)
    place = tail.rfind(END)
    while place >= 0:
        if place + END_FIELDS.size <= len(tail):
            _, *fields, comment = END_FIELDS.unpack_from(tail, place)
            if place + END_FIELDS.size + comment == len(tail):
                return begin + place, tuple(fields)
        place = tail.rfind(END, 0, place)
    kind: FaultKind = "truncated" if read(0, len(HEADER)) == HEADER else "wrong_format"
    raise LostDirectoryError(kind, "the archive ends without its central directory; it may be cut")


def _zip64_directory(read: Read, end: int) -> tuple[Directory, int] | None:
    """Return the directory that the zip64 end record describes and where it must end; None if there is none."""
    at = end - LOCATOR64_FIELDS.size
    locator = read(at, LOCATOR64_FIELDS.size) if at >= 0 else b""
    if not locator.startswith(LOCATOR64):
        return None
    _, disk, offset, disks = LOCATOR64_FIELDS.unpack(locator)
    record = read(offset, END64_FIELDS.size) if offset < at else b""
    if len(record) < END64_FIELDS.size or not record.startswith(END64):
        raise LostDirectoryError("corrupt", "the zip64 end record is not where its locator says")
    _, _, _, _, own_disk, other_disk, here, entries, length, begin = END64_FIELDS.unpack(record)
    if disk or disks > 1 or own_disk or other_disk or here != entries:
        raise LostDirectoryError("unsupported", "the archive is split over several files")
    return Directory(begin, length, entries), offset
