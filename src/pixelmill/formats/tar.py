"""Tar archives: USTAR, PAX and GNU names are read, with checked headers; members are never extracted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pixelmill.errors import DataError
from pixelmill.formats.faults import FaultKind, RecordFault
from pixelmill.formats.record_writer import Writable

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
        header: The byte where its first header starts.
        offset: The byte where its content starts.
        size: The bytes of its content.
    """

    name: str
    header: int
    offset: int
    size: int


@dataclass(frozen=True)
class Members:
    """What an archive holds.

    Attributes:
        members: The files that are whole.
        faults: What is lost.
        breaks: For each fault, how many members stand before it.
    """

    members: tuple[Member, ...]
    faults: tuple[RecordFault, ...]
    breaks: tuple[int, ...]


def scan_members(path: str | Path, *, stream: BinaryIO | None = None) -> Members:
    """List the regular files of an archive; where a header is damaged, go on at the next.

    Args:
        path: The file, or its name in messages where a stream is given.
        stream: The open file, where it is not to be opened by its name; it must be able to seek.
    """
    try:
        if stream is not None:
            return _Scanner(os.fspath(path), stream).scan()
        with Path(path).open("rb", buffering=0) as opened:
            return _Scanner(os.fspath(path), opened).scan()
    except OSError as error:
        raise DataError(f"tar: {error.strerror}: {path}") from None


class _LostError(Exception):
    def __init__(self, kind: FaultKind, message: str) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind


class _EndError(Exception):
    """A block of zeros: the archive ends here."""


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
        """Read one member with all headers that belong to it; give the byte behind it."""
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
                raise _LostError("truncated", f"a member of {size} bytes, and {left} are there")
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
            raise _LostError("too_large", f"a name or PAX header of {size} bytes; {LARGEST_EXTENSION} are allowed")
        if size > self.size - offset:
            raise _LostError("truncated", f"a name or PAX header of {size} bytes reaches beyond the file")
        return self._bytes(offset, size)

    def _check_end(self, position: int) -> None:
        """Look whether only zeros are left, and enough of them."""
        begin = position
        torn = (self.size - position) % BLOCK != 0
        if torn and self.members and _behind(self.members[-1]) == position:
            begin = self.members.pop().header  # bytes came or went, and here at the latest
        if torn:
            message = f"{self.size - position} bytes follow, no multiple of {BLOCK}: some are missing or too many"
            self._fault(begin, self.size - begin, "truncated", message)
        elif self.size - position < 2 * BLOCK:
            self._fault(position, 0, "truncated", "one of the two end blocks is missing")
        for offset in range(position, self.size, _CHUNK):
            chunk = self._bytes(offset, _CHUNK)
            if chunk.strip(b"\0"):
                first = offset + len(chunk) - len(chunk.lstrip(b"\0"))
                length = self.size - first
                self._fault(first, length, "corrupt", f"{length} bytes stand behind the end of the archive")
                return

    def _resume(self, start: int, lost: _LostError) -> int:
        """Note what is lost and find the member to go on with.

        A header at another distance than a multiple of 512 means that bytes came or went before it: the member that
        was read last then is not what was written, however well its header looks.
        """
        begin, following = start, self._next(start)
        shifted = (following - start) % BLOCK != 0 and not (lost.kind == "truncated" and following == self.size)
        if shifted and self.members and _behind(self.members[-1]) == start:
            begin = self.members.pop().header
        self._fault(begin, following - begin, lost.kind, str(lost))
        self.entries += 1
        return following

    def _next(self, start: int) -> int:
        """Find the next header behind a damaged place: by the word ustar and its checksum."""
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


def _behind(member: Member) -> int:
    return member.offset + _padded(member.size)


def _padded(size: int) -> int:
    return size + -size % BLOCK


def is_header(block: bytes) -> bool:
    """Tell whether a block is a header whose checksum fits."""
    if len(block) < BLOCK:
        return False
    try:
        stored = _number(block[148:156])
    except _LostError:
        return False
    rest = block[:148] + b" " * 8 + block[156:]
    # Some old programs added the bytes as signed ones.
    return stored in (sum(rest), sum(memoryview(rest).cast("b")))


def _number(field: bytes) -> int:
    if field[0] & 0x80:  # binary, for what does not fit into octal digits
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
    """Read `length key=value` lines."""
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


class TarWriter:
    """Writes an archive whose bytes depend on names and contents alone: no times, no owners.

    Args:
        stream: A file open for binary writing.
    """

    def __init__(self, stream: Writable) -> None:
        self._stream = stream
        self._position = 0

    def write(self, name: str, data: bytes) -> Member:
        """Add a file."""
        encoded = name.encode("utf-8", "surrogateescape")
        start = self._position
        prefix, base = _divided(encoded)
        if base is None:
            long = encoded + b"\0"
            self._put(_header(b"././@LongLink", b"", len(long), b"L") + long + bytes(-len(long) % BLOCK))
            prefix, base = b"", encoded[:100]
        self._put(_header(base, prefix, len(data), b"0"))
        offset = self._position
        self._put(data)
        self._put(bytes(-len(data) % BLOCK))
        return Member(name, start, offset, len(data))

    def close(self) -> None:
        """Write the end blocks. The stream stays open."""
        self._put(bytes(2 * BLOCK))

    def _put(self, data: bytes) -> None:
        self._stream.write(data)
        self._position += len(data)


def _divided(name: bytes) -> tuple[bytes, bytes | None]:
    """Divide a long name at a slash so that both parts have room in a header; None where there is no such slash."""
    if len(name) <= 100:
        return b"", name
    slash = name.find(b"/", len(name) - 101)
    if 0 < slash <= 155 and slash < len(name) - 1:
        return name[:slash], name[slash + 1 :]
    return b"", None


def _header(name: bytes, prefix: bytes, size: int, kind: bytes) -> bytes:
    digits = b"%011o\0" % size if size < 8**11 else b"\x80" + size.to_bytes(11, "big")
    parts = (name.ljust(100, b"\0"), b"0000644\0", b"0000000\0", b"0000000\0", digits, b"00000000000\0")
    start = b"".join(parts)
    rest = kind + bytes(100) + b"ustar\00000" + bytes(64) + b"0000000\0" * 2 + prefix.ljust(155, b"\0") + bytes(12)
    checksum = sum(start) + sum(rest) + 8 * 32
    return start + b"%06o\0 " % checksum + rest
