"""Reading tar archives: USTAR, PAX and GNU names, with verified headers; members are never extracted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pixelmill.errors import DataError
from pixelmill.formats.faults import FaultKind, RecordFault
from pixelmill.storage.local import open_binary

BLOCK = 512
LARGEST_EXTENSION = 1 << 20  # a long name, or the records of a PAX header
_REGULAR = b"0\0007"
_WITHOUT_DATA = b"123456"
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive.

    Attributes:
        name: Its path.
        header: The offset of its first header.
        offset: The offset of its content.
        size: The size of its content in bytes.
    """

    name: str
    header: int
    offset: int
    size: int


@dataclass(frozen=True)
class Members:
    """The content of an archive.

    Attributes:
        members: The files that are intact.
        faults: What is lost.
        breaks: For each fault, the number of members before it.
    """

    members: tuple[Member, ...]
    faults: tuple[RecordFault, ...]
    breaks: tuple[int, ...]


def scan_members(path: str | Path, *, stream: BinaryIO | None = None) -> Members:
    """List the regular files of an archive; after a damaged header, continue at the next.

    Args:
        path: The file; with `stream`, its name in messages.
        stream: The open, seekable file; None to open `path`.
    """
    try:
        if stream is not None:
            return _Scanner(os.fspath(path), stream).scan()
        with open_binary(path, buffering=0) as opened:
            return _Scanner(os.fspath(path), opened).scan()
    except OSError as error:
        raise DataError(f"tar: {error.strerror}: {path}") from None


class _LostError(Exception):
    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind


class _EndError(Exception):
    """Raised inside a scan at a block of zeros: the archive ends here."""


class _Scanner:
    def __init__(self, path: str, stream: BinaryIO) -> None:
        self.path = path
        self.stream = stream
        self.size = stream.seek(0, os.SEEK_END)
        self.members: list[Member] = []
        self.faults: list[RecordFault] = []
        self.breaks: list[int] = []
        self.entries = 0
        self.end_of_last = 0

    def scan(self) -> Members:
        position = 0
        while position < self.size:
            try:
                position = self._entry(position)
                self.entries += 1
            except _EndError:
                self._check_end(position)
                return self._result()
            except _LostError as lost:
                position = self._resume(position, lost)
        if not self.faults or sum((self.faults[-1].offset, self.faults[-1].length)) < self.size:
            self._fault(self.size, 2 * BLOCK, "truncated", "the archive ends without its end blocks; it may be cut")
        return self._result()

    def _result(self) -> Members:
        return Members(tuple(self.members), tuple(self.faults), tuple(self.breaks))

    def _fault(self, offset: int, length: int, kind: FaultKind, message: str) -> None:
        self.faults.append(RecordFault(self.path, self.entries, offset, length, kind, message))
        self.breaks.append(len(self.members))

    def _bytes(self, offset: int, length: int) -> bytes:
        self.stream.seek(offset)
        return self.stream.read(length)

    def _entry(self, start: int) -> int:
        """Read one member with all its headers and return the offset of its end."""
        position, long_name, records = start, None, dict[str, bytes]()
        while True:
            block = self._header(position)
            kind, size = block[156:157], _number(block[124:136])
            if kind in (b"L", b"K", b"x", b"g"):
                content = self._extension(position + BLOCK, size)
                if kind == b"L":
                    long_name = content.rstrip(b"\0")
                elif kind == b"x":
                    records |= _pax_records(content)
                position += BLOCK + _padded(size)
                continue
            if kind == b"S" or any(key.startswith("GNU.sparse") for key in records):
                raise _LostError("corrupt", "sparse members are not supported")
            if "size" in records:
                size = _decimal(records["size"])
            if kind in _WITHOUT_DATA:
                size = 0
            offset = position + BLOCK
            if size > self.size - offset:
                left = max(0, self.size - offset)
                raise _LostError("truncated", f"a member of {size} bytes, but only {left} exist")
            if kind in _REGULAR or kind not in _WITHOUT_DATA:
                name = records.get("path") or long_name or _name(block)
                self.members.append(Member(name.decode("utf-8", "surrogateescape"), start, offset, size))
            self.end_of_last = offset + size
            return offset + _padded(size)

    def _header(self, position: int) -> bytes:
        block = self._bytes(position, BLOCK)
        if not any(block) and len(block) == BLOCK:
            raise _EndError
        if len(block) < BLOCK:
            raise _LostError("truncated", f"the archive ends inside a header, after {len(block)} bytes")
        if not is_header(block):
            kind: FaultKind = "corrupt" if position > 0 or block[257:262] == b"ustar" else "wrong_format"
            raise _LostError(kind, "the checksum of a header does not match")
        return block

    def _extension(self, offset: int, size: int) -> bytes:
        if size > LARGEST_EXTENSION:
            raise _LostError("too_large", f"a name or PAX header of {size} bytes; the limit is {LARGEST_EXTENSION}")
        if size > self.size - offset:
            raise _LostError("truncated", f"a name or PAX header of {size} bytes reaches past the end of the file")
        return self._bytes(offset, size)

    def _check_end(self, position: int) -> None:
        """Check that only zeros are left, and enough of them."""
        begin = position
        torn = (self.size - position) % BLOCK != 0
        if torn and self.members and _end_of(self.members[-1]) == position:
            # Bytes were inserted or removed somewhere before the end. Headers have checksums, contents do not, so it
            # must have been in the content of the last member.
            begin = self.members.pop().header
        if torn:
            message = f"{self.size - position} bytes follow, not a multiple of {BLOCK}: some are missing or too many"
            self._fault(begin, self.size - begin, "truncated", message)
        elif self.size - position < 2 * BLOCK:
            self._fault(position, 0, "truncated", "one of the two end blocks is missing")
        for offset in range(position, self.size, _CHUNK):
            chunk = self._bytes(offset, _CHUNK)
            if chunk.strip(b"\0"):
                first = offset + len(chunk) - len(chunk.lstrip(b"\0"))
                length = self.size - first
                self._fault(first, length, "corrupt", f"{length} bytes follow the end of the archive")
                return

    def _resume(self, start: int, lost: _LostError) -> int:
        """Record what is lost and return the offset of the member to continue with.

        Contents have no checksum, so the member before the damage may be wrong although its header is intact. A next
        header that is not a multiple of 512 away gives it away: bytes were inserted or removed before it, and that
        member is lost too.
        """
        begin, following = start, self._next(start)
        shifted = (following - start) % BLOCK != 0 and not (lost.kind == "truncated" and following == self.size)
        if shifted and self.members and _end_of(self.members[-1]) == start:
            begin = self.members.pop().header
        self._fault(begin, following - begin, lost.kind, str(lost))
        self.entries += 1
        return following

    def _next(self, start: int) -> int:
        """Find the next header after a damaged place by the word `ustar` and its checksum.

        The search begins inside the block before `start`: if bytes were removed, the header has moved there.
        """
        for position in self._candidates(max(0, start - BLOCK + 1)):
            near = start - BLOCK < position < start and (position - start) % BLOCK != 0
            if (near or position > start) and is_header(self._bytes(position, BLOCK)):
                return position
        return self.size

    def _candidates(self, begin: int) -> Iterator[int]:
        while begin < self.size:
            chunk = self._bytes(begin, _CHUNK + 4)
            place = chunk.find(b"ustar")
            while place >= 0:
                if begin + place >= 257:
                    yield begin + place - 257
                place = chunk.find(b"ustar", place + 1)
            begin += _CHUNK


def _end_of(member: Member) -> int:
    return member.offset + _padded(member.size)


def _padded(size: int) -> int:
    return size + -size % BLOCK


def is_header(block: bytes) -> bool:
    """Whether a block is a header with a matching checksum."""
    if len(block) < BLOCK:
        return False
    try:
        stored = _number(block[148:156])
    except _LostError:
        return False
    # Zeros add nothing, and are most of a header.
    rest = (block[:148] + b" " * 8 + block[156:BLOCK]).translate(None, b"\0")
    # Some old programs summed the bytes as signed numbers.
    return stored == sum(rest) or stored == sum(memoryview(rest).cast("b"))


def is_header_of(block: bytes, member: Member) -> bool:
    """Whether a block is the header of a member that has no other header."""
    name = member.name.encode("utf-8", "surrogateescape")
    return is_header(block) and block[156:157] in _REGULAR and (_name(block), _size(block)) == (name, member.size)


def _size(block: bytes) -> int:
    try:
        return _number(block[124:136])
    except _LostError:
        return -1


def _number(field: bytes) -> int:
    if field[0] & 0x80:  # binary, for numbers that do not fit into octal digits
        if field[0] != 0x80:
            raise _LostError("corrupt", "a header holds a negative number")
        return int.from_bytes(field[1:], "big")
    digits = field.split(b"\0", 1)[0].strip(b" ")
    if digits.strip(b"01234567"):
        raise _LostError("corrupt", f"a header holds {digits!r} instead of an octal number")
    return int(digits, 8) if digits else 0


def _decimal(text: bytes) -> int:
    if not text.isdigit() or len(text) > 20:
        raise _LostError("corrupt", f"a PAX header holds {text[:40]!r} instead of a size")
    return int(text)


def _name(block: bytes) -> bytes:
    name = block[:100].split(b"\0", 1)[0]
    prefix = block[345:500].split(b"\0", 1)[0] if block[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _pax_records(content: bytes) -> dict[str, bytes]:
    """Parse lines of `length key=value`."""
    records = {}
    position = 0
    while position < len(content) and content[position]:
        length, blank, _ = content[position : position + 20].partition(b" ")
        if not blank or not length.isdigit() or int(length) <= len(length) + 1:
            raise _LostError("corrupt", "a PAX header is damaged")
        line = content[position : position + int(length)]
        key, equals, value = line[len(length) + 1 : -1].partition(b"=")
        if len(line) < int(length) or not equals or line[-1:] != b"\n":
            raise _LostError("corrupt", "a PAX header is damaged")
        records[key.decode("utf-8", "replace")] = value
        position += int(length)
    return records
