"""Scan a zip archive: its members, and what is damaged or refused.

The central directory is believed only as far as the local headers agree with it: programs that look at one or at the
other must not see different files. An archive without a usable directory, such as one that was cut, is read by its
local headers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import scan_cache
from pixelmill.formats.faults import FaultKind, RecordFault
from pixelmill.formats.index import Array
from pixelmill.formats.sample import IMAGE_EXTENSIONS
from pixelmill.formats.zip.checks import RefusedError, check_readable, check_same, name_of
from pixelmill.formats.zip.directory import LostDirectoryError, find_directory, read_entries
from pixelmill.formats.zip.frames import (
    DEFLATED,
    HEADER,
    HEADER_FIELDS,
    SIZES_FOLLOW,
    STORED,
    Header,
    parse_header,
)
from pixelmill.formats.zip.members import ALLOWANCE, LARGEST_MEMBER, RATIO, Member
from pixelmill.storage.file_names import is_plain
from pixelmill.storage.local import open_binary

_CHUNK = 1 << 16
LONGEST_HEADER = HEADER_FIELDS.size + 2 * 0xFFFF
_USUAL_HEADER = 256  # bytes that most headers fit into, read at once


@dataclass(frozen=True)
class ZipScan:
    """The content of an archive.

    Attributes:
        path: The archive.
        members: The files that can be read, in archive order.
        folders: The folders that have entries of their own, with a slash at the end.
        faults: What is damaged or refused.
        complete: Whether the central directory was found. Without it, files may be missing.
    """

    path: str
    members: tuple[Member, ...]
    folders: tuple[str, ...]
    faults: tuple[RecordFault, ...]
    complete: bool = True


def scan(path: str | Path, *, stream: BinaryIO | None = None) -> ZipScan:
    """List the files of an archive.

    Args:
        path: The archive; with `stream`, its name in messages.
        stream: The open, seekable archive; None to open `path`.
    """
    try:
        if stream is not None:
            return _Scanner(os.fspath(path), stream).scan()
        with open_binary(path, buffering=0) as opened:
            return _Scanner(os.fspath(path), opened).scan()
    except OSError as error:
        raise DataError(f"zip: {error.strerror}: {path}") from None


def cached_scan(path: str) -> ZipScan:
    """Return the scan of an archive, from the cache if possible."""

    def unpack(kept: scan_cache.Arrays, size: int) -> ZipScan | None:
        members = _unpacked(path, size, kept)
        return None if members is None else ZipScan(path, members, tuple(_texts(kept["folders"])), ())

    return scan_cache.cached(path, "zip", scan=scan, pack=_packed, unpack=unpack)


def _packed(found: ZipScan) -> scan_cache.Arrays | None:
    if found.faults or not found.members:
        return None
    rows = [(m.header, m.offset, m.packed, m.size, m.crc, m.method) for m in found.members]
    names = (member.name for member in found.members)
    return {"members": np.array(rows, np.int64), "names": _array(names), "folders": _array(found.folders)}


def _array(texts: Iterable[str]) -> Array:
    return np.frombuffer("".join(f"{text}\0" for text in texts).encode(), np.uint8)


def _texts(array: Array) -> list[str]:
    return array.tobytes().decode("utf-8", "replace").split("\0")[:-1]


def _unpacked(path: str, size: int, kept: scan_cache.Arrays) -> tuple[Member, ...] | None:
    """Rebuild the members; None if they cannot be those of the archive."""
    rows = kept.get("members")
    if rows is None or kept.keys() != {"members", "names", "folders"} or rows.ndim != 2 or rows.shape[1] != 6:
        return None
    names = _texts(kept["names"])
    if rows.dtype != np.int64 or not all(
        is_plain(name.removesuffix("/")) for name in (*names, *_texts(kept["folders"]))
    ):
        return None
    if not len(rows) or len(names) != len(rows) or rows.min() < 0 or rows[:, :3].max() > size:
        return None
    if (rows[:, 1] > size - rows[:, 2]).any() or rows[:, 3].max() > LARGEST_MEMBER:
        return None
    header, offset, stored, content, crc, method = rows.T
    if not np.isin(method, (STORED, DEFLATED)).all() or (header >= offset).any() or crc.max() > 0xFFFFFFFF:
        return None
    if (stored != content)[method == STORED].any() or (content > RATIO * stored + ALLOWANCE).any():
        return None
    if not all(head == HEADER for head in scan_cache.sampled_heads(path, rows[:, 0], len(HEADER))):
        return None
    return tuple(Member(name, *row) for name, row in zip(names, rows.tolist(), strict=True))


class _Scanner:
    def __init__(self, path: str, stream: BinaryIO) -> None:
        self.path = path
        self.stream = stream
        self.size = stream.seek(0, os.SEEK_END)
        self.entries = 0
        self.members: list[Member] = []
        self.folders: list[str] = []
        self.faults: list[RecordFault] = []

    def scan(self) -> ZipScan:
        try:
            directory = find_directory(self._bytes, self.size)
        except LostDirectoryError as lost:
            self._scan_headers(lost)
            return self._result(complete=False)
        found, damage = read_entries(self._bytes, directory)
        for entry in found:
            self._add(entry, limit=directory.offset)
            self.entries += 1
        if damage is not None:
            self._fault(damage.offset, damage.length, "corrupt", damage.message)
        self._refuse_overlaps()
        return self._result(complete=True)

    def _result(self, *, complete: bool) -> ZipScan:
        self._refuse_duplicates()
        members = sorted(self.members, key=lambda member: member.header)
        faults = sorted(self.faults, key=lambda fault: fault.offset)
        return ZipScan(self.path, tuple(members), tuple(self.folders), tuple(faults), complete)

    def _bytes(self, offset: int, length: int) -> bytes:
        self.stream.seek(offset)
        return self.stream.read(max(0, min(length, self.size - offset)))

    def _fault(self, offset: int, length: int, kind: FaultKind, message: str) -> None:
        self.faults.append(RecordFault(self.path, self.entries, offset, length, kind, message))

    def _add(self, entry: Header, *, limit: int) -> None:
        """Take the member that an entry describes, if its local header agrees and nothing speaks against it."""
        try:
            name = name_of(entry)
            if name.endswith("/"):
                self.folders.append(name)
                return
            local = self._local_header(entry.offset) if entry.offset < limit else None
            if local is None:
                raise RefusedError("corrupt", f"{name!r} has no local header at byte {entry.offset}")
            check_same(name, entry, local)
            offset = entry.offset + local.length
            if entry.packed > limit - offset:
                raise RefusedError("truncated", f"{name!r} reaches past the beginning of the central directory")
            check_readable(name, entry)
        except RefusedError as refused:
            begin = min(entry.offset, limit)
            length = min(HEADER_FIELDS.size + len(entry.name) + entry.packed, limit - begin)
            self._fault(begin, _lost_length(entry.name, length), refused.kind, str(refused))
            return
        self.members.append(Member(name, entry.offset, offset, entry.packed, entry.size, entry.crc, entry.method))

    def _local_header(self, offset: int) -> Header | None:
        start = self._bytes(offset, _USUAL_HEADER)
        return parse_header(start) or parse_header(self._bytes(offset, LONGEST_HEADER))

    def _scan_headers(self, lost: LostDirectoryError) -> None:
        """Walk from local header to local header, as far as sizes are known, and search for the next one else."""
        position = 0
        while position < self.size:
            begin = self._next(position)
            if begin > position:
                kind = lost.kind if begin == self.size else "corrupt"
                self._fault(position, begin - position, kind, str(lost))
            if begin == self.size:
                return
            local = self._local_header(begin)
            if local is None or local.flags & SIZES_FOLLOW:
                position = self._next(begin + 1)
                text = "a member whose size only the lost central directory knows"
                self._fault(begin, position - begin, "truncated" if local is None else "corrupt", text)
            elif local.packed > self.size - begin - local.length:
                text = f"a member of {local.packed} bytes, but only {self.size - begin - local.length} exist"
                self._fault(begin, self.size - begin, "truncated", text)
                return
            else:
                self._add_recovered(begin, local)
                position = begin + local.length + local.packed
            self.entries += 1
        self._fault(self.size, 0, lost.kind, str(lost))

    def _add_recovered(self, begin: int, local: Header) -> None:
        try:
            name = name_of(local)
            if name.endswith("/"):
                self.folders.append(name)
                return
            check_readable(name, local)
        except RefusedError as refused:
            self._fault(begin, _lost_length(local.name, local.length + local.packed), refused.kind, str(refused))
            return
        offset = begin + local.length
        self.members.append(Member(name, begin, offset, local.packed, local.size, local.crc, local.method))

    def _next(self, begin: int) -> int:
        """Find the next local header, or the end of the file."""
        while begin < self.size:
            chunk = self._bytes(begin, _CHUNK + len(HEADER) - 1)
            place = chunk.find(HEADER)
            if place >= 0:
                return begin + place
            begin += _CHUNK
        return self.size

    def _refuse_overlaps(self) -> None:
        """Refuse members that share bytes: a small archive could otherwise unpack to any size (a zip bomb)."""
        self.members.sort(key=lambda member: member.header)
        kept: list[Member] = []
        end = 0
        for member in self.members:
            if member.header < end:
                self._refuse(member, f"{member.name!r} overlaps the member before it")
                continue
            kept.append(member)
            end = member.end
        self.members = kept

    def _refuse(self, member: Member, message: str) -> None:
        length = _lost_length(member.name.encode(), member.end - member.header)
        self._fault(member.header, length, "corrupt", message)

    def _refuse_duplicates(self) -> None:
        """Refuse all but the first of members with the same name."""
        seen: set[str] = set()
        kept: list[Member] = []
        for member in self.members:
            if member.name in seen:
                self._refuse(member, f"the name {member.name!r} occurs twice; the first counts")
                continue
            seen.add(member.name)
            kept.append(member)
        self.members = kept


def _lost_length(name: bytes, length: int) -> int:
    """Return the length of a fault: that of an image counts, since readers keep the place of a lost sample."""
    ending = name.rpartition(b".")[2].lower().decode("ascii", "replace")
    return max(length, 1) if ending in IMAGE_EXTENSIONS else 0
