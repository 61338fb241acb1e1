"""Datasets that consist of several record files: one index over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import numpy as np

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.faults import RecordFault, Scan
from pixelmill.formats.index import Index
from pixelmill.formats.remote_records import Places, scan_remote


def scan_all(
    names: Sequence[str], scan: Callable[[str], Scan], *, places: Callable[[Places, int], list[tuple[int, int]]]
) -> Scan:
    """Scan record files and join the results.

    Args:
        names: The files. A file at an address is fetched first, unless an index file beside it lists its records.
        scan: Scans a local file.
        places: Converts the pairs of an index file, and the size of the data file, to offsets and lengths.
    """
    scans = scan_remote(names, scan, places)
    paths = [found.index.paths[0] for found in scans]  # of a gzip file, the path of its unpacked copy
    faults: list[RecordFault] = []
    for found in scans:
        wrong = [fault for fault in found.faults if fault.kind == "wrong_format" and not len(found.index)]
        if wrong:
            raise DataError(str(wrong[0]), (wrong[0].event(0),))
        faults += found.faults
    counts = [len(found.index.offsets) for found in scans]
    index = Index(
        paths,
        np.repeat(np.arange(len(paths), dtype=np.int64), counts),
        np.concatenate([found.index.offsets for found in scans]),
        np.concatenate([found.index.lengths for found in scans]),
        names=list(names),
        versions=joined_versions([found.index for found in scans]),
    )
    return Scan(index, tuple(faults))


def joined_versions(indexes: Sequence[Index]) -> list[str]:
    """Return the versions of the files of several indexes of one file each; none if no version is known."""
    versions = [version for index in indexes for version in (index.versions or [""])]
    return versions if any(versions) else []


def numbers_within(index: Index) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the number of each record within its own file."""
    firsts = np.searchsorted(index.files, np.arange(len(index.paths)))
    return np.arange(len(index.files), dtype=np.int64) - firsts[index.files]


def check_sources(names: Sequence[str], *, format: str) -> list[str]:
    """Return the files as a list; raises ArgumentError if there is none."""
    if not names:
        raise ArgumentError(f"{format}: no file to read")
    return list(names)


def stem(path: str) -> str:
    """Return the name of a file without folders and endings."""
    return PurePosixPath(path).name.partition(".")[0]
