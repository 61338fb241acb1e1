"""The index of a whole dataset in the index cache: ranks of a node map one file and share its memory.

A scan of each record file is cached as well (`scan_cache`), but joining the scans of many files would make a copy for
every process.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from pixelmill.formats import index_cache
from pixelmill.formats.index import NO_NUMBERS, Array, Index, Ragged
from pixelmill.formats.path_table import PathTable

CACHED_FROM = 50_000  # items; smaller indexes are made in a moment
_CHUNK = 1 << 20
# Something that has just changed may change again without a new modification time: file systems round it.
_SETTLED_NS = 2_000_000_000
_RANGES = ("files", "offsets", "lengths")


def cached(
    kind: str,
    settings: Sequence[object],
    *,
    files: Sequence[str],
    build: Callable[[], Index],
    accept: Callable[[PathTable], bool],
) -> Index:
    """Return an index, from the cache if no file or folder has changed since it was made.

    Args:
        kind: What is indexed, part of the key of the cache.
        settings: What the index depends on besides the files.
        files: The files and folders it is made from, all on this machine.
        build: Makes the index.
        accept: Whether paths from the cache, which may be forged, can be those of the index.
    """
    began = time.time_ns()
    stamp = _stamp(files)
    if stamp is None:
        return build()
    key = f"{kind} {_digest([*map(repr, settings), *files]):x}"
    found = _kept(files[0], key, stamp[:2], accept)
    if found is not None:
        return found
    index = build()
    arrays = packed(index) if len(index) >= CACHED_FROM and stamp[2] < began - _SETTLED_NS else None
    if arrays is None or _stamp(files) != stamp:
        return index
    index_cache.store(files[0], key, arrays, stamp=stamp[:2])
    # What was built is private memory; what was stored is shared, also by this process.
    return _kept(files[0], key, stamp[:2], accept) or index


def _kept(path: str, key: str, stamp: tuple[int, int], accept: Callable[[PathTable], bool]) -> Index | None:
    arrays = index_cache.load(path, key, stamp=stamp)
    found = None if arrays is None else unpacked(arrays)
    return found if found is not None and accept(found.path_table()) else None


def _stamp(files: Iterable[str]) -> tuple[int, int, int] | None:
    """Return two numbers that change with the files, and the latest time one was changed; None if one is missing."""
    total, latest = 0, 0
    known: list[str] = []
    try:
        for path in files:
            status = os.stat(path)  # noqa: PTH116 - there may be many
            total += status.st_size
            latest = max(latest, status.st_mtime_ns)
            known.append(f"{status.st_size} {status.st_mtime_ns} {status.st_ino}")
    except OSError:
        return None
    return total, _digest(known), latest


def _digest(texts: Iterable[str]) -> int:
    digest = hashlib.blake2b(digest_size=7)  # JSON numbers of other programs are exact up to 2**53, ours up to any
    for text in texts:
        digest.update(os.fsencode(text) + b"\0")
    return int.from_bytes(digest.digest(), "little")


def packed(index: Index) -> dict[str, Array] | None:
    """Return an index as arrays; None if it has something that is not kept: damage, versions, copies of files."""
    pieces = [index, *index.parts.values()]
    if any(piece.lost or piece.names or any(piece.versions) or len(piece.sizes) for piece in pieces):
        return None
    if any(part.columns or part.parts or list(part.paths) != list(index.paths) for part in index.parts.values()):
        return None
    paths = index.path_table()
    arrays: dict[str, Array] = {"paths": paths.names, "path_starts": paths.starts}
    arrays |= {"prefix": _text(paths.prefix), "root": _text(index.root)}
    arrays |= {name: getattr(index, name) for name in _RANGES if getattr(index, name) is not NO_NUMBERS}
    for name, part in index.parts.items():
        arrays |= {f"{kind} of part {name}": getattr(part, kind) for kind in _RANGES}
    for name, column in index.columns.items():
        if isinstance(column, Ragged):
            arrays |= {f"rows of {name}": column.rows, f"starts of {name}": column.starts}
        else:
            arrays[f"column {name}"] = column
    kinds = {array.dtype.str for array in arrays.values()}
    return arrays if kinds <= set(index_cache.DTYPES) else None


def unpacked(arrays: dict[str, Array]) -> Index | None:
    """Return the index that `packed` has packed; None if arrays do not fit together, since they may be forged.

    Ranges of bytes are not compared with the files here: reading checks them.
    """
    needed = {"paths", "path_starts", "prefix", "root"}
    if not needed <= arrays.keys():
        return None
    table = PathTable.checked(arrays["paths"], arrays["path_starts"], _decoded(arrays["prefix"]))
    ranges = {name: arrays[name] for name in _RANGES if name in arrays}
    if table is None or len(ranges) not in (0, 3) or not _are_ranges(ranges, len(table)):
        return None
    files, offsets, lengths = (ranges.get(name, NO_NUMBERS) for name in _RANGES)
    index = Index(table, files, offsets, lengths, root=_decoded(arrays["root"]))
    parts, columns = _parts(arrays, table, len(index)), _columns(arrays)
    if parts is None or columns is None:
        return None
    counts = {len(c.starts) - 1 if isinstance(c, Ragged) else len(c) for c in columns.values()}
    return replace(index, columns=columns, parts=parts) if counts <= {len(index)} else None


def _parts(arrays: dict[str, Array], paths: PathTable, count: int) -> dict[str, Index] | None:
    parts: dict[str, Index] = {}
    for name in [key.removeprefix("files of part ") for key in arrays if key.startswith("files of part ")]:
        ranges = {kind: arrays[f"{kind} of part {name}"] for kind in _RANGES if f"{kind} of part {name}" in arrays}
        if len(ranges) != 3 or len(ranges["files"]) != count or not _are_ranges(ranges, len(paths)):
            return None
        parts[name] = Index(paths, ranges["files"], ranges["offsets"], ranges["lengths"])
    return parts


def _columns(arrays: dict[str, Array]) -> dict[str, Array | Ragged] | None:
    columns: dict[str, Array | Ragged] = {}
    for name, array in arrays.items():
        if name.startswith("column "):
            columns[name.removeprefix("column ")] = array
        elif name.startswith("rows of "):
            name = name.removeprefix("rows of ")
            starts = arrays.get(f"starts of {name}")
            if starts is None or not _are_starts(starts, len(array)):
                return None
            columns[name] = Ragged(array, starts)
    return columns


def _are_ranges(ranges: dict[str, Array], paths: int) -> bool:
    """Whether arrays are files, offsets and lengths, as far as that can be seen without the files."""
    if any(array.ndim != 1 or array.dtype != np.int64 for array in ranges.values()):
        return False
    if len({len(array) for array in ranges.values()}) > 1:
        return False
    bounds = {"files": paths - 1, "offsets": 1 << 62, "lengths": 1 << 62}
    return all(_within(array, bounds[name]) for name, array in ranges.items())


def _within(array: Array, most: int) -> bool:
    """Whether all numbers are from 0 to `most`; piece by piece, since a mapped array may be larger than memory."""
    pieces = (array[start : start + _CHUNK] for start in range(0, len(array), _CHUNK))
    return all(piece.min() >= 0 and piece.max() <= most for piece in pieces)


def _are_starts(starts: Array, rows: int) -> bool:
    if starts.ndim != 1 or starts.dtype != np.int64 or not len(starts):
        return False
    return bool(starts[0] == 0 and starts[-1] == rows and (np.diff(starts) >= 0).all())


def _text(text: str) -> Array:
    return np.frombuffer(os.fsencode(text), np.uint8)


def _decoded(array: Array) -> str:
    return os.fsdecode(array.tobytes())
