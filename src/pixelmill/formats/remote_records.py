"""The records of files at addresses, as an index file beside each, or a table in it, lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.faults import Scan
from pixelmill.formats.index import INDEX_BYTES, Index, is_count
from pixelmill.formats.remote_folders import version_of
from pixelmill.formats.sample import split_name

Places = Iterable[tuple[int, int]]  # the two numbers on each line of an index file


class _Scanned(Protocol):
    @property
    def path(self) -> str: ...


Archive = TypeVar("Archive", bound=_Scanned)


def scan_remote(
    names: Sequence[str], scan: Callable[[str], Scan], places: Callable[[Places, int], list[tuple[int, int]]]
) -> list[Scan]:
    """Scan record files. A file at an address is fetched first, unless an index file beside it lists its records.

    Args:
        names: The files.
        scan: Scans a local file.
        places: Converts the pairs of an index file, and the size of the data file, to offsets and lengths.
    """
    stats = sizes_of(names)

    def one(number: int) -> Scan:
        name, stat = names[number], stats[number]
        found = None if stat is None else listed(name, places, stat)
        return found or scan(storage.local_path(name))

    return storage.together(one, range(len(names)), wait=any(stats))


def scan_archives(
    names: Sequence[str], *, listed: Callable[[str, int], Archive | None], scan: Callable[[str], Archive]
) -> tuple[list[Archive], list[str]]:
    """Scan archives, and return the version of each that is read at its address, which is empty for local files.

    Args:
        names: The archives.
        listed: Lists the members of an archive at an address, of a known size, by a table; None if that cannot be
            relied on: then the archive is fetched.
        scan: Scans a local archive.
    """
    stats = sizes_of(names)

    def one(number: int) -> Archive:
        name, stat = names[number], stats[number]
        found = None if stat is None else listed(name, stat.size)
        return found or scan(storage.local_path(name))

    found = storage.together(one, range(len(names)), wait=any(stats))
    is_there = [archive.path == name for archive, name in zip(found, names, strict=True)]
    return found, [version_of(stat) if stat and there else "" for stat, there in zip(stats, is_there, strict=True)]


def sizes_of(names: Sequence[str]) -> list[storage.FileStat | None]:
    """Return what is known of the files at addresses, None for those of this machine; raises OSError for others."""
    remote = [name for name in names if storage.is_remote(name)]
    known = dict(zip(remote, storage.stats(remote), strict=True))
    stats: list[storage.FileStat | None] = []
    for name in names:
        found = known.get(name)
        if isinstance(found, OSError):
            raise found
        stats.append(found)
    return stats


def listed(name: str, places: Callable[[Places, int], list[tuple[int, int]]], stat: storage.FileStat) -> Scan | None:
    """Return the records of a file at an address by its index file, or None without one that covers the whole file.

    Args:
        name: The address of the file.
        places: Converts the pairs of the index file, and the size of the data file, to offsets and lengths.
        stat: What is known of the file.
    """
    pairs, size = _pairs(name), stat.size
    found = np.array(places(pairs, size) if pairs else [], np.int64).reshape(-1, 2)
    ends = found.sum(axis=1)
    if not len(found) or found[0, 0] != 0 or ends[-1] != size or not np.array_equal(ends[:-1], found[1:, 0]):
        return None
    if found.min() < 0:
        return None
    files = np.zeros(len(found), np.int64)
    return Scan(Index([name], files, found[:, 0].copy(), found[:, 1].copy(), versions=[version_of(stat)]))


def _pairs(name: str) -> list[tuple[int, int]]:
    """Read the pairs of numbers of the index file beside a record file; none if it holds anything else."""
    for beside in (f"{split_name(name)[0]}.idx", f"{name}.idx"):
        try:
            numbers = storage.read_file(beside, limit=INDEX_BYTES).split()
            values = [int(number) for number in numbers if is_count(number)]
        except (OSError, DataError):
            continue
        if len(values) == len(numbers) and len(values) % 2 == 0:
            return list(zip(values[0::2], values[1::2], strict=True))
    return []


def offsets_and_lengths(pairs: Places, size: int) -> list[tuple[int, int]]:
    """Convert an index of TFRecords, whose lines already are offsets and lengths."""
    del size
    return list(pairs)


def keys_and_offsets(pairs: Places, size: int) -> list[tuple[int, int]]:
    """Convert an index of RecordIO, in which a record ends where the next one begins."""
    starts = sorted({offset for _, offset in pairs})
    return [(start, end - start) for start, end in zip(starts, [*starts[1:], size], strict=True)]
