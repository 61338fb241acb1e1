"""Writes the file of an LMDB database from front to back, from keys in ascending order.

Values are written as they come, pages of keys when they are full, and at the end the levels of pages above them. The
first two pages, which point to the root, are written again when it is known. Pages are laid out as LMDB itself fills
them in one transaction, and no byte depends on anything but keys and values.
"""

from __future__ import annotations

import struct
from typing import Protocol

from pixelmill.errors import ArgumentError
from pixelmill.formats.lmdb.tree import BRANCH, HEAD, LEAF, MAGIC, META, NO_PAGE, OVERFLOW, OWN_PAGES, VERSION

PAGE = 4096
LARGEST_KEY = 511
LARGEST_VALUE = (1 << 32) - 1
_NODE = 8  # bytes before the key of a node
_LARGEST_NODE = (PAGE - HEAD) // 2 - 2  # so that two nodes and their places fit on a page
_FREE_FLAGS = 0x08  # the keys of the table of free pages are integers
_Database = tuple[int, int, int, int, int, int, int, int]  # as `_database` packs them


class Stream(Protocol):
    """A file being written, which can go back to its beginning."""

    def write(self, data: bytes, /) -> int:
        """Write bytes."""

    def seek(self, offset: int, /) -> int:
        """Go to a place."""


class _Nodes:
    """The nodes of a page that is being filled."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.first = b""
        self._size = HEAD

    def has_room(self, node: bytes) -> bool:
        return self._size + len(node) + 2 <= PAGE

    def add(self, key: bytes, node: bytes) -> None:
        if not self.nodes:
            self.first = key
        self.nodes.append(node)
        self._size += len(node) + 2

    def page(self, number: int, flags: int) -> bytes:
        """Return the page: nodes fill it from its end, as LMDB puts them."""
        places, place = [], PAGE
        for node in self.nodes:
            place -= len(node)
            places.append(place)
        lower = HEAD + 2 * len(places)
        head = struct.pack(f"<QHHHH{len(places)}H", number, 0, flags, lower, place, *places)
        return head + bytes(place - lower) + b"".join(reversed(self.nodes))


class TreeWriter:
    """Writes a database.

    Args:
        stream: The file, empty.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._next = 2
        self._entries = self._overflow = 0
        self._last: bytes | None = None
        self._leaf = _Nodes()
        self._leaves: list[tuple[bytes, int]] = []
        stream.write(bytes(2 * PAGE))

    def add(self, key: bytes, value: bytes) -> None:
        """Add a value; its key must be larger than those before."""
        if not 0 < len(key) <= LARGEST_KEY or (self._last is not None and key <= self._last):
            raise ArgumentError(f"lmdb: the key {key[:60]!r} is empty, too long or not in order")
        if len(value) > LARGEST_VALUE:
            raise ArgumentError(f"lmdb: the value of {key[:60]!r} has {len(value)} bytes, more than {LARGEST_VALUE}")
        self._last = key
        if _NODE + len(key) + len(value) > _LARGEST_NODE:
            node = _node(len(value), OWN_PAGES, key, struct.pack("<Q", self._put_value(value)))
        else:
            node = _node(len(value), 0, key, value)
        if not self._leaf.has_room(node):
            self._leaves.append((self._leaf.first, self._put(self._leaf, LEAF)))
            self._leaf = _Nodes()
        self._leaf.add(key, node)
        self._entries += 1

    def close(self) -> None:
        """Write the rest of the tree and the pages that point to it; the caller closes the stream."""
        if self._leaf.nodes:
            self._leaves.append((self._leaf.first, self._put(self._leaf, LEAF)))
        level, depth, branches = self._leaves, min(1, len(self._leaves)), 0
        while len(level) > 1:
            level = [(page.first, self._put(page, BRANCH)) for page in _branches(level)]
            branches += len(level)
            depth += 1
        root = level[0][1] if level else NO_PAGE
        main = (0, 0, depth, branches, len(self._leaves), self._overflow, self._entries, root)
        self._stream.seek(0)
        self._stream.write(self._head(0, main) + self._head(1, main))

    def _put_value(self, value: bytes) -> int:
        number, count = self._next, -(-(HEAD + len(value)) // PAGE)
        head = struct.pack("<QHHI", number, 0, OVERFLOW, count)
        self._stream.write(b"".join((head, value, bytes(count * PAGE - HEAD - len(value)))))
        self._next += count
        self._overflow += count
        return number

    def _put(self, nodes: _Nodes, flags: int) -> int:
        number = self._next
        self._stream.write(nodes.page(number, flags))
        self._next += 1
        return number

    def _head(self, number: int, main: _Database) -> bytes:
        """Return one of the first two pages. The number of each is that of its transaction, too.

        LMDB believes the newer one. Both point to the same tree, so that a damaged number changes nothing.
        """
        start = struct.pack("<QHHI", number, 0, META, 0)
        about = struct.pack("<IIQQ", MAGIC, VERSION, 0, self._next * PAGE)
        free = (PAGE, _FREE_FLAGS, 0, 0, 0, 0, 0, NO_PAGE)
        page = start + about + _database(free) + _database(main) + struct.pack("<QQ", self._next - 1, number)
        return page + bytes(PAGE - len(page))


def _database(values: _Database) -> bytes:
    """Pack padding (the page size), flags, depth, pages of branches, leaves and values, entries, and the root."""
    return struct.pack("<IHHQQQQQ", *values)


def _node(number: int, flags: int, key: bytes, content: bytes) -> bytes:
    node = struct.pack("<IHH", number, flags, len(key)) + key + content
    return node + bytes(len(node) % 2)


def _branches(level: list[tuple[bytes, int]]) -> list[_Nodes]:
    """Return the pages that point to those of a level, with at least two nodes each, as LMDB expects."""
    groups = [_Nodes()]
    for place, (key, number) in enumerate(level):
        group, coming = groups[-1], level[place : place + 2] if place == len(level) - 2 else level[place : place + 1]
        if group.nodes and not group.has_room(b"".join(_branch_node(0, key) + bytes(2) for key, _ in coming)[:-2]):
            group = _Nodes()
            groups.append(group)
        group.add(key, _branch_node(number, key if group.nodes else b""))
    return groups


def _branch_node(number: int, key: bytes) -> bytes:
    """Return a node that points to a page. The first of a page has no key: everything smaller is below it."""
    return _node(number & 0xFFFF_FFFF, number >> 32, key, b"")
