"""The records of files at addresses, as an index file beside each lists them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError
from pixelmill.formats.faults import Scan
from pixelmill.formats.index import INDEX_BYTES, Index, is_count
from pixelmill.formats.sample import split_name

Places = Iterable[tuple[int, int]]  # the two numbers on each line of an index file


def listed(name: str, places: Callable[[Places, int], list[tuple[int, int]]]) -> Scan | None:
    """Return the records of a remote file by its index file, or None without one that covers the whole file.

    Args:
        name: The address of the file.
        places: Converts the pairs of the index file, and the size of the data file, to offsets and lengths.
    """
    if not storage.is_remote(name):
        return None
    pairs = _pairs(name)
    size = storage.stat(name).size
    found = np.array(places(pairs, size) if pairs else [], np.int64).reshape(-1, 2)
    ends = found.sum(axis=1)
    if not len(found) or found[0, 0] != 0 or ends[-1] != size or not np.array_equal(ends[:-1], found[1:, 0]):
        return None
    if found.min() < 0:
        return None
    return Scan(Index([name], np.zeros(len(found), np.int64), found[:, 0].copy(), found[:, 1].copy()))


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
