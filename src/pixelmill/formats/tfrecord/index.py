"""The index of `readers.tfrecord`, from index files, from the cache, or from a scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pixelmill import _core, storage
from pixelmill.errors import ArgumentError, DataError, unreadable
from pixelmill.formats import index_cache, scan_cache, shared_index
from pixelmill.formats.faults import RecordFault, Scan
from pixelmill.formats.index import Index
from pixelmill.formats.record_files import joined_versions
from pixelmill.formats.remote_folders import version_of
from pixelmill.formats.remote_records import listed, offsets_and_lengths, sizes_of
from pixelmill.formats.tfrecord.frames import FRAME, HEAD
from pixelmill.formats.tfrecord.index_file import misfit, read_index
from pixelmill.formats.tfrecord.scan import scan
from pixelmill.log import log
from pixelmill.storage.local import open_binary

SAMPLED = 64  # heads that are compared with an index


def open_files(paths: Sequence[str], index_paths: Sequence[str] | None = None) -> Index:
    """Index the records of files, in the order given.

    A lost piece of a file is an item too. Reading it fails, so that `on_error` decides about it like about any other
    damaged sample.

    Args:
        paths: The files.
        index_paths: DALI's index of each; an index that does not match its file is replaced by a scan.
    """
    if index_paths and len(index_paths) != len(paths):
        raise ArgumentError(f"index_path: {len(index_paths)} index files for {len(paths)} data files")
    paths = [storage.plain(path) for path in paths]
    beside = [storage.plain(path) for path in index_paths or [""] * len(paths)]
    try:
        stats = sizes_of(paths)
    except OSError as error:
        raise ArgumentError(f"tfrecord: {error.strerror}: {error.filename}") from None

    def build() -> Index:
        numbers = range(len(paths))
        wait = any(stats)
        return joined(storage.together(lambda n: _opened(paths[n], beside[n], stats[n]), numbers, wait=wait))

    if any(stats):
        index = build()
    else:
        files, settings = [*paths, *filter(None, beside)], [len(paths), bool(index_paths)]
        index = shared_index.cached("tfrecord", settings, files=files, build=build, accept=lambda found: found == paths)
    if not len(index):
        raise DataError(f"tfrecord: no record in {', '.join(paths[:3])}")
    return index


def _opened(path: str, index_path: str, stat: storage.FileStat | None) -> Index:
    if stat is not None:
        return _remote(path, index_path, stat)
    return _indexed(path, index_path) if index_path else _with_lost(open_file(path))


def _remote(path: str, index_path: str, stat: storage.FileStat) -> Index:
    """Index a file at an address: by an index file, or else by a scan of a copy on this machine.

    Unlike a local file, its heads are not compared with the index, which would cost a request each. Reading a record
    verifies its checksums in any case.
    """
    if index_path:
        try:
            return replace(read_index(index_path, data=path, size=stat.size), versions=[version_of(stat)])
        except DataError as error:
            log.warning("%s; the file is read without it", error)
    found = None if index_path else listed(path, offsets_and_lengths, stat)
    if found is not None:
        return found.index
    return replace(_with_lost(open_file(storage.local_path(path))), names=[path])


def open_file(path: str) -> Scan:
    """Return the scan of one file, from the cache if possible."""
    try:
        index_cache.stamp_of(path)
    except OSError as error:
        raise unreadable("tfrecord", path, error) from None

    def pack(found: Scan) -> scan_cache.Arrays | None:
        # The scan of a gzip file is that of its unpacked copy, whose name is not that of the file.
        if found.faults or found.index.names:
            return None
        return {"offsets": found.index.offsets, "lengths": found.index.lengths}

    def unpack(kept: scan_cache.Arrays, size: int) -> Scan | None:
        del size
        if not scan_cache.are_ranges(kept):
            return None
        index = Index([path], np.zeros(len(kept["offsets"]), np.int64), kept["offsets"], kept["lengths"])
        return Scan(index) if fits(index) else None

    return scan_cache.cached(path, "tfrecord", scan=scan, pack=pack, unpack=unpack)


def fits(index: Index) -> bool:
    """Whether an index can belong to its file: all ranges are possible, and sampled heads match."""
    path = index.paths[0]
    try:
        if len(index.offsets) != len(index.lengths) or misfit(index, Path(path).stat().st_size):
            return False
        chosen = np.unique(np.linspace(0, len(index) - 1, SAMPLED).astype(np.int64)) if len(index) else index.offsets
        with open_binary(path) as file:
            for item in chosen:
                file.seek(int(index.offsets[item]))
                # A head holds the length and its checksum, so a match at the wrong place is next to impossible.
                if file.read(HEAD) != _core.tfrecord_frame(int(index.lengths[item]) - FRAME, 0)[0]:
                    return False
    except OSError:
        return False
    return True


def joined(indexes: Sequence[Index]) -> Index:
    """Concatenate indexes of one file each."""
    if len(indexes) == 1:
        return indexes[0]
    paths = [index.paths[0] for index in indexes]
    names = [(index.names or index.paths)[0] for index in indexes]
    files = np.repeat(np.arange(len(indexes)), [len(index.offsets) for index in indexes]).astype(np.int64)
    offsets = np.concatenate([index.offsets for index in indexes]).astype(np.int64)
    lengths = np.concatenate([index.lengths for index in indexes]).astype(np.int64)
    versions = joined_versions(indexes)
    return Index(paths, files, offsets, lengths, names=names if names != paths else (), versions=versions)


def _indexed(path: str, index_path: str) -> Index:
    """Return the index of an index file if it matches the data; else scan the data and log a warning.

    An index that is older than the data may be that of an earlier version of the file that begins in the same way. It
    is used only if a scan finds a record at each of its offsets.
    """
    try:
        index = read_index(index_path, data=path)
        older = Path(index_path).stat().st_mtime_ns < Path(path).stat().st_mtime_ns
        if fits(index) and not older:
            return index
        wrong = f"tfrecord: {index_path} does not match {path}"
    except DataError as error:
        wrong = str(error)
        index = None
    made = _with_lost(open_file(path))
    if index is not None and set(index.offsets.tolist()) <= set(made.offsets.tolist()) and fits(index):
        return index
    log.warning("%s; the file is read without it", wrong)
    return made


def _with_lost(scan: Scan) -> Index:
    """Return an index in which lost pieces are items too."""
    index = scan.index
    hopeless = [fault for fault in scan.faults if fault.kind == "wrong_format" or fault.length == 0]
    if hopeless or (scan.faults and not len(index.offsets)):
        raise _unreadable([*hopeless, *scan.faults])
    if not scan.faults:
        return index
    offsets = np.concatenate([index.offsets, [fault.offset for fault in scan.faults]]).astype(np.int64)
    lengths = np.concatenate([index.lengths, [fault.length for fault in scan.faults]]).astype(np.int64)
    order = np.argsort(offsets, kind="stable")
    return Index(index.paths, np.zeros(len(order), np.int64), offsets[order], lengths[order], names=index.names)


def _unreadable(faults: Sequence[RecordFault]) -> DataError:
    return DataError(str(faults[0]), tuple(fault.event(max(fault.record, 0)) for fault in faults))
