"""Several TFRecord files as one dataset, opened by an index that is given, kept from the last time, or made now."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pixelmill import _core
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import index_cache, tfrecord
from pixelmill.formats.faults import RecordFault, Scan
from pixelmill.formats.index import Index

CACHED_FROM = 8 << 20  # bytes; smaller files are scanned faster than a cache is looked up
SAMPLED = 64  # heads that are compared with an index


def open_files(paths: Sequence[str], index_paths: Sequence[str] | None = None) -> Index:
    """Open files as one list of records, in the order given.

    A piece of a file that is lost is an item too: reading it fails, and so it is neither silent nor in anybody's way.

    Args:
        paths: The files.
        index_paths: DALI's index of each; an index that does not fit its file is replaced by one made now.
    """
    if index_paths and len(index_paths) != len(paths):
        raise ArgumentError(f"index_path: {len(index_paths)} index files for {len(paths)} data files")
    given = zip(paths, index_paths or [""] * len(paths), strict=True)
    index = joined([_indexed(path, other) if other else _with_lost(open_file(path)) for path, other in given])
    if not len(index):
        raise DataError(f"tfrecord: there is no record in {', '.join(paths[:3])}")
    return index


def open_file(path: str) -> Scan:
    """Find the records of one file, or what an earlier time has found."""
    try:
        stamp = index_cache.stamp_of(path)
    except OSError as error:
        raise ArgumentError(f"tfrecord: {error.strerror}: {path}") from None
    if stamp[0] < CACHED_FROM:
        return tfrecord.scan(path)
    kept = index_cache.load(path, "tfrecord", stamp=stamp)
    if kept is not None and kept.keys() == {"offsets", "lengths"}:
        index = Index([path], np.zeros(len(kept["offsets"]), np.int64), kept["offsets"], kept["lengths"])
        if fits(index):
            return Scan(index)
    found = tfrecord.scan(path)
    if not found.faults and not found.index.names:
        arrays = {"offsets": found.index.offsets, "lengths": found.index.lengths}
        index_cache.store(path, "tfrecord", arrays, stamp=stamp)
    return found


def fits(index: Index) -> bool:
    """Tell whether an index of one file can be true: its places are possible, and sampled heads are where it says."""
    path = index.paths[0]
    try:
        if len(index.offsets) != len(index.lengths) or tfrecord.misfit(index, Path(path).stat().st_size):
            return False
        chosen = np.unique(np.linspace(0, len(index) - 1, SAMPLED).astype(np.int64)) if len(index) else index.offsets
        with Path(path).open("rb") as file:
            for item in chosen:
                file.seek(int(index.offsets[item]))
                if file.read(tfrecord.HEAD) != _core.tfrecord_frame(int(index.lengths[item]) - tfrecord.FRAME, 0)[0]:
                    return False
    except OSError:
        return False
    return True


def joined(indexes: Sequence[Index]) -> Index:
    """Put indexes of one file each behind one another."""
    paths = [index.paths[0] for index in indexes]
    names = [(index.names or index.paths)[0] for index in indexes]
    files = np.repeat(np.arange(len(indexes)), [len(index.offsets) for index in indexes]).astype(np.int64)
    offsets = np.concatenate([index.offsets for index in indexes]).astype(np.int64)
    lengths = np.concatenate([index.lengths for index in indexes]).astype(np.int64)
    return Index(paths, files, offsets, lengths, names=names if names != paths else ())


def _indexed(path: str, index_path: str) -> Index:
    """Take an index that is given where it fits; else make one and say so."""
    try:
        index = tfrecord.read_index(index_path, data=path)
        older = Path(index_path).stat().st_mtime_ns < Path(path).stat().st_mtime_ns
        if fits(index) and not older:
            return index
        wrong = f"tfrecord: {index_path} does not fit {path}"
    except DataError as error:
        wrong = str(error)
        index = None
    made = _with_lost(open_file(path))
    if index is not None and set(index.offsets.tolist()) <= set(made.offsets.tolist()) and fits(index):
        return index  # only its time was wrong
    import logging

    logging.getLogger("pixelmill").warning("%s; the file is read without it", wrong)
    return made


def _with_lost(scan: Scan) -> Index:
    """Give an index in which what is lost has its place."""
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
