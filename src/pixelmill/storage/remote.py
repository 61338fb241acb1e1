"""Files at addresses such as `s3://bucket/photos`, through obstore or fsspec.

Each call here waits for its answer. Training reads through `fetcher.py`, which has many requests in flight.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import Context
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

from pixelmill.amounts import size_text
from pixelmill.errors import DataError, MissingDependency, PixelmillError
from pixelmill.log import log
from pixelmill.storage import cache, object_store
from pixelmill.storage.failures import NoBucketError, TransientError, explained
from pixelmill.storage.known_listings import Entries, keep, listed, listed_file
from pixelmill.storage.local import FileStat
from pixelmill.storage.options import active

_TRIES = 4
_FIRST_PAUSE = 0.2
_MAGIC = frozenset("*?[")
_PART = 8 << 20  # bytes of a download that are requested at once
_PARTS_AT_ONCE = 16
_LARGE = 1 << 30  # bytes of a file that takes a while

Result = TypeVar("Result")


def is_web(path: str) -> bool:
    """Whether an address is on a web server, which cannot list files or be written to."""
    return path.startswith(("http://", "https://"))


def is_folder(path: str) -> bool:
    """Whether an address is a folder or a prefix of existing keys."""
    place = _listable(path)
    if place is not None:
        try:
            return bool(_entries(place, path))
        except NoBucketError:
            raise
        except FileNotFoundError:
            return False
    system, inner = open_store(path)
    return bool(patiently(lambda: system.isdir(inner), path))


def stat(path: str) -> FileStat:
    """Return size, time and version of a file."""
    known = listed_file(path)
    if known is not None:
        return known
    place = object_store.locate(path, active())
    if place is not None and place.key:
        return patiently(lambda: object_store.stat(place, path), path)
    return _described(_info(path))


def listing(path: str) -> dict[str, FileStat | None]:
    """Return the names in a folder, without hidden ones, with None for folders."""
    place = _listable(path)
    if place is not None:
        found = _entries(place, path)
        if not found:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return {name: entry for name, entry in found.items() if not name.startswith(".")}
    system, inner = open_store(path)
    entries: dict[str, FileStat | None] = {}
    for entry in patiently(lambda: system.ls(inner, detail=True), path):
        name = str(entry["name"]).rstrip("/").rsplit("/", 1)[-1]
        is_itself = str(entry["name"]).strip("/") == inner.strip("/")
        if name and not is_itself and not name.startswith("."):
            entries[name] = None if entry["type"] == "directory" else _described(entry)
    return entries


def list_folder(path: str) -> tuple[list[str], list[str]]:
    """Return the names of the folders and of the files in a folder, without hidden ones, sorted by their bytes."""
    entries = listing(path)
    names = sorted(entries, key=os.fsencode)
    return [name for name in names if entries[name] is None], [name for name in names if entries[name] is not None]


def matching(pattern: str) -> list[str]:
    """Return the addresses that match a pattern with `*`."""
    folder, _, name = pattern.rpartition("/")
    if _listable(folder) is not None and not _MAGIC & set(folder):
        found = [known for known, entry in listing(folder).items() if entry is not None]
        return sorted(f"{folder}/{known}" for known in found if fnmatch.fnmatchcase(known, name))
    system, inner = open_store(pattern)
    return sorted(str(system.unstrip_protocol(name)) for name in patiently(lambda: system.glob(inner), pattern))


def read(path: str, offset: int, length: int, *, size: int | None = None) -> bytes:
    """Read a range of a file, whose size may be known; raises DataError if fewer bytes arrive than the file has."""
    place = object_store.locate(path, active())
    if place is not None and size is None:
        return patiently(lambda: object_store.read_up_to(place, path, offset, length), path)
    size = stat(path).size if size is None else size
    end = min(offset + length, size)
    if end <= offset:
        return b""
    if place is not None:
        data = patiently(lambda: object_store.read(place, path, offset, end - offset), path)
    else:
        system, inner = open_store(path)
        data = patiently(lambda: system.cat_file(inner, start=offset, end=end), path)
    if len(data) != end - offset:
        raise DataError(f"{path}: {end - offset} bytes were asked for at byte {offset}, {len(data)} came")
    return data


def read_whole(path: str, limit: int) -> bytes:
    """Read a whole file; raises DataError if it is larger than `limit`."""
    place = object_store.locate(path, active())
    if place is not None:
        return patiently(lambda: object_store.read_whole(place, path, limit), path)
    size = stat(path).size
    if size > limit:
        raise DataError(f"{path} has {size} bytes, more than the limit of {limit}")
    return read(path, 0, size, size=size)


def fetch(path: str, found: FileStat | OSError | None = None) -> str:
    """Fetch a file into the cache and return its path there; it is fetched again if its size or time changes.

    Args:
        path: The address.
        found: What a listing says of the file, if it is known.
    """
    if isinstance(found, OSError):
        raise found
    found = stat(path) if found is None else found
    target = cache.entry("remote", path, f"{found.size} {found.version or found.modified}", name=path)
    if cache.holds(target, size=found.size):
        return str(target)
    place = object_store.locate(path, active())
    if found.size >= _LARGE:
        log.warning("pixelmill: %s (%s) is fetched into the cache as a whole", path, size_text(found.size))
    with cache.publishing(target) as new:
        if place is not None and found.size > _PART and object_store.has_parts(path, found):
            _download_parts(place, path, new.path, found)
        elif place is not None:
            patiently(lambda: object_store.download(place, path, new.path), path)
        else:
            system, inner = open_store(path)
            patiently(lambda: system.get_file(inner, str(new.path)), path)
        arrived = new.path.stat().st_size
        if arrived != found.size:
            raise DataError(f"{path} has {found.size} bytes, {arrived} came; try again")
    return str(new.path)


def _download_parts(place: object_store.Place, path: str, target: Path, found: FileStat) -> None:
    """Download a file in parts, many at a time: a connection to a store carries 50 to 100 MB/s."""
    with target.open("wb") as stream:
        stream.truncate(found.size)

    def part(offset: int) -> None:
        length = min(_PART, found.size - offset)
        download = partial(object_store.download_part, offset=offset, length=length, version=found.version)
        patiently(partial(download, place, path, target), path)

    parts = [_parts_pool(os.getpid()).submit(part, offset) for offset in range(0, found.size, _PART)]
    try:
        for done in parts:
            done.result()
    finally:
        for done in parts:
            done.cancel()
        wait(parts)


@lru_cache(1)
def _parts_pool(process: int) -> ThreadPoolExecutor:
    """Return the threads that download parts, shared by all files of a process."""
    return ThreadPoolExecutor(_PARTS_AT_ONCE, f"pixelmill-parts-{process}")


def _entries(place: object_store.Place, path: str) -> Entries:
    """Return the names in a folder, hidden ones too."""
    known = listed(path)
    return keep(path, patiently(lambda: object_store.listing(place, path), path)) if known is None else known


def _listable(path: str) -> object_store.Place | None:
    """Return the place of a folder, or None for fsspec: HTTP has no listings, and fsspec reads those of web servers."""
    return None if is_web(path) else object_store.locate(path, active())


class Store:
    """A file system of fsspec. The packages it uses raise errors of their own types; here all are OSError.

    Calls have a context of their own. fsspec keeps the context of its caller for as long as a connection is open, and
    the pipeline whose reader is being opened would live as long.
    """

    def __init__(self, system: Any, path: str) -> None:
        self._system = system
        self._path = path

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return one of its methods."""
        method = getattr(self._system, name)

        def call(*arguments: Any, **options: Any) -> Any:
            try:
                return Context().run(method, *arguments, **options)
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
        options = {"use_listings_cache": False, **active()}
        if path.startswith(("gs://", "gcs://")) and os.environ.get("DALI_GCS_ENDPOINT_URL"):
            options.setdefault("endpoint_url", os.environ["DALI_GCS_ENDPOINT_URL"])
        if path.startswith(("s3://", "s3a://")) and os.environ.get("AWS_ENDPOINT_URL"):
            options.setdefault("endpoint_url", os.environ["AWS_ENDPOINT_URL"])  # fsspec keeps systems by their options
        system, inner = Context().run(fsspec.core.url_to_fs, path, **options)
    except ImportError as error:  # fsspec names the package that is missing
        raise DataError(f"{path}: {error}; pip install 'pixelmill[remote]' brings the usual clients") from None
    except OSError as error:  # a client whose own library cannot be loaded, such as that of Hadoop
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: {reason}; the client of this address needs more than pip install 'pixelmill[remote]' brings"
        ) from None
    except ValueError as error:
        known = "s3://, gs://, az://, http://, https://, file:// and memory:// are the usual ones"
        raise DataError(f"{path} is not an address that fsspec knows: {error}; {known}") from None
    return Store(system, path), str(inner)


def forget_store(path: str) -> None:
    """Open the file system of an address again when it is used next, with the credentials that there are then."""
    if object_store.locate(path, active()) is None:
        import fsspec

        scheme = path.partition("://")[0]
        fsspec.get_filesystem_class(scheme).clear_instance_cache()


def _info(path: str) -> dict[str, Any]:
    system, inner = open_store(path)
    info: dict[str, Any] = patiently(lambda: system.info(inner), path)
    return info


def _described(info: dict[str, Any]) -> FileStat:
    return FileStat(int(info.get("size") or 0), _modified(info), str(info.get("ETag") or ""))


def _modified(info: dict[str, Any]) -> int:
    when = info.get("LastModified") or info.get("mtime") or info.get("created") or 0
    seconds = when.timestamp() if hasattr(when, "timestamp") else float(when)
    return int(seconds * 1e9)


def patiently(call: Callable[[], Result], path: str) -> Result:
    """Retry after transient errors, with growing pauses of random length so that many readers spread out."""
    for left in reversed(range(_TRIES)):
        try:
            return call()
        except OSError as error:
            found = explained(error, path) if not isinstance(error, TransientError) else error
            if not isinstance(found, TransientError):
                raise found from None
            if left == 0:
                raise OSError(found.errno, f"{found.strerror} (after {_TRIES} tries)", path) from None
            import random  # late: with hashlib and others, for failures alone

            time.sleep(_FIRST_PAUSE * 2 ** (_TRIES - 1 - left) * random.uniform(0.5, 1.5))
    raise AssertionError
