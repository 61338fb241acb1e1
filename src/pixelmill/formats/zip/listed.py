"""Archives at addresses: their members by the central directory alone, checked against local headers when read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pixelmill import storage
from pixelmill.formats.zip.checks import RefusedError, check_readable, check_same, name_of
from pixelmill.formats.zip.directory import LostDirectoryError, find_directory, read_entries
from pixelmill.formats.zip.frames import HEADER_FIELDS, Header, parse_header
from pixelmill.formats.zip.members import Member, damaged, unpacked
from pixelmill.formats.zip.scan import LONGEST_HEADER, ZipScan

_TAIL = 1 << 20  # bytes at the end of an archive that are read at once; the directory of some 10,000 members fits


@dataclass(frozen=True, slots=True)
class ListedMember(Member):
    """A member whose local header has not been read, so that only a bound of its content is known.

    Attributes:
        entry: Its entry in the central directory.
        limit: Where its local header and its content end at the latest.
    """

    entry: Header
    limit: int

    @property
    def end(self) -> int:
        return self.limit

    def content(self, data: bytes | memoryview) -> bytes:
        """Return the content of the member, verified as that of others is.

        Args:
            data: What the archive has from its header to its end.
        """
        data = bytes(data)
        local = parse_header(data)
        if local is None:
            raise damaged(self, "corrupt", f"has no local header at byte {self.header}")
        try:
            check_same(self.name, self.entry, local)
        except RefusedError as refused:
            raise damaged(self, refused.kind, str(refused)) from None
        found = Member(self.name, 0, local.length, self.packed, self.size, self.crc, self.method)
        return unpacked(found, lambda offset, length: data[offset : offset + length])


def listed(path: str, size: int) -> ZipScan | None:
    """List the files of an archive by two requests; None if anything in its directory is wrong: then it is fetched.

    Args:
        path: The address.
        size: The size of the archive.
    """
    try:
        read = _reader(path, size)
        directory = find_directory(read, size)
        found, damage = read_entries(read, directory)
        if damage is not None:
            return None
        members, folders = _members(found, directory.offset)
    except (LostDirectoryError, RefusedError):
        return None
    return ZipScan(path, tuple(members), tuple(folders), ())


def _reader(path: str, size: int) -> Callable[[int, int], bytes]:
    begin = max(0, size - _TAIL)
    tail = storage.read_range(path, begin, size - begin, size=size)

    def read(offset: int, length: int) -> bytes:
        if offset >= begin:
            return tail[offset - begin : offset - begin + length]
        return storage.read_range(path, offset, length, size=size)

    return read


def _members(found: list[Header], end: int) -> tuple[list[ListedMember], list[str]]:
    """Return the files and the folders; raises RefusedError if there is anything wrong with one of them."""
    found = sorted(found, key=lambda entry: entry.offset)
    members: list[ListedMember] = []
    folders: list[str] = []
    names: set[str] = set()
    ends = [*(entry.offset for entry in found), end][1:]
    for entry, limit in zip(found, ends, strict=True):
        name = name_of(entry)
        if entry.offset + HEADER_FIELDS.size + len(entry.name) + entry.packed > limit or name in names:
            raise RefusedError("corrupt", f"{name!r} occurs twice, or overlaps what follows it")
        names.add(name)
        if name.endswith("/"):
            folders.append(name)
            continue
        check_readable(name, entry)
        limit = min(limit, entry.offset + LONGEST_HEADER + entry.packed)
        members.append(
            ListedMember(name, entry.offset, 0, entry.packed, entry.size, entry.crc, entry.method, entry, limit)
        )
    return members, folders
