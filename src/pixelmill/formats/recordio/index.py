"""The index of `readers.mxnet`, from `.idx` files or from the records themselves."""

from __future__ import annotations

import bisect
import operator
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import shared_index
from pixelmill.formats.faults import joined, numbers
from pixelmill.formats.index import Index
from pixelmill.formats.record_files import joined_versions
from pixelmill.formats.recordio.frames import MAGIC_BYTES
from pixelmill.formats.recordio.lists import read_index
from pixelmill.formats.recordio.scan import cached_scan
from pixelmill.formats.remote_folders import version_of
from pixelmill.formats.remote_records import keys_and_offsets, scan_remote, sizes_of
from pixelmill.storage.local import open_binary

SAMPLED = 16  # records whose heads are checked when an index file is opened


def open_records(paths: Sequence[str], index_paths: Sequence[str] | None) -> Index:
    """Index the records of files.

    Args:
        paths: The `.rec` files.
        index_paths: An `.idx` file for each of them, or one for all of them as if they were one file; None to find
            the records by their heads.
    """
    if not paths:
        raise ArgumentError("recordio: no file was named")
    paths = [storage.plain(path) for path in paths]
    try:
        if index_paths is None:
            if any(map(storage.is_remote, paths)):
                return _filled(_scanned(paths), paths)
            build, accept = partial(_scanned, paths), partial(operator.eq, paths)
            return _filled(shared_index.cached("recordio", [], files=paths, build=build, accept=accept), paths)
        stats = sizes_of(paths)
    except OSError as error:
        raise DataError(f"recordio: {error.strerror}: {error.filename}") from None
    index_paths = [storage.plain(path) for path in index_paths]
    sizes = [_size(path) if stat is None else stat.size for path, stat in zip(paths, stats, strict=True)]
    versions = ["" if stat is None else version_of(stat) for stat in stats]
    return replace(_by_index_files(paths, sizes, index_paths), versions=versions if any(versions) else [])


def _scanned(paths: Sequence[str]) -> Index:
    scans = scan_remote(paths, cached_scan, keys_and_offsets)
    index = joined(scans)
    versions = joined_versions([found.index for found in scans])
    return replace(index, names=list(paths) if list(index.paths) != list(paths) else (), versions=versions)


def _by_index_files(paths: Sequence[str], sizes: Sequence[int], index_paths: Sequence[str]) -> Index:
    if len(index_paths) == 1:
        return _filled(_indexed(paths, sizes, index_paths[0]), paths)
    if len(index_paths) != len(paths):
        raise ArgumentError(
            f"recordio: {len(index_paths)} index files for {len(paths)} files; give one, or one for each"
        )
    parts = [_indexed([p], [s], i) for p, s, i in zip(paths, sizes, index_paths, strict=True)]
    files = np.concatenate([np.full(len(part), number, np.int64) for number, part in enumerate(parts)])
    offsets = np.concatenate([part.offsets for part in parts])
    lengths = np.concatenate([part.lengths for part in parts])
    return _filled(Index(list(paths), files, offsets, lengths), paths)


def _filled(index: Index, paths: Sequence[str]) -> Index:
    if len(index.files) == 0:
        raise DataError(f"recordio: there is no record in {', '.join(paths)}")
    return index


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError as error:
        raise DataError(f"recordio: {error.strerror}: {path}") from None


def _indexed(paths: Sequence[str], sizes: Sequence[int], index_path: str) -> Index:
    """Index records in the order of their offsets; each ends at the next one, or at the end of its file."""
    ends = np.cumsum(sizes).tolist()
    total = ends[-1]
    starts = sorted({offset for _, offset in read_index(index_path)})
    if not starts:
        raise DataError(f"recordio: {index_path} lists no record")
    if starts[-1] >= total:
        names = ", ".join(paths)
        raise DataError(
            f"recordio: {index_path} lists byte {starts[-1]}, but {names} ends at {total}; the index is of another file"
        )
    files = [bisect.bisect_right(ends, start) for start in starts]
    begins = [ends[number] - sizes[number] for number in files]
    following = [*starts[1:], total]
    lengths = [min(after, ends[n]) - start for start, after, n in zip(starts, following, files, strict=True)]
    offsets = [start - begin for start, begin in zip(starts, begins, strict=True)]
    index = Index(list(paths), numbers(files), numbers(offsets), numbers(lengths))
    _check_heads(index, index_path)
    return index


def _check_heads(index: Index, index_path: str) -> None:
    """Check the heads of some records: if none begins like a record, the index belongs to another file."""
    last = len(index.files) - 1
    heads = []
    for item in sorted({last * step // SAMPLED for step in range(SAMPLED + 1)}):
        path, offset = index.locate(item)
        if storage.is_remote(path):
            return  # each head would cost a request; reading a record checks its head in any case
        with open_binary(path, buffering=0) as file:
            file.seek(offset or 0)
            heads.append(file.read(4) == MAGIC_BYTES)
    if not any(heads):
        raise DataError(f"recordio: no record begins where {index_path} says; the index is of another file")
