"""The structures of zip archives (APPNOTE.TXT 6.3): headers of members, the central directory and its end.

All numbers are little-endian. A member is a local header, its name, an extra field, and the content. The central
directory at the end lists all members with their offsets; the end record after it says where it begins. Numbers that
do not fit are all ones, and stand in the zip64 extra field or the zip64 end record instead.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEADER, ENTRY, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
END64, LOCATOR64 = b"PK\x06\x06", b"PK\x06\x07"

# Signature, version, flags, method, time, date, CRC, packed size, size, length of the name and of the extra field.
HEADER_FIELDS = struct.Struct("<4s5H3L2H")
# The same with the version of the writer before and, at the end, comment, disk, two attributes, and the offset.
ENTRY_FIELDS = struct.Struct("<4s6H3L5H2L")
# Disk, disk of the directory, entries on this disk, entries, size and offset of the directory, length of the comment.
END_FIELDS = struct.Struct("<4s4H2LH")
END64_FIELDS = struct.Struct("<4sQ2H2L4Q")
LOCATOR64_FIELDS = struct.Struct("<4sLQL")

STORED, DEFLATED = 0, 8
ENCRYPTED, SIZES_FOLLOW, UTF8 = 1 << 0, 1 << 3, 1 << 11  # flags
ALL_ONES = 0xFFFFFFFF
MANY = 0xFFFF
_ZIP64 = 1  # id of the extra field


@dataclass(frozen=True, slots=True)
class Header:
    """The description of a member, in its local header or in the central directory.

    Attributes:
        name: The name as stored.
        flags: Bits of `ENCRYPTED`, `SIZES_FOLLOW`, `UTF8` and others.
        method: How the content is packed.
        crc: The CRC-32 of the content.
        packed: The bytes of the content in the archive.
        size: The bytes of the content.
        offset: The offset of the local header; 0 in the local header itself.
        length: The bytes of this structure, with name, extra field and comment.
    """

    name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    length: int


def parse_header(data: bytes, position: int = 0) -> Header | None:
    """Parse a local header, or return None if there is none or it is cut."""
    if len(data) - position < HEADER_FIELDS.size:
        return None
    found = HEADER_FIELDS.unpack_from(data, position)
    signature, _, flags, method, _, _, crc, packed, size, name_length, extra_length = found
    begin = position + HEADER_FIELDS.size
    end = begin + name_length + extra_length
    if signature != HEADER or end > len(data):
        return None
    name, extra = data[begin : begin + name_length], data[begin + name_length : end]
    numbers = _zip64(extra, size, packed, 0)
    return None if numbers is None else Header(name, flags, method, crc, numbers[1], numbers[0], 0, end - position)


def parse_entry(data: bytes, position: int = 0) -> Header | None:
    """Parse an entry of the central directory, or return None if there is none or it is cut."""
    if len(data) - position < ENTRY_FIELDS.size:
        return None
    found = ENTRY_FIELDS.unpack_from(data, position)
    signature, _, _, flags, method, _, _, crc, packed, size, *lengths, _, _, _, offset = found
    begin = position + ENTRY_FIELDS.size
    end = begin + sum(lengths)
    if signature != ENTRY or end > len(data):
        return None
    name = data[begin : begin + lengths[0]]
    extra = data[begin + lengths[0] : begin + lengths[0] + lengths[1]]
    numbers = _zip64(extra, size, packed, offset)
    if numbers is None:
        return None
    return Header(name, flags, method, crc, numbers[1], numbers[0], numbers[2], end - position)


def _zip64(extra: bytes, *numbers: int) -> list[int] | None:
    """Replace numbers of all ones by those of the zip64 extra field; None if it does not have them."""
    found = list(numbers)
    if ALL_ONES not in numbers:
        return found
    missing = [place for place, number in enumerate(numbers) if number == ALL_ONES]
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, position)
        if kind == _ZIP64 and 8 * len(missing) <= min(length, len(extra) - position - 4):
            for place, number in zip(
                missing, struct.unpack_from(f"<{len(missing)}Q", extra, position + 4), strict=True
            ):
                found[place] = number
            return found
        position += 4 + length
    return None


def zip64_extra(*numbers: int) -> bytes:
    """Return a zip64 extra field."""
    return struct.pack(f"<2H{len(numbers)}Q", _ZIP64, 8 * len(numbers), *numbers)
