"""Reading files of this machine. Only regular files are read: a FIFO never answers and a device never ends."""

from __future__ import annotations

import errno
import os
import stat as status
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from pixelmill.errors import DataError

_OPEN_FILES = 32
_KINDS = {
    status.S_IFIFO: "a FIFO",
    status.S_IFCHR: "a device",
    status.S_IFBLK: "a device",
    status.S_IFSOCK: "a socket",
}


@dataclass(frozen=True)
class FileStat:
    """What is known of a file.

    Attributes:
        size: Its size in bytes.
        modified: Its modification time in nanoseconds; 0 if unknown.
        version: Changes with its content, such as the ETag of an object; empty if the store has none.
    """

    size: int
    modified: int
    version: str = ""


def working_folder() -> str:
    """Return the working folder, which datasets keep when they are opened; empty if it no longer exists."""
    try:
        return os.getcwd()  # noqa: PTH109 - a string
    except OSError:
        return ""


def anchored(path: str, base: str) -> str:
    """Return where a path leads if it is relative to `base`; an address, and an absolute path, stay as they are."""
    if not base or not path or path.startswith("/") or "://" in path:
        return path
    return os.path.join(base, path)  # noqa: PTH118 - pathlib would rewrite it


def open_regular(path: str, *, follow: bool = True, base: str = "") -> int:
    """Open a regular file for reading and return its descriptor; raises OSError for anything else.

    Args:
        path: The file.
        follow: Whether the last part of the path may be a symbolic link.
        base: The folder that a relative path starts from; the working folder of this moment if empty.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(anchored(path, base), flags)
    except OSError as error:
        error.filename = path  # as it was given
        if error.errno == errno.ENXIO:  # Linux's answer for sockets, "No such device or address", misleads
            raise OSError(errno.EINVAL, "Not a regular file but a socket", path) from None
        raise
    try:
        check_regular(os.fstat(descriptor), path)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def open_binary(path: str | Path, *, buffering: int = -1) -> BinaryIO:
    """Open a regular file like `open(path, "rb")`; raises OSError for anything else."""
    return open(open_regular(os.fspath(path)), "rb", buffering=buffering)


def check_regular(found: os.stat_result, path: str) -> None:
    """Raise OSError for anything but a regular file."""
    kind = status.S_IFMT(found.st_mode)
    if kind == status.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if kind != status.S_IFREG:
        raise OSError(errno.EINVAL, f"Not a regular file but {_KINDS.get(kind, 'something else')}", path)


def stat(path: str, *, base: str = "") -> FileStat:
    """Return size and time of a regular file or a folder; see `open_regular` for the base."""
    try:
        found = os.stat(anchored(path, base))  # noqa: PTH116 - this is called often
    except OSError as error:
        error.filename = path
        raise
    if not status.S_ISDIR(found.st_mode):
        check_regular(found, path)
    return FileStat(found.st_size, found.st_mtime_ns)


def list_folder(path: str) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the files in a folder, without hidden ones, sorted by their bytes."""
    folders: list[str] = []
    files: list[str] = []
    with os.scandir(path) as entries:
        for entry in entries:
            if not entry.name.startswith("."):
                (folders if is_folder_entry(entry) else files).append(entry.name)
    return sorted(folders, key=os.fsencode), sorted(files, key=os.fsencode)


def is_folder_entry(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder or a link to one; a link that leads back to itself must not end the listing."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def is_file_entry(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a regular file or a link to one."""
    try:
        return entry.is_file()
    except OSError:
        return False


def read_start(path: str, length: int, *, base: str = "") -> bytes:
    """Read up to `length` bytes at the start of a file."""
    with open(open_regular(path, base=base), "rb") as stream:
        return stream.read(length)


def read_file(path: str, limit: int, *, follow: bool = True, base: str = "") -> bytes:
    """Read a whole file; raises DataError if it is larger than `limit`."""
    with open(open_regular(path, follow=follow, base=base), "rb") as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > limit:
            raise DataError(f"{path} has {size} bytes, more than the limit of {limit}")
        return stream.read(size)  # not more: a file may grow, and those of /proc have a size of 0


def read_pieces(path: str, length: int) -> Iterator[bytes]:
    """Yield the content of a file in pieces, as far as the file reached when it was opened."""
    with open_binary(path) as stream:
        left = os.fstat(stream.fileno()).st_size
        while left and (piece := stream.read(min(length, left))):
            left -= len(piece)
            yield piece


def read_range(path: str, offset: int, length: int, *, base: str = "") -> bytes:
    """Read a range of a file; the result is shorter if the file ends before."""
    return _OpenFile(path, base).read(offset, length)


class OpenFiles:
    """Reads ranges of local files and keeps the last few files open, for callers that read many ranges.

    Args:
        base: The folder that relative paths start from; the working folder of this moment if None.
    """

    def __init__(self, base: str | None = None) -> None:
        self._base = working_folder() if base is None else base
        self._files: OrderedDict[str, _OpenFile] = OrderedDict()

    def read(self, path: str, offset: int, length: int) -> bytes:
        """Read a range like `read_range`. A file that is replaced in the meantime is read as it was."""
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = _OpenFile(path, self._base)
            if len(self._files) > _OPEN_FILES:
                self._files.popitem(last=False)
        return file.read(offset, length)

    def __reduce__(self) -> tuple[type[OpenFiles], tuple[str]]:
        """Drop the open files: another process opens its own."""
        return OpenFiles, (self._base,)


class _OpenFile:
    """A descriptor that is closed with its last reference, so never while another thread reads."""

    def __init__(self, path: str, base: str) -> None:
        self._descriptor = -1
        self._descriptor = open_regular(path, base=base)

    def __del__(self) -> None:  # waits for nothing: the file is only read
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def read(self, offset: int, length: int) -> bytes:
        available = os.fstat(self._descriptor).st_size - offset
        return os.pread(self._descriptor, max(0, min(length, available)), offset)
