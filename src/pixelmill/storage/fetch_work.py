"""The work of a fetcher on its event loop: what is expected, what is in flight, what has arrived."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import Enum
from heapq import heappop, heappush
from typing import Any

from pixelmill.storage.clients import Client
from pixelmill.storage.pacing import WIDENED_EACH, Pace
from pixelmill.storage.range_cache import RangeCache
from pixelmill.storage.ranges import WHOLE, Merging, Range, Waiting
from pixelmill.storage.requests import Patience, Request

Fault = tuple[str, str]  # kind and message
Fetched = memoryview | Fault | None

_CACHE_THREADS = 4
_RECHECK = 0.02  # seconds until a range that another process fetches is looked up again


@dataclass(frozen=True)
class FetchSettings:
    """How a fetcher works.

    Attributes:
        budget: The most bytes to read ahead.
        patience: How long to try.
        merging: Which ranges become one request.
    """

    budget: int = 256 << 20
    patience: Patience = field(default_factory=Patience)
    merging: Merging = field(default_factory=Merging)


class State(Enum):
    """The states of a range."""

    WAITING = 0
    ISSUED = 1
    DONE = 2


@dataclass(eq=False)
class _Taking:
    """A batch that waits for its ranges."""

    future: Future[list[Fetched]]
    items: Sequence[Range | None]
    missing: int = 0


@dataclass(eq=False)
class _Entry:
    """A range that is needed.

    Attributes:
        item: The range.
        uses: How often it will be taken.
        claims: How many batches are taking it now.
        is_cached: Whether the cache held it when it was last looked up.
        state: How far it is.
        result: What came.
        takers: The batches that wait for it.
    """

    item: Range
    uses: int = 0
    claims: int = 0
    is_cached: bool = False
    state: State = State.WAITING
    result: Fetched = None
    takers: list[_Taking] = field(default_factory=list)


class FetchWork:
    """Everything that runs on the event loop of a fetcher; no method may be called from another thread.

    Args:
        client: Reads ranges.
        settings: How to work.
        cache: The cache on this machine, if there is one.
    """

    def __init__(self, client: Client, settings: FetchSettings, cache: RangeCache | None) -> None:
        self.pace = Pace(settings.budget)
        self._client, self._settings, self._cache = client, settings, cache
        self._entries: dict[Range, _Entry] = {}
        self._queue: list[tuple[int, int, _Entry]] = []  # urgent ones first, then in the order of need
        self._numbers = 0
        self._waiting = Waiting(settings.merging)
        self._in_flight = 0
        self._widening: asyncio.TimerHandle | None = None
        self._requests: set[Request] = set()
        self._on_disk: set[asyncio.Future[object]] = set()
        self._disk = ThreadPoolExecutor(_CACHE_THREADS, thread_name_prefix="pixelmill-cache") if cache else None

    def expect(self, items: Sequence[Range | None]) -> None:
        """Add ranges that will be taken, in the order of need."""
        for item in items:
            if item is not None:
                self._entry(item, urgency=1).uses += 1
        self._pump()

    def take(self, taking: Future[list[Fetched]], items: Sequence[Range | None]) -> None:
        """Set the result of a future when all ranges have arrived."""
        batch = _Taking(taking, items)
        self.pace.begin(len(items))
        for item in items:
            if item is None:
                continue
            entry = self._entry(item, urgency=0)
            entry.claims += 1
            entry.uses = max(entry.uses, entry.claims)
            if entry.state is not State.DONE:
                entry.takers.append(batch)
                batch.missing += 1
        if batch.missing:
            self.pace.stalled()
            self._pump()
        else:
            self._deliver(batch)

    def drop(self, items: Sequence[Range | None]) -> None:
        """Withdraw what was expected and will not be taken."""
        for item in items:
            entry = None if item is None else self._entries.get(item)
            if entry is not None:
                entry.uses -= 1
                self._release(entry)

    def forget(self) -> None:
        """Withdraw everything that no batch waits for."""
        for entry in list(self._entries.values()):
            entry.uses = entry.claims
            self._release(entry)

    def cancel_taking(self) -> None:
        """Cancel the batches that wait."""
        for entry in list(self._entries.values()):
            for batch in entry.takers:
                batch.future.cancel()
            entry.takers.clear()
            entry.uses -= entry.claims
            entry.claims = 0
            self._release(entry)

    def close(self) -> None:
        """Cancel all requests and all batches that wait. What came is still written to the cache."""
        for request in self._requests:
            request.cancel()
        self._requests.clear()
        if self._widening is not None:
            self._widening.cancel()
        self.cancel_taking()
        self._entries.clear()
        self._queue.clear()
        self._client.close()
        if self._disk is not None:
            self._disk.shutdown(wait=False)

    async def ended(self, *, timeout: float) -> None:
        """Wait for canceled requests, and for what is being written to the cache."""
        await self._client.ended(timeout=timeout)
        if self._on_disk:
            await asyncio.wait(self._on_disk, timeout=timeout)

    def _entry(self, item: Range, *, urgency: int) -> _Entry:
        entry = self._entries.get(item)
        if entry is None:
            entry = self._entries[item] = _Entry(item)
            self._enqueue(entry, urgency)
        elif urgency == 0 and entry.state is State.WAITING:
            heappush(self._queue, (0, self._numbers, entry))  # its older place in the queue is skipped
            self._numbers += 1
        return entry

    def _enqueue(self, entry: _Entry, urgency: int) -> None:
        entry.state = State.WAITING
        entry.is_cached = self._cache is not None and self._cache.holds(entry.item)
        if not entry.is_cached:
            self._waiting.add(entry.item, self._numbers)
        heappush(self._queue, (urgency, self._numbers, entry))
        self._numbers += 1

    def _release(self, entry: _Entry) -> None:
        if entry.uses > 0 or self._entries.get(entry.item) is not entry:
            return
        if entry.state is State.WAITING:
            self._waiting.discard(entry.item)
        if entry.state is not State.ISSUED:  # one in flight is released when it arrives
            del self._entries[entry.item]
            entry.state = State.DONE

    def _pump(self) -> None:
        """Send requests while more may be in flight."""
        while self._queue and self._in_flight < self.pace.limit:
            _, _, first = heappop(self._queue)
            if first.state is not State.WAITING:
                continue
            if first.is_cached:
                self._start([first], is_cached=True)
                continue
            group = [self._entries[item] for item in self._waiting.take(first.item)]
            for run in [group] if self._cache is None else self._claimed(group, first):
                self._start(run, is_cached=False)

    def _claimed(self, group: list[_Entry], first: _Entry) -> list[list[_Entry]]:
        """Return the runs of neighbors that no other process is fetching; the others are looked up again later."""
        runs: list[list[_Entry]] = [[]]
        for entry in group:
            if self._is_mine(entry, first):
                runs[-1].append(entry)
            elif runs[-1]:
                runs.append([])
        return [run for run in runs if run]

    def _is_mine(self, entry: _Entry, first: _Entry) -> bool:
        assert self._cache is not None
        if self._cache.claim(entry.item):
            if not self._cache.holds(entry.item):
                return True
            self._cache.unclaim(entry.item)  # another process has just finished
        entry.state = State.ISSUED
        asyncio.get_running_loop().call_later(_RECHECK, self._look_again, entry, 0 if entry is first else 1)
        return False

    def _look_again(self, entry: _Entry, urgency: int) -> None:
        if self._entries.get(entry.item) is entry:
            self._enqueue(entry, urgency)
            self._release(entry)
            self._pump()

    def _start(self, entries: list[_Entry], *, is_cached: bool) -> None:
        for entry in entries:
            entry.state = State.ISSUED
        self._in_flight += 1
        if is_cached:
            assert self._cache is not None
            (entry,) = entries
            self._with_disk(self._cache.read, entry.item, done=lambda data: self._from_cache(entry, data))
        else:
            self._from_store(entries)

    def _widen(self) -> None:
        """Send more requests, some each time, until the first answer shows how long one takes."""
        if self.pace.widened():
            self._widening = asyncio.get_running_loop().call_later(WIDENED_EACH, self._widen)
        self._pump()

    def _ended(self) -> None:
        self._in_flight -= 1
        self._pump()

    def _with_disk(self, call: Callable[..., object], *arguments: object, done: Callable[[Any], None]) -> None:
        """Call a function of the cache on a thread, and then `done` with what it returned."""
        future = asyncio.get_running_loop().run_in_executor(self._disk, call, *arguments)
        self._on_disk.add(future)

        def came(future: asyncio.Future[object]) -> None:
            self._on_disk.discard(future)
            if not future.cancelled():
                done(future.result())
                self._ended()

        future.add_done_callback(came)

    def _from_cache(self, entry: _Entry, data: bytes | None) -> None:
        if data is None:  # damaged, or evicted in the meantime
            self._enqueue(entry, 0)
        else:
            self._settle(entry, memoryview(data))

    def _from_store(self, entries: list[_Entry]) -> None:
        first = entries[0].item
        length = first.length
        if length != WHOLE:
            length = max(entry.item.offset + entry.item.length for entry in entries) - first.offset

        self.pace.allow(self._client.connections(first.path))
        if self._widening is None:
            self._widening = asyncio.get_running_loop().call_later(WIDENED_EACH, self._widen)

        def done(result: memoryview | OSError) -> None:
            self._requests.discard(request)
            self._came(entries, result)

        request = Request(
            self._client,
            self.pace,
            self._settings.patience,
            path=first.path,
            offset=first.offset,
            length=length,
            size=first.size,
            done=done,
        )
        self._requests.add(request)

    def _came(self, entries: list[_Entry], result: memoryview | OSError) -> None:
        pieces: list[tuple[Range, memoryview]] = []
        if isinstance(result, OSError):
            for entry in entries:
                self._settle(entry, ("io", result.strerror or str(result)))
        else:
            begin = entries[0].item.offset
            for entry in entries:
                start = entry.item.offset - begin
                piece = result if entry.item.length == WHOLE else result[start : start + entry.item.length]
                pieces.append((entry.item, piece))
                self._settle(entry, piece)
        if self._cache is None:
            self._ended()
        else:
            self._with_disk(self._keep, entries, pieces, done=lambda _: None)

    def _keep(self, entries: Sequence[_Entry], pieces: Sequence[tuple[Range, memoryview]]) -> None:
        """Write what came to the cache, and let other processes look for it there. Runs on a thread of its own."""
        assert self._cache is not None
        for item, piece in pieces:
            self._cache.write(item, piece)
        for entry in entries:
            self._cache.unclaim(entry.item)

    def _settle(self, entry: _Entry, result: Fetched) -> None:
        entry.state, entry.result = State.DONE, result
        takers, entry.takers = entry.takers, []
        for batch in takers:
            batch.missing -= 1
            if batch.missing == 0:
                self._deliver(batch)
        self._release(entry)

    def _deliver(self, batch: _Taking) -> None:
        results: list[Fetched] = []
        for item in batch.items:
            entry = None if item is None else self._entries[item]
            results.append(None if entry is None else entry.result)
        for item in batch.items:
            entry = None if item is None else self._entries.get(item)
            if entry is not None:
                entry.claims -= 1
                entry.uses -= 1
                if isinstance(entry.result, tuple) and entry.claims == 0:
                    entry.uses = 0  # a later use tries again
                self._release(entry)
        if not batch.future.cancelled():
            batch.future.set_result(results)
