"""Files at addresses such as `s3://bucket/photos`, through fsspec. Whole record files are fetched into a cache."""

from __future__ import annotations

import errno
import os
import random
import time
from collections.abc import Callable
from typing import Any, TypeVar

from pixelmill.errors import DataError, MissingDependency, PixelmillError
from pixelmill.storage import cache
from pixelmill.storage.local import FileStat

_TRIES = 4
_FIRST_PAUSE = 0.2
_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)

Result = TypeVar("Result")


def is_folder(path: str) -> bool:
    """Whether an address is a folder or a prefix of existing keys."""
    system, inner = open_store(path)
    return bool(_patiently(lambda: system.isdir(inner), path))


def stat(path: str) -> FileStat:
    """Return size and time of a file."""
    info = _info(path)
    return FileStat(int(info["size"]), _modified(info))


def list_folder(path: str) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the files in a folder, without hidden ones, sorted by their bytes."""
    system, inner = open_store(path)
    folders: list[str] = []
    files: list[str] = []
    for entry in _patiently(lambda: system.ls(inner, detail=True), path):
        name = str(entry["name"]).rstrip("/").rsplit("/", 1)[-1]
        is_itself = str(entry["name"]).strip("/") == inner.strip("/")
        if name and not is_itself and not name.startswith("."):
            (folders if entry["type"] == "directory" else files).append(name)
    return sorted(folders, key=os.fsencode), sorted(files, key=os.fsencode)


def matching(pattern: str) -> list[str]:
    """Return the addresses that match a pattern with `*`."""
    system, inner = open_store(pattern)
    return sorted(str(system.unstrip_protocol(name)) for name in _patiently(lambda: system.glob(inner), pattern))


def read(path: str, offset: int, length: int, *, size: int | None = None) -> bytes:
    """Read a range of a file, whose size may be known; raises DataError if fewer bytes arrive than the file has."""
    system, inner = open_store(path)
    size = stat(path).size if size is None else size
    end = min(offset + length, size)
    if end <= offset:
        return b""
    data: bytes = _patiently(lambda: system.cat_file(inner, start=offset, end=end), path)
    if len(data) != end - offset:
        raise DataError(f"{path}: {end - offset} bytes were asked for at byte {offset}, {len(data)} came")
    return data


def fetch(path: str) -> str:
    """Fetch a file into the cache and return its path there; it is fetched again if its size or time changes."""
    system, inner = open_store(path)
    info = _info(path)
    size = int(info["size"])
    version = f"{size} {info.get('ETag') or _modified(info)}"
    target = cache.entry("remote", path, version, name=inner)
    if cache.holds(target, size=size):
        return str(target)
    with cache.publishing(target) as new:
        _patiently(lambda: system.get_file(inner, str(new.path)), path)
        arrived = new.path.stat().st_size
        if arrived != size:
            raise DataError(f"{path} has {size} bytes, {arrived} came; try again")
    return str(new.path)


class Store:
    """A file system of fsspec. The packages it uses raise errors of their own types; here all are OSError."""

    def __init__(self, system: Any, path: str) -> None:
        self._system = system
        self._path = path

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return one of its methods."""
        method = getattr(self._system, name)

        def call(*arguments: Any, **options: Any) -> Any:
            try:
                return method(*arguments, **options)
            except (OSError, PixelmillError):
                raise
            except Exception as error:
                what = f"{type(error).__name__}: {error}; are the address and the credentials right?"
                raise OSError(errno.EIO, what, self._path) from error

        return call


def open_store(path: str) -> tuple[Store, str]:
    """Return the file system of an address, and the path of the file in it."""
    try:
        import fsspec  # type: ignore[import-untyped]
    except ImportError:
        raise MissingDependency("fsspec", "remote") from None
    try:
        system, inner = fsspec.core.url_to_fs(path, use_listings_cache=False)
    except ImportError as error:  # fsspec names the package that is missing
        raise DataError(f"{path}: {error}") from None
    except ValueError as error:
        raise DataError(f"{path} is not an address that fsspec knows: {error}") from None
    return Store(system, path), str(inner)


def _info(path: str) -> dict[str, Any]:
    system, inner = open_store(path)
    info: dict[str, Any] = _patiently(lambda: system.info(inner), path)
    return info


def _modified(info: dict[str, Any]) -> int:
    when = info.get("LastModified") or info.get("mtime") or info.get("created") or 0
    seconds = when.timestamp() if hasattr(when, "timestamp") else float(when)
    return int(seconds * 1e9)


def _patiently(call: Callable[[], Result], path: str) -> Result:
    """Retry after transient errors, with growing pauses of random length so that many readers spread out."""
    for left in reversed(range(_TRIES)):
        try:
            return call()
        except _FINAL as error:
            raise type(error)(error.errno, error.strerror or "not found", path) from None
        except OSError as error:
            if left == 0:
                raise OSError(error.errno, f"{error.strerror or error} (after {_TRIES} tries)", path) from None
            time.sleep(_FIRST_PAUSE * 2 ** (_TRIES - 1 - left) * random.uniform(0.5, 1.5))
    raise AssertionError
