"""Ranges of files, many from the same few files."""

from __future__ import annotations

from pixelmill.storage import files
from pixelmill.storage.local import OpenFiles

_WHOLE_FROM = 0.25  # a file is fetched whole once this fraction of its bytes has been requested


class RangeReader:
    """Reads ranges of files. A remote file is read range by range until fetching all of it is faster."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}
        self._asked: dict[str, int] = {}
        self._fetched: dict[str, str] = {}
        self._files = OpenFiles()

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Read a range of a file; the result is shorter if the file ends before."""
        if not files.is_remote(path) or path in self._fetched:
            return self._files.read(self._fetched.get(path, path), offset, length)
        if path not in self._sizes:
            self._sizes[path] = files.stat(path).size
        self._asked[path] = self._asked.get(path, 0) + length
        if self._asked[path] > _WHOLE_FROM * self._sizes[path]:
            self._fetched[path] = files.local_path(path)
            return self.read(path, offset, length)
        return files.read_range(path, offset, length, size=self._sizes[path])
