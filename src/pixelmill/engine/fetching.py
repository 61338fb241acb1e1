"""An engine whose samples are fetched from stores before they run."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from pixelmill.engine.compile import Plan, is_fetched, part_of
from pixelmill.engine.native import FetchedItems, Pending, Samples
from pixelmill.engine.selection import Engine
from pixelmill.engine.worker_thread import WorkerThread, close
from pixelmill.errors import ArgumentError
from pixelmill.formats.index import Index
from pixelmill.steps.sources import Records
from pixelmill.storage import is_remote
from pixelmill.storage.fetch_work import Fetched, FetchSettings
from pixelmill.storage.fetcher import Fetcher
from pixelmill.storage.range_cache import RangeCache
from pixelmill.storage.ranges import WHOLE, Merging, Range

Items = npt.NDArray[np.int64]

# In a window of blocks, everything between two ranges of a block is needed by some rank.
_BLOCKS = Merging(max_gap=8 << 20, waste=1.0, reach=1 << 60)


@dataclass(frozen=True, eq=False)
class _Ranges:
    """The ranges of one kind of items.

    Attributes:
        column: The number of their reader.
        part: The part of its index that names them.
    """

    column: int
    part: Index

    def of(self, item: int) -> Range | None:
        """Return the range of an item; None for a file of this machine and for nothing."""
        part = self.part
        number = int(part.files[item]) if len(part.files) else item
        path = part.paths[number]
        if not is_remote(path):
            return None
        version = part.versions[number] if part.versions else ""
        if not len(part.offsets):
            return Range(path, 0, int(part.sizes[item]) if len(part.sizes) else WHOLE, version)
        return Range(path, int(part.offsets[item]), int(part.lengths[item]), version)


class ReadAhead:
    """Fetches the items of batches: those that are expected, in the order of the epoch, and any other.

    Attributes:
        has_cache: Whether what was fetched is kept on this machine.

    Args:
        plan: The compiled graph, which has items that are fetched.
    """

    def __init__(self, plan: Plan) -> None:
        wanted = [records for records in plan.ranges if is_fetched(records)]
        self._ranges = [_Ranges(plan.readers.index(records.reader), part_of(records)) for records in wanted]
        self._expected: deque[tuple[Items, list[Range | None]]] = deque()
        self._unsent: list[tuple[Range | None, int]] = []
        cache = _cache(wanted)
        self.has_cache = cache is not None
        self._fetcher = _fetcher(wanted, cache)

    @property
    def fetcher(self) -> Fetcher:
        """What fetches."""
        return self._fetcher

    @property
    def is_idle(self) -> bool:
        """Whether nothing is expected."""
        return not self._expected

    @property
    def is_low(self) -> bool:
        """Whether less than three quarters of the bytes that are worth reading ahead are expected."""
        return self._fetcher.ahead < 3 * self._fetcher.most_ahead // 4

    @property
    def holds_back(self) -> bool:
        """Whether all that `send` would announce is in one window, of which more may follow."""
        return bool(self._unsent) and self._unsent[0][1] == self._unsent[-1][1] >= 0

    @property
    def wants_more(self) -> bool:
        """Whether fewer bytes are expected than are worth reading ahead, or none of a window that is not complete."""
        return self.holds_back or self._fetcher.ahead < self._fetcher.most_ahead

    def expect(self, items: Items, windows: Items | None) -> None:
        """Add a batch to those that `send` announces.

        Args:
            items: The items of its samples.
            windows: The number of the window of blocks of each sample; None without blocks.
        """
        ranges = self._listed(items)
        self._expected.append((items, ranges))
        self._fetcher.plan(ranges)
        numbers = [-1] * len(items) if windows is None else windows.tolist()
        self._unsent += zip(ranges, numbers * (len(ranges) // len(items)), strict=True)

    def send(self, *, is_end: bool) -> None:
        """Announce the batches that were added; what is in the last window waits until all of the window is known.

        Otherwise the first samples of a window would be read by requests of their own.

        Args:
            is_end: Whether no batch follows in this epoch.
        """
        last = max((window for _, window in self._unsent), default=-1)
        held = [] if is_end or last < 0 else [entry for entry in self._unsent if entry[1] == last]
        self._fetcher.expect([item for item, window in self._unsent if is_end or window < 0 or window < last])
        self._unsent = held

    def take(self, items: Items) -> Future[list[Fetched]]:
        """Fetch the items of a batch; those of the next batch that was announced have perhaps arrived already."""
        count = len(items)
        if self._expected and np.array_equal(self._expected[0][0][:count], items):
            announced, ranges = self._expected.popleft()
            if count < len(announced):  # the last samples of an epoch that an iterator does not deliver
                wanted = [ranges[start : start + count] for start in range(0, len(ranges), len(announced))]
                left = [
                    ranges[start + count : start + len(announced)] for start in range(0, len(ranges), len(announced))
                ]
                self._fetcher.drop([item for part in left for item in part])
                ranges = [item for part in wanted for item in part]
            return self._fetcher.take(ranges, expected=True)
        return self._fetcher.take(self._listed(items), expected=False)

    def forget(self) -> None:
        """Withdraw what was announced."""
        self._expected.clear()
        self._unsent.clear()
        self._fetcher.forget()

    def by_sample(self, fetched: Sequence[Fetched], count: int) -> FetchedItems:
        """Return what `take` returned as a list for each kind of items."""
        return [list(fetched[start : start + count]) for start in range(0, len(fetched), count)] if count else []

    def _listed(self, items: Items) -> list[Range | None]:
        return [ranges.of(int(item)) for ranges in self._ranges for item in items[:, ranges.column]]


class FetchingEngine:
    """Starts a batch on another engine as soon as its bytes are there.

    Args:
        engine: The other engine.
        source: Fetches the bytes.
    """

    def __init__(self, engine: Engine, source: ReadAhead) -> None:
        self._engine = engine
        self._source = source
        self._starter = WorkerThread("pixelmill-start")

    @property
    def plan(self) -> Plan:
        """The compiled graph."""
        return self._engine.plan

    @property
    def threads(self) -> tuple[WorkerThread, ...]:
        """The Python threads. They refer to the engine only while a batch is running."""
        return (self._starter, *self._engine.threads)

    def forked(self) -> bool:
        """Whether this process is a fork of the one that created the engine."""
        return self._engine.forked()

    def submit(self, samples: Samples, *, fill: bool = False) -> Pending:
        """Start a batch. With `fill`, samples that fail become gray images instead of errors."""
        fetched = self._source.take(samples.items)
        started = self._starter.submit(self._start, fetched, samples, fill)
        return Pending(None, lambda: started.result().result())

    def close(self) -> None:
        """Stop the threads and wait for them. Batches in progress are lost."""
        if self.forked():
            return
        self._source.fetcher.cancel_taking()
        close([self._starter])
        self._engine.close()

    def _start(self, fetched: Future[list[Fetched]], samples: Samples, fill: bool) -> Pending:
        items = self._source.by_sample(fetched.result(), len(samples))
        return self._engine.submit(replace(samples, fetched=items), fill=fill)


def _fetcher(wanted: Sequence[Records], cache: RangeCache | None) -> Fetcher:
    access = [records.reader.access for records in wanted]
    options = access[0].options
    if any(one.options != options for one in access):
        raise ArgumentError("storage_options must be the same for all readers of a pipeline")
    merging = _BLOCKS if any(records.reader.blocks is not None for records in wanted) else Merging()
    settings = FetchSettings(budget=max(one.read_ahead for one in access), merging=merging)
    return Fetcher(options, settings=settings, cache=cache)


def _cache(wanted: Sequence[Records]) -> RangeCache | None:
    """Return the cache of the first reader's dataset; None if it is off."""
    size = wanted[0].reader.access.cache_size
    paths = part_of(wanted[0]).paths
    if size == 0 or not len(paths):
        return None
    first, last = paths[0], paths[len(paths) - 1]
    common = next(
        (place for place, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first)
    )
    try:
        return RangeCache(first[:common].rpartition("/")[0], size=size)
    except OSError:
        return None
