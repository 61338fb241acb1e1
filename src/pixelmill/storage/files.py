"""Paths and addresses: each call reads a file of this machine or, through fsspec, one at an address."""

# ruff: noqa: PTH118 - pathlib would rewrite the paths, which are to stay as they were given
from __future__ import annotations

import glob
import os
from collections.abc import Iterator

from pixelmill.errors import DataError
from pixelmill.storage import local, remote
from pixelmill.storage.local import FileStat

MAX_FILE_BYTES = 1 << 30
_MAX_DEPTH = 64


def is_remote(path: str) -> bool:
    """Whether a path is an address for fsspec."""
    return "://" in path


def join(folder: str, name: str) -> str:
    """Append a name to a folder or an address."""
    return f"{folder.rstrip('/')}/{name}" if is_remote(folder) else os.path.join(folder, name)


def is_folder(path: str) -> bool:
    """Whether a path is a folder."""
    return remote.is_folder(path) if is_remote(path) else os.path.isdir(path)  # noqa: PTH112


def stat(path: str) -> FileStat:
    """Return size and time of a file."""
    return remote.stat(path) if is_remote(path) else local.stat(path)


def list_folder(path: str) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the files in a folder, without hidden ones, sorted by their bytes."""
    return remote.list_folder(path) if is_remote(path) else local.list_folder(path)


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
        return remote.matching(pattern)
    if os.path.lexists(pattern):  # a file or folder whose name has brackets
        return [pattern]
    return sorted(glob.glob(pattern), key=os.fsencode)  # noqa: PTH207


def local_path(path: str) -> str:
    """Return a local file with the content of `path`; a file at an address is fetched into the cache."""
    return remote.fetch(path) if is_remote(path) else path


def read_start(path: str, length: int) -> bytes:
    """Read up to `length` bytes at the start of a file."""
    return remote.read(path, 0, length) if is_remote(path) else local.read_start(path, length)


def read_file(path: str, *, limit: int = MAX_FILE_BYTES) -> bytes:
    """Read a whole file; raises DataError if it is larger than `limit`."""
    if not is_remote(path):
        return local.read_file(path, limit)
    size = remote.stat(path).size
    if size > limit:
        raise DataError(f"{path} has {size} bytes, more than the limit of {limit}")
    return remote.read(path, 0, size, size=size)


def read_pieces(path: str, length: int) -> Iterator[bytes]:
    """Yield the content of a file in pieces."""
    return local.read_pieces(local_path(path), length)


def read_range(path: str, offset: int, length: int) -> bytes:
    """Read a range of a file; the result is shorter if the file ends before."""
    return remote.read(path, offset, length) if is_remote(path) else local.read_range(path, offset, length)
