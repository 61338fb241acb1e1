"""Reading files and ranges of files one after another, many from the same few files."""

from __future__ import annotations

from collections.abc import Iterable

from pixelmill.errors import DataError
from pixelmill.storage import files
from pixelmill.storage.announced_reads import AnnouncedReads
from pixelmill.storage.local import OpenFiles, working_folder
from pixelmill.storage.ranges import WHOLE, Range

_WHOLE_FROM = 0.25  # a file is fetched whole once this fraction of its bytes has been requested


class RangeReader:
    """Reads files and ranges of files.

    Those at addresses that were announced by `expect` are fetched ahead, many at a time. A file whose ranges were not
    announced is read range by range until fetching all of it is faster.

    Args:
        base: The folder that relative paths start from; the working folder of this moment if None.
    """

    def __init__(self, base: str | None = None) -> None:
        self._base = working_folder() if base is None else base
        self._sizes: dict[str, int] = {}
        self._asked: dict[str, int] = {}
        self._fetched: dict[str, str] = {}
        self._files = OpenFiles(self._base)
        self._announced: AnnouncedReads | None = None

    def expect(self, items: Iterable[Range]) -> None:
        """Announce what will be read, in this order; what was announced before and not read is withdrawn."""
        if self._announced is None:
            self._announced = AnnouncedReads()
        self._announced.begin(items)

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Read a range of a file; the result is shorter if the file ends before."""
        found = self.view(path, offset, length)
        return found if isinstance(found, bytes) else bytes(found)

    def view(self, path: str, offset: int, length: int) -> bytes | memoryview:
        """Read a range like `read`, without a copy; a view may keep what was fetched with it in memory."""
        if not files.is_remote(path) or path in self._fetched:
            return self._files.read(self._fetched.get(path, path), offset, length)
        ahead = None if self._announced is None else self._announced.take(path, offset, length)
        if ahead is not None:
            return ahead
        if path not in self._sizes:
            self._sizes[path] = files.stat(path).size
        self._asked[path] = self._asked.get(path, 0) + length
        if self._asked[path] > _WHOLE_FROM * self._sizes[path]:
            self._fetched[path] = files.local_path(path)
            return self.view(path, offset, length)
        return files.read_range(path, offset, length, size=self._sizes[path])

    def read_file(self, path: str, *, limit: int = files.MAX_FILE_BYTES) -> bytes:
        """Read a whole file; raises DataError if it is larger than `limit`."""
        ahead = None if self._announced is None else self._announced.take(path, 0, WHOLE)
        if ahead is None:
            return files.read_file(path, limit=limit, base=self._base)
        if len(ahead) > limit:
            raise DataError(f"{path} has {len(ahead)} bytes, more than the limit of {limit}")
        return bytes(ahead)
