"""The index cache: arrays that describe a file, in a small file bound to the size and modification time of the data.

A cache file is read from beside the data (`NAME.pixelmill-index`) or from the cache folder, and written to the cache
folder only. One that does not match in every respect is ignored. One that does match may still be forged, so whoever
takes names or ranges from it checks them as if they came from an archive.

The layout: 8 bytes of magic, the length of a JSON text (4 bytes), the text, the arrays, and the CRC32C of all that (4
bytes). The text holds the kind, the size and time of the data, and name, type and shape of each array. Text and arrays
are padded to multiples of 64 bytes.

Arrays from the cache folder are mapped, not read: all processes of a node that open a dataset share their memory. The
folder belongs to the user alone, and files in it are replaced as a whole and never changed, so a mapping stays valid.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from pixelmill import _core
from pixelmill.errors import DataError
from pixelmill.formats.index import Array
from pixelmill.storage import cache, local, system

MAGIC = b"pixmidx2"
ENDING = ".pixelmill-index"
READ_BYTES = 1 << 32  # of a cache file beside the data: a hundred million records
MAPPED_BYTES = 1 << 40
_ALIGNED = 64
_LOCK = ".index-lock"
TEXT_BYTES = 1 << 16
MAX_AXES = 4
DTYPES = ("<i8", "<i4", "|u1", "<f4")


def stamp_of(path: str) -> tuple[int, int]:
    """Return what a cache file is bound to: the size of a file and its modification time in nanoseconds."""
    status = Path(path).stat()
    return status.st_size, status.st_mtime_ns


def load(path: str, kind: str, *, stamp: tuple[int, int] | None = None) -> dict[str, Array] | None:
    """Return the arrays kept for a file, or None if there are none that match it.

    Args:
        path: The file or folder that the arrays describe.
        kind: What they describe, such as `"tfrecord"`.
        stamp: What they are bound to; the size and time of the file if None.
    """
    wanted = stamp or stamp_of(path)
    for data in _candidates(path, kind):
        found = _decoded(data, kind, wanted)
        if found is not None:
            return found
    return None


def _candidates(path: str, kind: str) -> Iterator[bytes | mmap.mmap]:
    with contextlib.suppress(OSError, DataError):
        yield local.read_file(path + ENDING, READ_BYTES)
    folder = _folder(create=False)
    kept = None if folder is None else _mapped(folder / _name(path, kind))
    if kept is not None:
        yield kept


def _mapped(target: Path) -> mmap.mmap | None:
    """Map a file of the cache folder, if it is a regular one of this user."""
    try:
        with open(local.open_regular(str(target), follow=False), "rb") as stream:  # noqa: PTH123 - a descriptor
            found = os.fstat(stream.fileno())
            if not system.is_own(found) or not 0 < found.st_size <= MAPPED_BYTES:
                return None
            return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None


def _folder(*, create: bool) -> Path | None:
    try:
        return cache.used_folder(create=create)
    except OSError:
        return None


def store(path: str, kind: str, arrays: Mapping[str, Array], *, stamp: tuple[int, int] | None = None) -> None:
    """Keep arrays for a file. Does nothing if the cache folder cannot be written to.

    A file that holds the same already stays: ranks that start together make the same index, and those that map one
    file share its memory, while copies would be in memory several times.
    """
    folder = _folder(create=True)
    if folder is None:
        return
    target = folder / _name(path, kind)
    with contextlib.suppress(OSError):
        pieces = list(_pieces(kind, arrays, stamp or stamp_of(path)))
        checksum = 0
        for piece in pieces:
            checksum = _core.crc32c(piece, checksum)
        with _alone(folder):
            if _holds(target, sum(map(len, pieces)) + 4, checksum):
                return
            with cache.publishing(target, sync=False) as new, new.path.open("wb") as stream:
                stream.writelines(pieces)
                stream.write(checksum.to_bytes(4, "little"))


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a lock that keeps other processes from publishing an index; without locks on this disk, do not."""
    descriptor = system.open_lock(folder / _LOCK)
    try:
        with contextlib.suppress(OSError):
            system.lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _holds(target: Path, size: int, checksum: int) -> bool:
    """Whether a file of the cache has this size and this checksum."""
    kept = _mapped(target)
    return kept is not None and len(kept) == size and kept[-4:] == checksum.to_bytes(4, "little")


def encoded(kind: str, arrays: Mapping[str, Array], stamp: tuple[int, int]) -> bytes:
    """Return the bytes of a cache file."""
    body = b"".join(_pieces(kind, arrays, stamp))
    return body + _core.crc32c(body).to_bytes(4, "little")


def _pieces(kind: str, arrays: Mapping[str, Array], stamp: tuple[int, int]) -> Iterator[bytes | memoryview]:
    packed = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    columns = [[name, array.dtype.str, list(array.shape)] for name, array in packed.items()]
    text = json.dumps({"kind": kind, "stamp": list(stamp), "columns": columns}).encode()
    text += b" " * _padding(len(MAGIC) + 4 + len(text))
    yield b"".join((MAGIC, len(text).to_bytes(4, "little"), text))
    for array in packed.values():
        yield array.reshape(-1).view(np.uint8).data
        yield bytes(_padding(array.nbytes))


def _padding(size: int) -> int:
    return -size % _ALIGNED


def _name(path: str, kind: str) -> str:
    identity = os.fsencode(os.path.realpath(path)) + b"\0" + kind.encode()
    return hashlib.blake2b(identity, digest_size=16).hexdigest() + ENDING


def _decoded(data: bytes | mmap.mmap, kind: str, stamp: tuple[int, int]) -> dict[str, Array] | None:
    """Return the arrays of a cache file if all of it matches."""
    start = len(MAGIC) + 4
    if len(data) < start + 4 or data[: len(MAGIC)] != MAGIC:
        return None
    if _core.crc32c(memoryview(data)[:-4]) != int.from_bytes(data[-4:], "little"):
        return None
    length = int.from_bytes(data[len(MAGIC) : start], "little")
    if length > min(TEXT_BYTES, len(data) - start - 4):
        return None
    try:
        text = json.loads(data[start : start + length])
        if text["kind"] != kind or tuple(text["stamp"]) != stamp:
            return None
        return _arrays(data, start + length, text["columns"])
    except (ValueError, TypeError, KeyError, RecursionError):  # forged, since the checksum matches
        return None


def _arrays(data: bytes | mmap.mmap, at: int, columns: list[tuple[str, str, list[int]]]) -> dict[str, Array] | None:
    """Return read-only arrays in the memory of `data`; they keep it."""
    arrays: dict[str, Array] = {}
    end = len(data) - 4
    for name, dtype, shape in columns:
        if dtype not in DTYPES or not 0 < len(shape) <= MAX_AXES or at % _ALIGNED:
            return None
        if not all(isinstance(extent, int) and extent >= 0 for extent in shape):
            return None
        count = 1
        for extent in shape:
            count *= extent
        size = count * np.dtype(dtype).itemsize
        size += _padding(size)
        if size > end - at:
            return None
        arrays[name] = np.frombuffer(data, dtype, count, at).reshape(shape)
        at += size
    return arrays if at == end else None
