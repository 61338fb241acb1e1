"""Parquet files at addresses: groups of rows by the ranges of their columns."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from contextvars import copy_context
from typing import Any

from pixelmill import storage
from pixelmill.storage.ranges import Range

Piece = tuple[int, bytes | memoryview]  # of a file, with its offset

_END = 1 << 20  # bytes at the end of a file that are read at once; the descriptions of most files fit


class SparseFile(io.RawIOBase):
    """A file of which some ranges are in memory; what else is read is a request.

    Args:
        path: The address.
        size: The size of the file.
    """

    def __init__(self, path: str, size: int) -> None:
        super().__init__()
        self._path = path
        self._size = size
        self._position = 0
        self._known: list[tuple[int, memoryview]] = []
        self._context = copy_context()  # with the options of the store: pyarrow reads in threads of its own

    def add(self, offset: int, data: bytes | memoryview) -> None:
        """Add a range."""
        self._known.append((offset, memoryview(data)))

    def read_end(self) -> bytes:
        """Read the end of the file, where its description is, and return it."""
        begin = max(0, self._size - _END)
        end = storage.read_range(self._path, begin, self._size - begin, size=self._size)
        self.add(begin, end)
        return end

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the place of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        self._position = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Read bytes."""
        data = self._at(self._position, max(0, self._size - self._position) if size < 0 else size)
        self._position += len(data)
        return data

    def _at(self, offset: int, length: int) -> bytes:
        for begin, data in self._known:
            if begin <= offset and offset + length <= begin + len(data):
                return bytes(data[offset - begin : offset - begin + length])
        return self._context.copy().run(storage.read_range, self._path, offset, length, size=self._size)


class RemoteGroups:
    """The groups of rows of a Parquet file at an address.

    Args:
        module: pyarrow.
        path: The address.
        size: The size of the file.
        about: Its description, as pyarrow has parsed it.
    """

    def __init__(self, module: Any, path: str, size: int, about: Any) -> None:
        self._module = module
        self._path = path
        self._size = size
        self._about = about
        self._columns = [about.schema.column(number).path for number in range(about.num_columns)]

    def parts(self, group: int, columns: Iterable[str]) -> list[Range]:
        """Return the ranges of some columns of a group, in the order of the file; neighbors are one."""
        wanted = set(columns)
        about = self._about.row_group(group)
        numbers = [n for n, path in enumerate(self._columns) if path in wanted or path.partition(".")[0] in wanted]
        parts: list[Range] = []
        for begin, end in sorted(self._extent(about.column(number)) for number in numbers):
            if parts and begin == parts[-1].offset + parts[-1].length:
                begin = parts.pop().offset
            parts.append(Range(self._path, begin, end - begin))
        return parts

    def table(self, group: int, columns: Iterable[str], pieces: Iterable[Piece]) -> Any:
        """Return some columns of a group.

        Args:
            group: The number of the group.
            columns: The columns.
            pieces: The content of their parts.
        """
        source = SparseFile(self._path, self._size)
        for offset, data in pieces:
            source.add(offset, data)
        file = self._module.parquet.ParquetFile(source, metadata=self._about, page_checksum_verification=True)
        return file.read_row_group(group, columns=list(columns))

    def _extent(self, column: Any) -> tuple[int, int]:
        """Return where a column of a group begins and ends; nothing if that is outside of the file."""
        begin = min(column.data_page_offset, column.dictionary_page_offset or column.data_page_offset)
        end = begin + column.total_compressed_size
        return (begin, end) if 0 <= begin < end <= self._size else (0, 0)
