"""Ranges of files at addresses, kept on the disk of this machine for all processes of a user.

A range is a file in the folder of its dataset in the cache (see `cache.py`), named by a hash of its address, version,
offset and length. It ends with a checksum; one that does not match is fetched again. A range of a file whose version is
not known is not kept, since nothing would tell that it is old.

The folder of a dataset belongs to the runs that read it. What does not fit is not kept: replacing what a shuffled epoch
needs again by what it needs again would save no request. Room is made by removing other datasets that no process
reads, least recently used first.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import threading
from pathlib import Path

from pixelmill import _core
from pixelmill.storage import cache, system
from pixelmill.storage.ranges import WHOLE, Range

_FOLDER = "ranges"
_LOCKS = ".locks"
_TAIL = 4  # bytes of the checksum
_SHARE = 0.1  # of the free disk, where the user names no size
MAX_FILE_BYTES = 1 << 30
_COUNT_AGAIN = 64  # a process counts the files of others again after writing this fraction of the cache


class RangeCache:
    """The ranges of one dataset.

    Args:
        dataset: The address that all its files begin with.
        size: The most bytes that all datasets together may take; None for a tenth of the free disk.
    """

    def __init__(self, dataset: str, *, size: int | None) -> None:
        folder = cache.used_below(_FOLDER, _digest(dataset))
        if folder is None:
            raise OSError("the cache is off")
        self._base, self._folder = folder.parent, folder
        os.utime(self._folder)  # datasets are removed in the order of their last use
        self._size = int(_SHARE * shutil.disk_usage(self._base).free) if size is None else size
        self._counting = threading.Lock()
        self._used: int | None = None
        self._written = 0
        self._locks = system.open_lock(self._folder / _LOCKS)

    def __del__(self) -> None:
        if hasattr(self, "_locks"):
            os.close(self._locks)

    def holds(self, item: Range) -> bool:
        """Whether a range is there."""
        return bool(item.version) and cache.holds(self._path(item))

    def read(self, item: Range) -> bytes | None:
        """Return a range, or None if it is not there or damaged."""
        path = self._path(item)
        data = cache.read(path, limit=MAX_FILE_BYTES if item.length == WHOLE else item.length + _TAIL)
        if data is None:
            return None
        body = data[:-_TAIL]
        if len(data) < _TAIL or _core.crc32c(body) != int.from_bytes(data[-_TAIL:], "little"):
            path.unlink(missing_ok=True)
            return None
        return body

    def write(self, item: Range, data: memoryview) -> None:
        """Keep a range if there is room. A disk that cannot be written to keeps nothing, and the run goes on."""
        with self._counting:
            if not item.version or not self._has_room(data.nbytes + _TAIL):
                return
            self._written += data.nbytes + _TAIL
        with (
            contextlib.suppress(OSError),
            cache.publishing(self._path(item), sync=False) as new,
            new.path.open("wb") as stream,
        ):
            stream.write(data)
            stream.write(_core.crc32c(bytes(data)).to_bytes(_TAIL, "little"))

    def claim(self, item: Range) -> bool:
        """Whether this process may fetch a range: no other process of this machine is fetching it."""
        if not item.version:
            return True
        try:
            system.lock_byte(self._locks, _place(item))
        except OSError:
            return False
        return True

    def unclaim(self, item: Range) -> None:
        """Allow other processes to fetch a range."""
        if item.version:
            with contextlib.suppress(OSError):
                system.unlock_byte(self._locks, _place(item))

    def _path(self, item: Range) -> Path:
        return self._folder / _digest(f"{item.path}\0{item.version}\0{item.offset}\0{item.length}")

    def _has_room(self, wanted: int) -> bool:
        if self._used is None or self._written > self._size // _COUNT_AGAIN:
            self._used, self._written = sum(map(_bytes_below, _datasets(self._base))), 0
        if self._used + self._written + wanted > self._size:
            self._make_room(wanted)
        return self._used + self._written + wanted <= self._size

    def _make_room(self, wanted: int) -> None:
        """Remove other datasets, least recently used first, until there is room."""
        assert self._used is not None
        others = [folder for folder in _datasets(self._base) if folder != self._folder]
        for folder in sorted(others, key=lambda path: path.stat().st_mtime_ns):
            if self._used + self._written + wanted <= self._size:
                return
            size = _bytes_below(folder)
            if cache.remove_unused(folder):
                self._used -= size


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _place(item: Range) -> int:
    """Return the byte of the file of locks that stands for a range."""
    text = f"{item.path}\0{item.version}\0{item.offset}".encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "little")


def _datasets(base: Path) -> list[Path]:
    return [path for path in base.iterdir() if path.is_dir() and not path.is_symlink()]


def _bytes_below(folder: Path) -> int:
    total = 0
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # another process removed it
                total += entry.stat(follow_symlinks=False).st_size
    return total
