"""DALI's index files of TFRecords: a line `offset size` for each record."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pixelmill import storage
from pixelmill.errors import DataError, unreadable
from pixelmill.formats.index import INDEX_BYTES, Index
from pixelmill.formats.tfrecord.frames import FRAME


def write_index(path: str, index: Index) -> None:
    """Write an index as DALI reads it: a line `offset size` for each record, including its frame."""
    lines = [
        f"{offset} {length}\n" for offset, length in zip(index.offsets.tolist(), index.lengths.tolist(), strict=True)
    ]
    Path(path).write_text("".join(lines), "ascii")


def read_index(path: str, *, data: str, size: int | None = None) -> Index:
    """Read the index of the file `data`, and check what can be checked without reading the file.

    Frames must be sorted, must not overlap, must be long enough, and must end within the file, whose size may be known.
    """
    try:
        numbers = np.array(storage.read_file(path, limit=INDEX_BYTES).split(), dtype=np.int64)
        size = Path(data).stat().st_size if size is None else size
    except OSError as error:
        raise unreadable("tfrecord", error.filename or path, error) from None
    except (ValueError, OverflowError):
        raise DataError(f"tfrecord: {path} is not an index: it holds something else than pairs of numbers") from None
    if len(numbers) % 2:
        raise DataError(f"tfrecord: {path} is not an index: its last line has one number, not two")
    index = Index([data], np.zeros(len(numbers) // 2, np.int64), numbers[0::2].copy(), numbers[1::2].copy())
    wrong = misfit(index, size)
    if wrong is not None:
        raise DataError(f"tfrecord: {path} does not match {data}: {wrong}; write the index again")
    return index


def misfit(index: Index, size: int) -> str | None:
    """Return why an index cannot belong to a file of `size` bytes, or None if it can."""
    offsets, lengths = index.offsets, index.lengths
    if not len(offsets):
        return None
    if offsets.min() < 0 or lengths.min() < FRAME:
        return f"an offset is below 0 or a size is below {FRAME}"
    ends = np.minimum(offsets, size + 1) + np.minimum(lengths, size + 1)  # clipped, so that sums cannot overflow
    if (offsets[1:] < ends[:-1]).any():
        return "the records are not sorted, or overlap"
    if ends[-1] > size:
        return f"it reaches past the end, which is at byte {size}"
    return None
