"""Copies of the images or masks of a dataset, for containers from which they cannot be read as they are.

The bytes of all samples are written one after the other into a file in the cache folder, and read from there by byte
ranges. The copy is used again as long as the files of the dataset do not change.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import shutil
from pathlib import Path

import numpy as np

from pixelmill.errors import DataError
from pixelmill.formats import index_cache, storage
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.index import Index


def copied_ranges(dataset: Dataset, what: BytesColumn) -> Index:
    """Return the byte ranges of the images or masks of all samples in a copy; an existing one if there is one."""
    stamp = dataset_stamp(dataset)
    folder = copies_folder()
    digest = hashlib.blake2b(f"{dataset.format} {what} {stamp} {dataset.files[0]}".encode("utf-8", "surrogateescape"))
    target = folder / digest.hexdigest()[:32]
    kept = index_cache.load(str(target), "copy", stamp=stamp) if target.exists() else None
    if kept is not None and kept.keys() == {"lengths"} and kept["lengths"].sum() == target.stat().st_size:
        return _index(str(target), kept["lengths"].tolist(), {})
    return _copy(dataset, what, target, stamp)


def first_event(error: DataError) -> tuple[str, str]:
    """Return kind and message of what an error is about."""
    return (error.events[0].kind, error.events[0].message) if error.events else ("corrupt", str(error))


def copies_folder() -> Path:
    """Return the folder for copies: in the cache folder, or a temporary one if the cache is turned off."""
    base = index_cache.cache_folder()
    folder = _temporary_folder() if base is None else base / "unpacked"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@functools.cache
def _temporary_folder() -> Path:
    import tempfile  # late: workers of jobs start without it

    folder = tempfile.mkdtemp(prefix="pixelmill-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def _copy(dataset: Dataset, what: BytesColumn, target: Path, stamp: tuple[int, int]) -> Index:
    import tempfile  # late: workers of jobs start without it

    lengths: list[int] = []
    lost: dict[int, tuple[str, str]] = {}
    handle, temporary = tempfile.mkstemp(dir=target.parent)
    with open(handle, "wb") as stream:  # noqa: PTH123 - a descriptor, not a path
        for number in range(len(dataset)):
            content = b""
            try:
                sample = dataset.sample(number)
                content = (sample.image if what == "image" else sample.mask) or b""
            except DataError as error:
                lost[number] = first_event(error)
            lengths.append(stream.write(content))
    if lost:  # whoever repairs the dataset should not find the damage again
        atexit.register(Path(temporary).unlink, missing_ok=True)
        return _index(temporary, lengths, lost)
    Path(temporary).replace(target)
    index_cache.store(str(target), "copy", {"lengths": np.array(lengths, np.int64)}, stamp=stamp)
    return _index(str(target), lengths, {})


def _index(path: str, lengths: list[int], lost: dict[int, tuple[str, str]]) -> Index:
    sizes = np.array(lengths, np.int64)
    offsets = np.cumsum(sizes) - sizes
    return Index([path], np.zeros(len(sizes), np.int64), offsets, sizes, lost=lost)


def dataset_stamp(dataset: Dataset) -> tuple[int, int]:
    """Return two numbers that change when a file of the dataset does: what a cache of it is bound to."""
    digest, total = hashlib.blake2b(digest_size=7), 0
    for path in dataset.files:
        try:
            found = storage.stat(path)
        except OSError:
            found = storage.FileStat(0, 0)
        digest.update(os.fsencode(f"{path}\0{found.size}\0{found.modified}\0"))
        total += found.size
    return total, int.from_bytes(digest.digest(), "little")
