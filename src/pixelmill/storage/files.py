"""Paths and addresses: each call reads a file of this machine or, through fsspec, one at an address."""

# ruff: noqa: PTH118 - pathlib would rewrite the paths, which are to stay as they were given
from __future__ import annotations

import errno
import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from pixelmill.errors import ArgumentError
from pixelmill.storage import local, remote
from pixelmill.storage.braces import expanded
from pixelmill.storage.local import FileStat
from pixelmill.storage.remote import is_web
from pixelmill.storage.system import WINDOWS, with_slashes

MAX_FILE_BYTES = 1 << 30
_AT_ONCE = 64  # calls that wait together

Item = TypeVar("Item")
Result = TypeVar("Result")
_MAX_DEPTH = 64


def is_remote(path: str) -> bool:
    """Whether a path is an address, such as that of an object in a store."""
    return "://" in path


def refuse_remote(path: str, what: str, *, output: bool = False) -> None:
    """Raise ArgumentError for an address, where only files of this machine can be read or written."""
    if is_remote(path):
        first, last = ("FOLDER", path) if output else (path, "FOLDER")
        hint = f"{'write to a folder, then copy it' if output else 'copy it first'}: pixelmill convert {first} {last}"
        raise ArgumentError(f"{what}: {path} is remote, and local files are needed; {hint} --to FORMAT")


def plain(path: str) -> str:
    """Return a path as the other functions take it: without `file://`, with the home folder for `~`, with `/` alone."""
    if path.startswith("~"):
        path = os.path.expanduser(path)  # noqa: PTH111
    elif path.startswith("file://"):
        path = unquote(urlsplit(path).path)
        path = path[1:] if WINDOWS and path[2:3] == ":" else path  # file:///C:/folder
    return path if is_remote(path) else with_slashes(path)


def join(folder: str, name: str) -> str:
    """Append a name to a folder or an address; a name that is an address itself stays as it is."""
    if is_remote(name):
        return name
    return f"{folder.rstrip('/')}/{name}" if is_remote(folder) else with_slashes(os.path.join(folder, name))


def is_folder(path: str) -> bool:
    """Whether a path is a folder."""
    return remote.is_folder(path) if is_remote(path) else os.path.isdir(path)  # noqa: PTH112


def stat(path: str, *, base: str = "") -> FileStat:
    """Return size and time of a file; see `local.open_regular` for the base of relative paths."""
    return remote.stat(path) if is_remote(path) else local.stat(path, base=base)


def stats(paths: Sequence[str], *, base: str = "") -> Iterable[FileStat | OSError]:
    """Return size, time and version of many files, or the error of each that has none.

    Files at addresses are looked up in listings of their folders: one request for each thousand files.
    """
    stat_of = partial(_stat_or_error, base)
    folders: dict[str, list[str]] = {}
    for path in paths:
        if is_remote(path):
            folders.setdefault(path.rpartition("/")[0], []).append(path)
    if not folders:
        return map(stat_of, paths)
    known: dict[str, FileStat | OSError] = {}
    is_listed = [folder for folder, inside in folders.items() if len(inside) > 1 and not is_web(folder)]
    for folder, entries in zip(is_listed, together(_listing_or_error, is_listed), strict=True):
        for path in folders[folder]:
            found = entries if isinstance(entries, OSError) else entries.get(path.rpartition("/")[2])
            known[path] = found or FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    single = [path for path in dict.fromkeys(paths) if path not in known]
    known |= dict(zip(single, together(stat_of, single, wait=any(map(is_remote, single))), strict=True))
    return [known[path] for path in paths]


def _stat_or_error(base: str, path: str) -> FileStat | OSError:
    try:
        return stat(path, base=base)
    except OSError as error:
        return error


def _listing_or_error(path: str) -> dict[str, FileStat | None] | OSError:
    try:
        return remote.listing(path)
    except OSError as error:
        return error


def together(call: Callable[[Item], Result], items: Sequence[Item], *, wait: bool = True) -> list[Result]:
    """Call a function for many items and return what it returns.

    Args:
        call: The function.
        items: The items.
        wait: Whether the calls wait for stores; they then wait together.
    """
    if not wait or len(items) < 2:
        return [call(item) for item in items]
    first, *others = items
    with ThreadPoolExecutor(min(len(others), _AT_ONCE)) as pool:
        # With the options of the caller, who makes the first call.
        waiting = [pool.submit(copy_context().run, call, item) for item in others]
        return [call(first), *(future.result() for future in waiting)]


def listing(path: str) -> dict[str, FileStat | None]:
    """Return the names in a folder at an address, without hidden ones, with None for folders."""
    return remote.listing(path)


def list_folder(path: str) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the files in a folder, without hidden ones, sorted by their bytes."""
    return remote.list_folder(path) if is_remote(path) else local.list_folder(path)


def has_file(path: str) -> bool:
    """Whether there is a file, by the listing of its folder; web servers have no listings and are asked for it."""
    if is_web(path):
        return not isinstance(_stat_or_error("", path), OSError)
    folder, _, name = path.rpartition("/")
    return name in list_folder(folder or ".")[1]


def walk(root: str, *, below: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield each folder below `root`, `root` first, as a relative path with `/`, and the names of its files."""
    if is_remote(root):
        yield from _walk_remote(root, below)
        return
    seen: set[tuple[int, int]] = set()

    def visit(folder: str, depth: int) -> Iterator[tuple[str, list[str]]]:
        path = join(root, folder) if folder else root
        found = os.stat(path)  # noqa: PTH116
        if (found.st_dev, found.st_ino) in seen or depth > _MAX_DEPTH:
            return  # a link back to a parent folder
        seen.add((found.st_dev, found.st_ino))
        folders, files = list_folder(path)
        yield folder, files
        for name in folders:
            yield from visit(f"{folder}/{name}" if folder else name, depth + 1)

    yield from visit(below, 0)


def _walk_remote(root: str, below: str) -> Iterator[tuple[str, list[str]]]:
    """List all folders of a depth together, and yield them in the order of `walk`."""
    found: dict[str, tuple[list[str], list[str]]] = {}
    level = [below]
    for _ in range(_MAX_DEPTH + 1):
        listings = together(list_folder, [join(root, folder) if folder else root for folder in level])
        found |= dict(zip(level, listings, strict=True))
        level = [f"{folder}/{name}" if folder else name for folder in level for name in found[folder][0]]
        if not level:
            break
    left = [below]
    while left:
        folder = left.pop()
        folders, names = found.get(folder, ([], []))
        yield folder, names
        left += [f"{folder}/{name}" if folder else name for name in reversed(folders)]


def matching(pattern: str) -> list[str]:
    """Return the files that a pattern stands for; the path itself if it is not a pattern.

    `*` and `?` stand for the files that exist, sorted; `{000..146}` and `{a,b}` for names in this order, which
    servers without listings need.
    """
    if not is_remote(pattern) and os.path.lexists(pattern):  # a file or folder whose name has brackets
        return [pattern]
    found: list[str] = []
    for name in expanded(pattern):
        if not glob.has_magic(name):
            found.append(name)
        elif is_remote(name):
            found += remote.matching(name)
        else:
            found += sorted(map(with_slashes, glob.glob(name)), key=os.fsencode)  # noqa: PTH207
    return found


def local_path(path: str) -> str:
    """Return a local file with the content of `path`; a file at an address is fetched into the cache."""
    return remote.fetch(path) if is_remote(path) else path


def local_paths(paths: Sequence[str]) -> list[str]:
    """Return what `local_path` returns for many files; those at addresses are fetched together."""
    if not any(map(is_remote, paths)):
        return list(paths)
    known = dict(zip(paths, stats(paths), strict=True))
    return together(lambda path: remote.fetch(path, known[path]) if is_remote(path) else path, paths)


def read_start(path: str, length: int, *, base: str = "") -> bytes:
    """Read up to `length` bytes at the start of a file."""
    return remote.read(path, 0, length) if is_remote(path) else local.read_start(path, length, base=base)


def read_file(path: str, *, limit: int = MAX_FILE_BYTES, base: str = "") -> bytes:
    """Read a whole file; raises DataError if it is larger than `limit`. See `local.open_regular` for the base."""
    if not is_remote(path):
        return local.read_file(path, limit, base=base)
    return remote.read_whole(path, limit)


def read_pieces(path: str, length: int) -> Iterator[bytes]:
    """Yield the content of a file in pieces."""
    return local.read_pieces(local_path(path), length)


def read_range(path: str, offset: int, length: int, *, size: int | None = None, base: str = "") -> bytes:
    """Read a range of a file, whose size may be known; the result is shorter if the file ends before."""
    if not is_remote(path):
        return local.read_range(path, offset, length, base=base)
    return remote.read(path, offset, length, size=size)
