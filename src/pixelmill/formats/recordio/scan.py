"""Scan a RecordIO file: find its records, and what is damaged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import scan_cache
from pixelmill.formats.faults import FaultKind, RecordFault, Scan
from pixelmill.formats.index import Index
from pixelmill.formats.recordio.frames import (
    FIRST,
    FRAME_HEAD,
    LARGEST_PART,
    LAST,
    LENGTH_BITS,
    MAGIC,
    MAGIC_BYTES,
    MIDDLE,
    WHOLE,
    aligned_magic,
)
from pixelmill.storage.local import open_binary

LARGEST_RECORD = 1 << 30
_CHUNK = 1 << 16
_FOREIGN = {b"\x1f\x8b": "gzip", b"PK": "zip", b"\x93N": "npy", b"\xff\xd8": "JPEG", b"\x89P": "PNG"}


class _LostError(Exception):
    """Raised inside a scan: the bytes from `offset` on are not a record."""

    def __init__(self, kind: FaultKind, offset: int, message: str) -> None:
        super().__init__(message)
        self.kind: FaultKind = kind
        self.offset = offset


def scan(path: str | Path, *, stream: BinaryIO | None = None, verify: bool = False) -> Scan:
    """Find the records of a file by their heads; after a damaged one, continue at the next.

    Args:
        path: The file; with `stream`, its name in messages.
        stream: The open, seekable file; None to open `path`.
        verify: Read the records too: one that holds the magic word at a multiple of four has a wrong length.
    """
    try:
        if stream is not None:
            return _Scanner(os.fspath(path), stream, verify).scan()
        with open_binary(path, buffering=0) as opened:
            return _Scanner(os.fspath(path), opened, verify).scan()
    except OSError as error:
        raise DataError(f"recordio: {error.strerror}: {path}") from None


def cached_scan(path: str) -> Scan:
    """Return the scan of a file, from the cache if possible."""

    def pack(found: Scan) -> scan_cache.Arrays | None:
        return None if found.faults else {"offsets": found.index.offsets, "lengths": found.index.lengths}

    def unpack(kept: scan_cache.Arrays, size: int) -> Scan | None:
        if not _describes(path, size, kept):
            return None
        return Scan(Index([path], np.zeros(len(kept["offsets"]), np.int64), kept["offsets"], kept["lengths"]))

    return scan_cache.cached(path, "recordio", scan=scan, pack=pack, unpack=unpack)


def _describes(path: str, size: int, kept: scan_cache.Arrays) -> bool:
    """Whether cached records fill the file without gaps, and sampled ones begin like records."""
    if not scan_cache.are_ranges(kept) or kept["lengths"].min(initial=0) < 0 or kept["lengths"].max(initial=0) > size:
        return False
    ends = np.cumsum(kept["lengths"])
    if not len(ends) or kept["lengths"].min() < len(MAGIC_BYTES) or ends[-1] != size:
        return False
    if not np.array_equal(ends[:-1], kept["offsets"][1:]) or kept["offsets"][0] != 0:
        return False
    heads = scan_cache.sampled_heads(path, kept["offsets"], len(MAGIC_BYTES))
    return all(head == MAGIC_BYTES for head in heads)


class _Scanner:
    def __init__(self, path: str, stream: BinaryIO, verify: bool) -> None:
        self.path = path
        self.verify = verify
        self.stream = stream
        self.size = stream.seek(0, os.SEEK_END)
        self.found: list[tuple[int, int]] = []
        self.faults: list[RecordFault] = []
        # A hostile file can make every candidate for the next record lead through the same bytes. Reading is
        # therefore limited to a few times the size of the file, and a chain of parts that never ends is walked once.
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
        """Walk through the parts of a record and return the offset of its end."""
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
            self.dead.update(dict.fromkeys(walked[1:], lost))
            raise
        return position

    def _part(self, position: int, *, middle: bool) -> tuple[int, int, int]:
        head = self._bytes(position, FRAME_HEAD.size)
        if len(head) < FRAME_HEAD.size:
            what = "a record whose last part is missing" if middle else f"a head cut after {len(head)} bytes"
            raise _LostError("truncated", position, f"the file ends with {what}")
        magic, word = FRAME_HEAD.unpack(head)
        flag, length = word >> LENGTH_BITS, word & LARGEST_PART
        if magic != MAGIC:
            raise _LostError(*self._no_magic(position, head))
        if flag not in ((MIDDLE, LAST) if middle else (WHOLE, FIRST)):
            raise _LostError("corrupt", position, f"a part with the flag {flag} cannot stand here")
        end = position + FRAME_HEAD.size + length + -length % 4
        if end > self.size:
            left = self.size - position - FRAME_HEAD.size
            raise _LostError("truncated", position, f"{length} bytes are declared, but only {left} exist")
        if self.verify:
            self._check_content(position + FRAME_HEAD.size, length)
        return flag, length, end

    def _check_content(self, begin: int, length: int) -> None:
        """Look for the magic word in a part, within the budget."""
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
        """Record what is lost and return the offset of the record to continue with.

        Frames have no checksum, so the record before the damage may be wrong although its head is intact. Two signs
        give it away: the next head is not a multiple of four away, which means that bytes were inserted or removed
        before it; or nothing at `start` resembles a head, which means that the length of the last record was wrong.
        That record is then lost too.
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
        """Find the first record from `begin` on that is whole and followed by another record or by the end.

        The second condition rejects most places where the magic word occurs in an image by chance.
        """
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
