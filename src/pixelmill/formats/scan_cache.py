"""Scans of record files, kept in the index cache: a scan reads all of a file, a cached one a few of its heads.

A cached scan is bound to the size and the modification time of the file. Both can lie (a file restored from a backup,
a clock that jumped), so the container compares some of the heads with the file before it believes a cached scan.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from pixelmill import storage
from pixelmill.formats import index_cache
from pixelmill.formats.index import Array

CACHED_FROM = 8 << 20  # bytes; smaller files are scanned faster than a cache is looked up
SAMPLED = 16  # heads that are compared with the file

Found = TypeVar("Found")
Arrays = dict[str, Array]


def cached(
    path: str,
    kind: str,
    *,
    scan: Callable[[str], Found],
    pack: Callable[[Found], Arrays | None],
    unpack: Callable[[Arrays, int], Found | None],
) -> Found:
    """Return the scan of a file, from the cache if there is one that matches.

    Args:
        path: The file.
        kind: The name of the container, part of the key of the cache.
        scan: Scans the file.
        pack: Turns a scan into arrays; None for one that must not be kept, such as that of a damaged file.
        unpack: Turns arrays and the size of the file back into a scan; None if they do not describe this file.
    """
    stamp = _stamp(path)
    if stamp is None:
        return scan(path)
    kept = index_cache.load(path, kind, stamp=stamp)
    found = None if kept is None else unpack(kept, stamp[0])
    if found is not None:
        return found
    found = scan(path)
    arrays = pack(found)
    if arrays is not None:
        index_cache.store(path, kind, arrays, stamp=stamp)
    return found


def are_ranges(kept: Arrays) -> bool:
    """Whether arrays from the cache are offsets and as many lengths; their values are to be checked by the caller."""
    if kept.keys() != {"offsets", "lengths"} or len({array.shape for array in kept.values()}) != 1:
        return False
    return all(array.ndim == 1 and array.dtype == np.int64 for array in kept.values())


def sampled_heads(path: str, offsets: Array, length: int) -> list[bytes]:
    """Read `length` bytes at some of the offsets, evenly spread and with the first and the last."""
    chosen = np.unique(np.linspace(0, len(offsets) - 1, SAMPLED).astype(np.int64))
    return [storage.read_range(path, int(offsets[item]), length) for item in chosen]


def _stamp(path: str) -> tuple[int, int] | None:
    """Return what a cached scan is bound to, or None if the file is small or cannot be read."""
    try:
        stamp = index_cache.stamp_of(path)
    except OSError:
        return None
    return stamp if stamp[0] >= CACHED_FROM else None
