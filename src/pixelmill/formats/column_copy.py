"""Copies of the images or masks of a dataset, for containers from which they cannot be read as they are.

The bytes of all samples are written one after the other into a file in the cache folder, and read from there by byte
ranges. The copy is used again as long as the files of the dataset do not change.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np

from pixelmill import storage
from pixelmill.amounts import size_text
from pixelmill.errors import DataError
from pixelmill.formats import index_cache
from pixelmill.formats.dataset import BytesColumn, Dataset
from pixelmill.formats.index import Array, Index
from pixelmill.log import log
from pixelmill.storage import cache

_LARGE = 1 << 30  # bytes of a dataset whose copy takes a while


def copied_ranges(dataset: Dataset, what: BytesColumn) -> Index:
    """Return the byte ranges of the images or masks of all samples in a copy; an existing one if there is one."""
    stamp = dataset_stamp(dataset)
    target = cache.entry("unpacked", "\0".join((dataset.format, what, *dataset.files)), str(stamp))
    kept = index_cache.load(str(target), "copy", stamp=stamp) if cache.holds(target) else None
    if kept is not None and kept.keys() == {"lengths"} and _fits(kept["lengths"], target.stat().st_size):
        return _index(str(target), kept["lengths"].tolist(), {})
    return _copy(dataset, what, target, stamp)


def _fits(lengths: Array, size: int) -> bool:
    """Whether lengths that may be forged divide a file of `size` bytes."""
    return bool(lengths.ndim == 1 and lengths.min(initial=0) >= 0 and sum(lengths.tolist()) == size)


def first_event(error: DataError) -> tuple[str, str]:
    """Return kind and message of what an error is about."""
    return (error.events[0].kind, error.events[0].message) if error.events else ("corrupt", str(error))


def _copy(dataset: Dataset, what: BytesColumn, target: Path, stamp: tuple[int, int]) -> Index:
    lengths: list[int] = []
    lost: dict[int, tuple[str, str]] = {}
    if stamp[0] >= _LARGE:
        text = "pixelmill: %s (%s): the %ss are copied into the cache first, because they cannot be read in place"
        log.warning(text, dataset.source, size_text(stamp[0]), what)
    with cache.publishing(target) as new:
        with new.path.open("wb") as stream:
            dataset.expect(range(len(dataset)))
            for number in range(len(dataset)):
                content = b""
                try:
                    sample = dataset.sample(number)
                    content = (sample.image if what == "image" else sample.mask) or b""
                except DataError as error:
                    lost[number] = first_event(error)
                lengths.append(stream.write(content))
        new.is_private = bool(lost)  # whoever repairs the dataset should not find the damage again
    if not lost:
        index_cache.store(str(target), "copy", {"lengths": np.array(lengths, np.int64)}, stamp=stamp)
    return _index(str(new.path), lengths, lost)


def _index(path: str, lengths: list[int], lost: dict[int, tuple[str, str]]) -> Index:
    sizes = np.array(lengths, np.int64)
    offsets = np.cumsum(sizes) - sizes
    return Index([path], np.zeros(len(sizes), np.int64), offsets, sizes, lost=lost)


def dataset_stamp(dataset: Dataset) -> tuple[int, int]:
    """Return two numbers that change when a file of the dataset does: what a cache of it is bound to."""
    digest, total = hashlib.blake2b(digest_size=7), 0
    stats = storage.stats(dataset.files, base=dataset.index.base)
    for path, known in zip(dataset.files, stats, strict=True):
        found = storage.FileStat(0, 0) if isinstance(known, OSError) else known
        digest.update(os.fsencode(f"{path}\0{found.size}\0{found.modified}\0"))
        total += found.size
    return total, int.from_bytes(digest.digest(), "little")
