"""Files that are written from start to end."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from pixelmill.errors import ArgumentError
from pixelmill.jobs.disk import explained, write_all
from pixelmill.jobs.storage import Finished
from pixelmill.storage import system
from pixelmill.storage.local import open_regular
from pixelmill.storage.preallocate import Preallocation as Room

_BUFFER = 1 << 20
_LARGE = 1 << 16  # pieces of this size are written without a copy into the buffer
_CHUNK = 1 << 20


@dataclass(frozen=True)
class FileRecord:
    """A finished file, as sidecars and the manifest list it."""

    name: str
    bytes: int
    sha256: str


class OutputStream(io.BufferedIOBase, BinaryIO):
    """A file that is written from start to end, and hashed on the way if it is durable.

    Its beginning may be written again, for containers whose first bytes depend on all that follows.
    """

    def __init__(self, path: Path, *, shown: str, durable: bool = True) -> None:
        self.path = path
        self._durable = durable
        self._shown = shown
        self._hash = hashlib.sha256()
        self._waiting = bytearray()
        self._written = 0
        self._position = 0
        self._went_back = False
        self._is_closed = False
        self._descriptor = -1
        self._begin()

    def _begin(self) -> None:
        """Create the file."""
        with explained(self._shown):
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | system.PRIVATE, 0o666)
        self._room = Room(self._descriptor, 0)

    @property
    def closed(self) -> bool:
        """Whether nothing more can be written."""
        return self._is_closed

    @property
    def content(self) -> Finished:
        """Where the bytes are."""
        return self.path

    def tell(self) -> int:
        """Return the place where the next byte goes."""
        return self._position + len(self._waiting)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go back to the beginning; what is written there replaces what was written before."""
        if (offset, whence) != (0, os.SEEK_SET):
            raise ArgumentError(f"job: {self._shown} can only be written again from its beginning")
        self.flush()
        self._went_back = True
        self._position = 0
        if self._descriptor >= 0:
            with explained(self._shown):
                os.lseek(self._descriptor, 0, os.SEEK_SET)
        return 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def writelines(self, pieces: Iterable[Any]) -> None:
        """Append many pieces."""
        for piece in pieces:
            self.write(piece)

    def write(self, data: Any) -> int:
        """Append bytes."""
        if self.closed:
            raise ArgumentError(f"job: {self._shown} is already closed")
        size = memoryview(data).nbytes
        if size < _LARGE and len(self._waiting) + size <= _BUFFER:
            self._waiting += data
            return size
        self.flush()
        self._put(memoryview(data).cast("B"), owned=False)
        return size

    def flush(self) -> None:
        """Pass buffered bytes to the operating system."""
        if self._waiting:
            waiting, self._waiting = self._waiting, bytearray()
            self._put(memoryview(waiting), owned=True)

    def close(self) -> None:
        """Write buffered bytes and close; `bring_to_disk` then waits until they are on the disk."""
        if self.closed:
            return
        try:
            self.flush()
            if self._descriptor >= 0:
                self._room.give_back()
        finally:
            with explained(self._shown, written=self._written):
                self._end()

    def abandon(self) -> None:
        """Close without writing buffered bytes."""
        if not self.closed:
            self._end()

    def _end(self) -> None:
        self._is_closed = True
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def record(self, name: str) -> FileRecord:
        """Describe the finished file."""
        if self._durable and self._went_back:
            return hash_file(self.path, name, shown=self._shown)
        return FileRecord(name, self._written, self._hash.hexdigest() if self._durable else "")

    def __enter__(self) -> OutputStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def _put(self, data: memoryview, *, owned: bool) -> None:
        """Write bytes at the position; `owned` says that nothing else refers to them."""
        del owned
        more = self._beyond_end(data)
        self._room.take(more)
        with explained(self._shown, written=self._written, more=more):
            write_all(self._descriptor, data)
        if self._durable and not self._went_back:
            self._hash.update(data)
        self._position += len(data)
        self._written += more

    def _beyond_end(self, data: memoryview) -> int:
        """Return how many bytes the file grows by when these are written."""
        return max(0, self._position + len(data) - self._written)


def hash_file(path: Path, name: str, *, shown: str) -> FileRecord:
    """Read a finished file and return its record."""
    digest, size = hashlib.sha256(), 0
    with explained(shown):
        descriptor = open_regular(str(path))
        try:
            while chunk := os.read(descriptor, _CHUNK):
                digest.update(chunk)
                size += len(chunk)
        finally:
            os.close(descriptor)
    return FileRecord(name, size, digest.hexdigest())
