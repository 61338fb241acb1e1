"""Where the values of an LMDB database are in its file.

A database is a tree of pages in `data.mdb`. Each value is one range of bytes, on a page of the tree or on pages of its
own, so a reader needs no library of LMDB once it knows the ranges.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from pixelmill.errors import DataError
from pixelmill.storage.local import open_binary

MAGIC, VERSION = 0xBEEFC0DE, 1
HEAD = 16  # bytes before the content of a page: its number, 2 unused bytes, flags, and the two ends of its free space
NO_PAGE = 0xFFFF_FFFF_FFFF_FFFF
BRANCH, LEAF, OVERFLOW, META = 0x01, 0x02, 0x04, 0x08  # flags of pages
OWN_PAGES = 0x01  # flag of a value: on pages of its own
_DATABASE, _SEVERAL = 0x02, 0x04  # flags of values: a database of its own; several values for one key
_DUPLICATES = 0x04  # flag of a database whose keys have several values
_LARGEST_PAGE = 1 << 16
_KINDS = BRANCH | LEAF | OVERFLOW | META


class Value(NamedTuple):
    """The value of one key.

    Attributes:
        key: The key.
        offset: Its first byte in the file.
        length: The number of its bytes.
    """

    key: bytes
    offset: int
    length: int


def is_database(start: bytes) -> bool:
    """Whether a file that begins with these bytes is a database."""
    return start[HEAD : HEAD + 8] == struct.pack("<II", MAGIC, VERSION)


def data_file(path: str) -> str:
    """Return the file of a database that is given by its folder or by its file."""
    return str(Path(path) / "data.mdb") if Path(path).is_dir() else path


@contextmanager
def opened(path: str) -> Iterator[memoryview]:
    """Open the file of a database as read-only memory."""
    try:
        with open_binary(data_file(path)) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            view = memoryview(memory)
            try:
                yield view
            finally:
                view.release()
    except (OSError, ValueError) as error:  # ValueError: an empty file
        raise DataError(f"lmdb: {getattr(error, 'strerror', None) or error}: {data_file(path)}") from None


def values(memory: memoryview, path: str) -> Iterator[Value]:
    """Yield the values of a database in the order of their keys.

    Raises:
        DataError: The tree is damaged, or the database is of a kind that is not supported. Nothing below a damaged page
            can be found, and pages that no page points to may be old ones, so the rest is not searched.
    """
    try:
        yield from _walk(memory)
    except _UnsupportedError as error:
        raise DataError(f"lmdb: {data_file(path)}: {error}") from None
    except (struct.error, IndexError, _TreeError) as error:
        raise DataError(f"lmdb: {data_file(path)} is damaged or is no LMDB database: {error}") from None


class _TreeError(Exception):
    """The tree contradicts itself."""


class _UnsupportedError(Exception):
    """The database is intact and not read."""


def _walk(memory: memoryview) -> Iterator[Value]:
    page_size, root, entries = _newest_root(memory)
    if root == NO_PAGE and entries == 0:
        return
    pages, found, visits = len(memory) // page_size, 0, 0
    todo, last = [root], None
    while todo:
        visits += 1
        if visits > pages:
            raise _TreeError("its pages form a circle")
        number = todo.pop()
        flags, places = _page(memory, number, page_size)
        if flags == BRANCH:
            todo += [_child(memory, place) for place in reversed(places)]
            continue
        for place in places:
            value = _value(memory, place, page_size)
            if last is not None and value.key <= last:
                raise _TreeError(f"the key {value.key[:60]!r} is not in its place")
            last = value.key
            found += 1
            yield value
    if found != entries:
        raise _TreeError(f"it has {found} of {entries} entries")


def _page(memory: memoryview, number: int, page_size: int) -> tuple[int, list[int]]:
    """Return the kind of a page of the tree, and where its nodes are in the file."""
    start = number * page_size
    if not 0 < start <= len(memory) - page_size:
        raise _TreeError(f"page {number} is outside of the file")
    own, flags, lower, upper = struct.unpack_from("<Q2xHHH", memory, start)
    kind = flags & _KINDS
    if own != number or kind not in (BRANCH, LEAF) or not HEAD <= lower <= upper <= page_size or lower % 2:
        raise _TreeError(f"page {number} has no valid head")
    places = struct.unpack_from(f"<{(lower - HEAD) // 2}H", memory, start + HEAD)
    if not places or min(places) < upper or max(places) > page_size - 8:
        raise _TreeError(f"page {number} has no valid head")
    return kind, [start + place for place in places]


def _newest_root(memory: memoryview) -> tuple[int, int, int]:
    """Return the size of pages, and root and number of entries of the last transaction: of two, the newer is valid."""
    (page_size,) = struct.unpack_from("<I", memory, 40)
    if page_size < 512 or page_size > _LARGEST_PAGE or page_size & (page_size - 1):
        raise _TreeError("it does not begin with the head of a database")
    newest: tuple[int, int, int] | None = None
    for start in (0, page_size):
        if not is_database(bytes(memory[start : start + HEAD + 8])):
            raise _TreeError("it does not begin with the head of a database")
        flags, entries, root = struct.unpack_from("<4xH26xQQ", memory, start + 88)
        (transaction,) = struct.unpack_from("<Q", memory, start + 144)
        if flags & _DUPLICATES:
            raise _UnsupportedError("its keys have several values, which is not supported")
        if newest is None or transaction > newest[0]:
            newest = (transaction, root, entries)
    assert newest is not None
    return page_size, newest[1], newest[2]


def _child(memory: memoryview, place: int) -> int:
    low, high, top = struct.unpack_from("<HHH", memory, place)
    return int(low | high << 16 | top << 32)


def _value(memory: memoryview, place: int, page_size: int) -> Value:
    low, high, flags, key_size = struct.unpack_from("<HHHH", memory, place)
    key = bytes(memory[place + 8 : place + 8 + key_size])
    if flags & _SEVERAL:
        raise _UnsupportedError("its keys have several values, which is not supported")
    if flags & _DATABASE:
        raise _UnsupportedError(f"it holds databases in databases, such as {key[:60]!r}, which is not supported")
    offset, length = place + 8 + key_size, low | high << 16
    end = (place // page_size + 1) * page_size
    if flags & OWN_PAGES:
        (number,) = struct.unpack_from("<Q", memory, offset)
        start = number * page_size
        if start > len(memory) - page_size:
            raise _TreeError(f"the value of {key[:60]!r} ends outside of the file")
        own, kind, count = struct.unpack_from("<Q2xHI", memory, start)
        if own != number or kind & _KINDS != OVERFLOW:
            raise _TreeError(f"page {number} does not hold the value of {key[:60]!r}")
        offset, end = start + HEAD, start + count * page_size
    if offset + length > min(end, len(memory)):
        raise _TreeError(f"the value of {key[:60]!r} ends outside of the file")
    return Value(key, offset, length)
