"""What a process uses, and whether that grew during a long run."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = ("seconds", "samples", "pool", "private_mb", "heap_mb", "blocks", "threads", "files")
Table = dict[str, np.ndarray[Any, Any]]
# How much the last quarter of a run may use more than the second; the first is the warm-up. Numbers of threads and of
# open files may not change at all.
MOST_PRIVATE = 0.10  # fraction; free memory that glibc keeps in its arenas moves by a few MB
MOST_HEAP_PER_SAMPLE = 0.5  # bytes; the smallest block that malloc hands out takes 32
MOST_BLOCKS_PER_EPOCH = 0.25  # blocks of Python's allocator
# Short runs would be judged by noise: batches in flight, and names that Python keeps in its caches.
SLACK_HEAP_MB = 4.0
SLACK_BLOCKS = 1000
LOOKS, SECONDS_BETWEEN = 10, 0.005
ENOUGH = 1_000_000  # samples after which memory is judged at all; arenas of malloc grow for longer than a minute


class _MallocInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "uordblks",
            "fordblks",
            "keep",
        )
    )


class History:
    """What this process used at several moments, without using much itself."""

    def __init__(self) -> None:
        self._values = array("d")
        self._libc = ctypes.CDLL(None)
        self._libc.mallinfo2.restype = _MallocInfo

    def __len__(self) -> int:
        return len(self._values) // len(COLUMNS)

    def add(self, *, seconds: float, samples: int, pool: int) -> None:
        """Add what the process uses now.

        Args:
            seconds: The time since the start.
            samples: The number of samples so far.
            pool: The number of worker threads, on which threads and memory depend.
        """
        gc.collect()
        rollup = Path("/proc/self/smaps_rollup").read_text()
        # Not the proportional share (PSS): that of a library grows when other processes that map it end.
        private = sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_"))
        heap = self._libc.mallinfo2()
        threads, files = self._fewest()
        megabytes = (private * 1024 / 1e6, (heap.uordblks + heap.hblkhd) / 1e6)
        self._values.extend((seconds, samples, pool, *megabytes, sys.getallocatedblocks(), threads, files))

    def _fewest(self) -> tuple[int, int]:
        """Count threads and open files, several times: workers that read ahead close their files in a moment."""
        counts: list[list[int]] = []
        for _ in range(LOOKS):
            counts.append([len(list(Path(f"/proc/self/{name}").iterdir())) for name in ("task", "fd")])
            time.sleep(SECONDS_BETWEEN)
        threads, files = map(min, zip(*counts, strict=True))
        return threads, files

    def last(self) -> str:
        """Return the last entry as a line."""
        values = self._values[-len(COLUMNS) :]
        return ", ".join(f"{name} {value:.10g}" for name, value in zip(COLUMNS, values, strict=True))

    def table(self) -> Table:
        """Return the columns."""
        return dict(zip(COLUMNS, np.array(self._values).reshape(-1, len(COLUMNS)).T, strict=True))


def growth(table: Table) -> tuple[dict[str, Any], list[str]]:
    """Return figures about what a process used, and a sentence for each thing that grew by more than it may."""
    late = len(table["pool"]) // 4
    threads, files = _distinct((table["threads"] - table["pool"])[late:]), _distinct(table["files"][late:])
    figures: dict[str, Any] = {"threads_beside_the_pool": threads, "open_files": files}
    faults = {
        f"threads beside the pool: {threads}": len(threads) > 1,
        f"open files: {files}": len(files) > 1,
    }
    if table["samples"][-1] >= ENOUGH:
        more, grown = _memory(table)
        figures, faults = {**figures, **more}, {**faults, **grown}
    return figures, [sentence for sentence, wrong in faults.items() if wrong]


def _memory(table: Table) -> tuple[dict[str, Any], dict[str, bool]]:
    quarters = [slice(len(table["pool"]) * part // 4, len(table["pool"]) * (part + 1) // 4) for part in range(4)]
    before, after = quarters[1], quarters[3]
    private = [float(table["private_mb"][quarter].max()) for quarter in quarters]
    samples = float(np.median(table["samples"][after]) - np.median(table["samples"][before]))
    epochs = len(table["pool"]) / 2  # between the middle of the second and that of the last quarter
    heap = _least_growth(table, "heap_mb", before, after)
    blocks = _least_growth(table, "blocks", before, after)
    figures = {
        "private_mb_most_by_quarter": [round(most, 1) for most in private],
        "heap_bytes_per_sample": round(heap * 1e6 / samples, 3),
        "blocks_per_epoch": round(blocks / epochs, 3),
    }
    return figures, {
        f"private memory grew by {private[3] - private[1]:.1f} MB": private[3] > private[1] * (1 + MOST_PRIVATE),
        f"the heap grew by {heap:.2f} MB in {samples:.0f} samples": heap
        > max(SLACK_HEAP_MB, samples * MOST_HEAP_PER_SAMPLE / 1e6),
        f"Python holds {blocks:.0f} blocks more after {epochs:.0f} epochs": blocks
        > max(SLACK_BLOCKS, epochs * MOST_BLOCKS_PER_EPOCH),
    }


def _least_growth(table: Table, name: str, before: slice, after: slice) -> float:
    """Return how much the least value grew for the same number of worker threads; the largest growth counts.

    The least value is that of a moment with the fewest batches in flight.
    """
    pools = set(table["pool"][before]) & set(table["pool"][after])
    return max(
        float(table[name][after][table["pool"][after] == pool].min())
        - float(table[name][before][table["pool"][before] == pool].min())
        for pool in pools
    )


def _distinct(values: np.ndarray[Any, Any]) -> list[int]:
    return sorted({int(value) for value in values})
