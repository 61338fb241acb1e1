"""Where the values of an LMDB database are in its file.

A database is a tree of pages in `data.mdb`. Each value is one range of bytes, on a page of the tree or on pages of its
own, so a reader needs no library of LMDB once it knows the ranges.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pixelmill.errors import DataError
from pixelmill.storage.local import open_binary

_MAGIC, _VERSION = 0xBEEFC0DE, 1
_HEAD = 16  # bytes before the content of a page
_NO_PAGE = 0xFFFF_FFFF_FFFF_FFFF
_BRANCH, _LEAF = 0x01, 0x02  # flags of pages
_OWN_PAGES, _SEVERAL = 0x01, 0x02 | 0x04  # flags of values: on pages of their own; several values for one key
_DUPLICATES = 0x04  # flag of a database whose keys have several values


@dataclass(frozen=True)
class Value:
    """The value of one key.

    Attributes:
        key: The key.
        offset: Its first byte in the file.
        length: The number of its bytes.
    """

    key: bytes
    offset: int
    length: int


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
    """Yield the values of a database in the order of their keys. Raises DataError for a damaged tree."""
    try:
        yield from _walk(memory)
    except (struct.error, IndexError, _TreeError) as error:
        raise DataError(f"lmdb: {data_file(path)} is damaged or is no LMDB database: {error}") from None


class _TreeError(Exception):
    """The tree contradicts itself."""


def _walk(memory: memoryview) -> Iterator[Value]:
    page_size, root, entries = _newest_root(memory)
    if root == _NO_PAGE:
        return
    pages, found = len(memory) // page_size, 0
    todo = [root]
    visits = 0
    while todo:
        visits += 1
        if visits > pages:
            raise _TreeError("its pages form a circle")
        start = todo.pop() * page_size
        if not 0 < start <= len(memory) - page_size:
            raise _TreeError(f"page {start // page_size} is outside of the file")
        flags, lower = struct.unpack_from("<HH", memory, start + 10)
        if not _HEAD <= lower <= page_size:
            raise _TreeError(f"page {start // page_size} has no valid head")
        places = struct.unpack_from(f"<{(lower - _HEAD) // 2}H", memory, start + _HEAD)
        if flags & _BRANCH:
            todo += [_child(memory, start + place) for place in reversed(places)]
        elif flags & _LEAF:
            for place in places:
                found += 1
                yield _value(memory, start + place, page_size)
        else:
            raise _TreeError(f"page {start // page_size} is of an unknown kind")
    if found != entries:
        raise _TreeError(f"it has {found} of {entries} entries")


def _newest_root(memory: memoryview) -> tuple[int, int, int]:
    """Return the size of pages, and root and number of entries of the last transaction: of two, the newer is valid."""
    (page_size,) = struct.unpack_from("<I", memory, 40)
    if page_size < 512 or page_size > 1 << 16 or page_size & (page_size - 1):
        raise _TreeError("it does not begin with the head of a database")
    newest: tuple[int, int, int] | None = None
    for start in (0, page_size):
        magic, version = struct.unpack_from("<II", memory, start + _HEAD)
        if (magic, version) != (_MAGIC, _VERSION):
            raise _TreeError("it does not begin with the head of a database")
        flags, entries, root = struct.unpack_from("<4xH26xQQ", memory, start + 88)
        (transaction,) = struct.unpack_from("<Q", memory, start + 144)
        if flags & _DUPLICATES:
            raise _TreeError("its keys have several values, which is not supported")
        if newest is None or transaction > newest[0]:
            newest = (transaction, root, entries)
    assert newest is not None
    return page_size, newest[1], newest[2]


def _child(memory: memoryview, place: int) -> int:
    low, high, top = struct.unpack_from("<HHH", memory, place)
    return int(low | high << 16 | top << 32)


def _value(memory: memoryview, place: int, page_size: int) -> Value:
    low, high, flags, key_size = struct.unpack_from("<HHHH", memory, place)
    if flags & _SEVERAL:
        raise _TreeError("its keys have several values, which is not supported")
    key = bytes(memory[place + 8 : place + 8 + key_size])
    offset, length = place + 8 + key_size, low | high << 16
    if flags & _OWN_PAGES:
        (page,) = struct.unpack_from("<Q", memory, offset)
        offset = page * page_size + _HEAD
    if offset + length > len(memory):
        raise _TreeError(f"the value of {key!r} ends outside of the file")
    return Value(key, offset, length)
