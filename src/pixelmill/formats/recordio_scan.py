"""Finds the records of a RecordIO file, and what is lost of it."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats.faults import FaultKind, RecordFault, Scan
from pixelmill.formats.index import Index
from pixelmill.formats.recordio_frames import (
    FIRST,
    LARGEST_PART,
    LAST,
    LENGTH_BITS,
    MAGIC,
    MAGIC_BYTES,
    MIDDLE,
    WHOLE,
    aligned_magic,
)

LARGEST_RECORD = 1 << 30
_HEAD = struct.Struct("<II")
_CHUNK = 1 << 16
_FOREIGN = {b"\x1f\x8b": "gzip", b"PK": "zip", b"\x93N": "npy", b"\xff\xd8": "JPEG", b"\x89P": "PNG"}


class _LostError(Exception):
    """Inside a scan: the bytes from `offset` on are no record."""

    def __init__(self, kind: FaultKind, offset: int, message: str) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.offset = offset


def scan(path: str | Path, *, stream: BinaryIO | None = None, verify: bool = False) -> Scan:
    """Find the records of a file by their heads; where one is damaged, go on at the next.

    Args:
        path: The file, or its name in messages where a stream is given.
        stream: The open file, where it is not to be opened by its name; it must be able to seek.
        verify: Read the records too: one that holds the magic word at a multiple of four has a wrong length.
    """
    try:
        if stream is not None:
            return _Scanner(os.fspath(path), stream, verify).scan()
        with Path(path).open("rb", buffering=0) as opened:
            return _Scanner(os.fspath(path), opened, verify).scan()
    except OSError as error:
        raise DataError(f"recordio: {error.strerror}: {path}") from None


class _Scanner:
    def __init__(self, path: str, stream: BinaryIO, verify: bool) -> None:
        self.path = path
        self.verify = verify
        self.stream = stream
        self.size = stream.seek(0, os.SEEK_END)
        self.found: list[tuple[int, int]] = []
        self.faults: list[RecordFault] = []
        self.budget = 4 * self.size + _CHUNK
        self.dead: dict[int, _LostError] = {}

    def scan(self) -> Scan:
        position = 0
        while position < self.size:
            try:
                end = self._record(position)
                self.found.append((position, end - position))
                position = end
            except _LostError as lost:
                position = self._resume(position, lost)
        offsets, lengths = np.array(self.found, np.int64).reshape(-1, 2).T
        files = np.zeros(len(offsets), np.int64)
        index = Index([self.path], files, np.ascontiguousarray(offsets), np.ascontiguousarray(lengths))
        return Scan(index, tuple(self.faults))

    def _bytes(self, offset: int, length: int) -> bytes:
        self.stream.seek(offset)
        return self.stream.read(length)

    def _record(self, start: int) -> int:
        """Walk through the parts of a record; give the byte behind it."""
        walked: list[int] = []
        position, total, flag = start, 0, FIRST
        try:
            while flag in (FIRST, MIDDLE):
                if position in self.dead:
                    raise self.dead[position]
                flag, length, end = self._part(position, middle=bool(walked))
                total += length + 4
                if total > LARGEST_RECORD:
                    raise _LostError("too_large", position, f"the record has more than {LARGEST_RECORD} bytes")
                walked.append(position)
                position = end
        except _LostError as lost:
            # Many heads may lead into one long chain of parts that never ends; it is walked once.
            self.dead.update(dict.fromkeys(walked[1:], lost))
            raise
        return position

    def _part(self, position: int, *, middle: bool) -> tuple[int, int, int]:
        head = self._bytes(position, _HEAD.size)
        if len(head) < _HEAD.size:
            what = "a record that has a last part missing" if middle else f"a head cut after {len(head)} bytes"
            raise _LostError("truncated", position, f"the file ends with {what}")
        magic, word = _HEAD.unpack(head)
        flag, length = word >> LENGTH_BITS, word & LARGEST_PART
        if magic != MAGIC:
            raise _LostError(*self._no_magic(position, head))
        if flag not in ((MIDDLE, LAST) if middle else (WHOLE, FIRST)):
            raise _LostError("corrupt", position, f"a part with the flag {flag} cannot stand here")
        end = position + _HEAD.size + length + -length % 4
        if end > self.size:
            left = self.size - position - _HEAD.size
            raise _LostError("truncated", position, f"{length} bytes are announced, and {left} are there")
        if self.verify:
            self._check_content(position + _HEAD.size, length)
        return flag, length, end

    def _check_content(self, begin: int, length: int) -> None:
        """Look for the magic word in a part; in files made of lies, only as long as that stays quick."""
        for offset in range(0, length, _CHUNK):
            chunk = self._bytes(begin + offset, min(_CHUNK, length - offset))
            self.budget -= len(chunk)
            inside = aligned_magic(chunk, most=1)
            if inside:
                where = begin + offset + inside[0]
                raise _LostError("corrupt", where, "a part holds the magic word, so its length is wrong")
            if self.budget < 0:
                return

    def _no_magic(self, position: int, head: bytes) -> tuple[FaultKind, int, str]:
        if position > 0:
            return "corrupt", position, "there is no magic word where a record should begin"
        likely = _FOREIGN.get(head[:2])
        if likely is None and self._bytes(257, 5) == b"ustar":
            likely = "tar"
        hint = f"; it looks like {likely}" if likely else "; is it a TFRecord or another format?"
        return "wrong_format", position, f"the file does not begin with the magic word of RecordIO{hint}"

    def _resume(self, start: int, lost: _LostError) -> int:
        """Note what is lost and find the record to go on with.

        A head that stands at another distance than a multiple of four means that bytes came or went before it, and
        where nothing resembles a head, the length of the record before is wrong: the record that was read last then is
        not what was written, however well its head looks.
        """
        begin = start
        following = self._next(max(lost.offset - 3, start + 1) if self._is_head(start) else max(0, start - 3), start)
        at_start = self._bytes(start, 4)
        alike = sum(a == b for a, b in zip(at_start, MAGIC_BYTES, strict=False))
        doubtful = (following - start) % 4 != 0 or (len(at_start) == 4 and alike < 2)
        cut_head = lost.kind == "truncated" and following == self.size and alike == len(at_start)
        if doubtful and not cut_head and self.found and sum(self.found[-1]) == start:
            begin, _ = self.found.pop()
        record = len(self.found) + len(self.faults)
        self.faults.append(RecordFault(self.path, record, begin, following - begin, lost.kind, str(lost)))
        return following

    def _is_head(self, position: int) -> bool:
        return self._bytes(position, 4) == MAGIC_BYTES

    def _next(self, begin: int, start: int) -> int:
        """Find the first record behind a damaged place that is whole and followed by another or by the end."""
        for position in self._candidates(begin):
            if position == start:
                continue
            try:
                end = self._record(position)
            except _LostError:
                continue
            if end == self.size or self._is_head(end):
                return position
        return self.size

    def _candidates(self, begin: int) -> Iterator[int]:
        while begin < self.size:
            chunk = self._bytes(begin, _CHUNK + 3)
            place = chunk.find(MAGIC_BYTES)
            while place >= 0:
                yield begin + place
                place = chunk.find(MAGIC_BYTES, place + 1)
            begin += _CHUNK
