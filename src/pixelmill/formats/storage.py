"""Files on this machine and, through fsspec, at addresses: listing them and reading their bytes."""

# ruff: noqa: PTH118 - pathlib would rewrite the paths, which are to stay as they were given
from __future__ import annotations

import glob
import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from pixelmill.errors import DataError

MAX_FILE_BYTES = 1 << 30
_MAX_DEPTH = 64
_OPEN_FILES = 32


@dataclass(frozen=True)
class FileStat:
    """Size and modification time (nanoseconds; 0 if unknown) of a file."""

    size: int
    modified: int


def is_remote(path: str) -> bool:
    """Whether a path is an address for fsspec."""
    return "://" in path


def join(folder: str, name: str) -> str:
    """Append a name to a folder or an address."""
    return f"{folder.rstrip('/')}/{name}" if is_remote(folder) else os.path.join(folder, name)


def is_folder(path: str) -> bool:
    """Whether a path is a folder."""
    if is_remote(path):
        from pixelmill.formats import remote

        return remote.is_folder(path)
    return os.path.isdir(path)  # noqa: PTH112


def stat(path: str) -> FileStat:
    """Return size and time of a file."""
    if is_remote(path):
        from pixelmill.formats import remote

        return remote.stat(path)
    found = os.stat(path)  # noqa: PTH116
    return FileStat(found.st_size, found.st_mtime_ns)


def list_folder(path: str) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the files in a folder, without hidden ones, sorted by their bytes."""
    if is_remote(path):
        from pixelmill.formats import remote

        return remote.list_folder(path)
    folders: list[str] = []
    files: list[str] = []
    with os.scandir(path) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                (folders if _is_folder(entry) else files).append(entry.name)
    return sorted(folders, key=os.fsencode), sorted(files, key=os.fsencode)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads back to itself: reading it reports the problem
        return False


def walk(root: str, *, below: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield each folder below `root`, `root` first, as a relative path with `/`, and the names of its files."""
    seen: set[tuple[int, int]] = set()

    def visit(folder: str, depth: int) -> Iterator[tuple[str, list[str]]]:
        path = join(root, folder) if folder else root
        if not is_remote(path):
            found = os.stat(path)  # noqa: PTH116
            if (found.st_dev, found.st_ino) in seen or depth > _MAX_DEPTH:
                return  # a link back to a parent folder
            seen.add((found.st_dev, found.st_ino))
        folders, files = list_folder(path)
        yield folder, files
        for name in folders:
            yield from visit(f"{folder}/{name}" if folder else name, depth + 1)

    yield from visit(below, 0)


def matching(pattern: str) -> list[str]:
    """Return the files that match a pattern with `*`, sorted; the path itself if it is not a pattern."""
    if not glob.has_magic(pattern):
        return [pattern]
    if is_remote(pattern):
        from pixelmill.formats import remote

        return remote.matching(pattern)
    return sorted(glob.glob(pattern), key=os.fsencode)  # noqa: PTH207


def local_path(path: str) -> str:
    """Return a local file with the content of `path`; a file at an address is fetched into the cache."""
    if not is_remote(path):
        return path
    from pixelmill.formats import remote

    return remote.fetch(path)


def read_start(path: str, length: int) -> bytes:
    """Read up to `length` bytes at the start of a file."""
    if is_remote(path):
        from pixelmill.formats import remote

        return remote.read(path, 0, length)
    with open(path, "rb") as stream:  # noqa: PTH123
        return stream.read(length)


def read_file(path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
    """Read a whole file; raises DataError if it is larger than `limit`."""
    if is_remote(path):
        from pixelmill.formats import remote

        size = remote.stat(path).size
        if size <= limit:
            return remote.read(path, 0, size, size=size)
    else:
        with open(path, "rb") as stream:  # noqa: PTH123
            size = os.fstat(stream.fileno()).st_size
            if size <= limit:
                return stream.read()
    raise DataError(f"{path} has {size} bytes, more than the limit of {limit}")


def read_pieces(path: str, length: int) -> Iterator[bytes]:
    """Yield the content of a file in pieces."""
    if is_remote(path):
        path = local_path(path)
    with open(path, "rb") as stream:  # noqa: PTH123
        while piece := stream.read(length):
            yield piece


def read_range(path: str, offset: int, length: int) -> bytes:
    """Read a range of a file; the result is shorter if the file ends before."""
    if is_remote(path):
        from pixelmill.formats import remote

        return remote.read(path, offset, length)
    return _OpenFile(path).read(offset, length)


class OpenFiles:
    """Reads ranges of local files and keeps the last few files open, for callers that read many ranges."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, _OpenFile] = OrderedDict()

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Read a range like `read_range`. A file that is replaced in the meantime is read as it was."""
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = _OpenFile(path)
            if len(self._files) > _OPEN_FILES:
                self._files.popitem(last=False)
        return file.read(offset, length)

    def __reduce__(self) -> tuple[type[OpenFiles], tuple[()]]:
        """Drop the open files: another process opens its own."""
        return OpenFiles, ()


class _OpenFile:
    """A descriptor that is closed with its last reference, so never while another thread reads."""

    def __init__(self, path: str) -> None:
        self._descriptor = -1
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def __del__(self) -> None:  # waits for nothing: the file is only read
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def read(self, offset: int, length: int) -> bytes:
        available = os.fstat(self._descriptor).st_size - offset
        return os.pread(self._descriptor, max(0, min(length, available)), offset)
