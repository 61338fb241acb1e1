"""How fast storage delivers the bytes of samples, with and without the page cache of the operating system."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import islice
from threading import Event

from pixelmill.benchmark.bench_report import Storage
from pixelmill.benchmark.selection import Range
from pixelmill.storage.system import read_at

_PROBED = 16  # files that are asked whether they are in memory
_COLD = 0.25  # fraction of them that may still be in memory
_KEPT_OPEN = 64
NOT_COLD = "the page cache of this file system cannot be dropped, so reading was measured from memory alone"


def read_storage(ranges: Sequence[Range], *, threads: int, seconds: float) -> tuple[list[Storage], str | None]:
    """Read samples in random order: from the device where the cache can be dropped, then from memory.

    Args:
        ranges: Where the samples lie.
        threads: How many read at a time.
        seconds: The most time for each.

    Returns:
        What was measured, and why not more.
    """
    found = []
    cold = _drop(ranges)
    if cold:
        found.append(_measured("cold", ranges, threads, seconds, cycles=False))
    _measured("warm", ranges, threads, seconds, cycles=False)
    found.append(_measured("warm", ranges, threads, seconds, cycles=True))
    return found, None if cold else NOT_COLD


def _drop(ranges: Sequence[Range]) -> bool:
    """Drop the files from the page cache; return whether that succeeded."""
    if not hasattr(os, "posix_fadvise") or not hasattr(os, "preadv"):
        return False
    for written in (True, False):
        _forget(ranges, written=written)
        if _share_in_memory(ranges) <= _COLD:
            _forget(ranges, written=True)  # asking has brought some back
            return True
    return False


def _forget(ranges: Sequence[Range], *, written: bool) -> None:
    """Drop files from the page cache; what is not `written` to the device yet has to be before."""
    for path in dict.fromkeys(path for path, _, _ in ranges):
        with suppress(OSError), _opened(path) as descriptor:
            if not written:
                os.fdatasync(descriptor)
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def _share_in_memory(ranges: Sequence[Range]) -> float:
    """Return the fraction of some files that is in memory; 1 if unknown.

    One sample of each file is asked for: the system may begin to read the rest of a file then.
    """
    asked = list({entry[0]: entry for entry in ranges}.values())[:_PROBED]
    known = [there for entry in asked if (there := _in_memory(entry)) is not None]
    return sum(known) / len(known) if known else 1.0


def _in_memory(entry: Range) -> bool | None:
    """Whether the first bytes of a sample can be read without waiting; None if unknown."""
    path, offset, _ = entry
    try:
        with _opened(path) as descriptor:
            return os.preadv(descriptor, [bytearray(1)], offset, os.RWF_NOWAIT) > 0
    except BlockingIOError:
        return False
    except OSError:
        return None


def _measured(cache: str, ranges: Sequence[Range], threads: int, seconds: float, *, cycles: bool) -> Storage:
    """Read until all samples have been read, or in cycles until the time is over."""
    began, stop = time.perf_counter(), Event()
    end = began + seconds
    with ThreadPoolExecutor(threads) as pool:
        try:
            counts = list(pool.map(lambda first: _read(ranges[first::threads], end, stop, cycles), range(threads)))
        finally:
            stop.set()  # Ctrl-C does not wait for the end
    elapsed = max(time.perf_counter() - began, 1e-9)
    samples, size = sum(count for count, _ in counts), sum(size for _, size in counts)
    return Storage(
        cache=cache,
        samples_per_second=round(samples / elapsed, 1),
        bytes_per_second=round(size / elapsed),
        samples=samples,
        seconds=round(elapsed, 4),
    )


def _read(ranges: Sequence[Range], end: float, stop: Event, cycles: bool) -> tuple[int, int]:
    samples = size = 0
    opened: dict[str, int] = {}
    try:
        while ranges:
            for path, offset, length in ranges:
                with suppress(OSError):  # bad samples are reported elsewhere
                    size += len(read_at(_kept(opened, path), length, offset))
                    samples += 1
                if stop.is_set() or time.perf_counter() > end:
                    return samples, size
            if not cycles:
                break
        return samples, size
    finally:
        for descriptor in opened.values():
            os.close(descriptor)


def _kept(opened: dict[str, int], path: str) -> int:
    """Open a file, and keep some of them open: those of records are asked for again."""
    if path not in opened:
        if len(opened) == _KEPT_OPEN:
            for oldest in list(islice(opened, 1)):
                os.close(opened.pop(oldest))
        opened[path] = os.open(path, os.O_RDONLY)
    return opened[path]


@contextmanager
def _opened(path: str) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
