"""Reading ahead: a thread with an event loop fetches the ranges that a pipeline will need, before it needs them."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import Sequence
from concurrent.futures import Future

from pixelmill.storage.clients import Client
from pixelmill.storage.fetch_work import Fetched, FetchSettings, FetchWork
from pixelmill.storage.options import StorageOptions
from pixelmill.storage.range_cache import RangeCache
from pixelmill.storage.ranges import WHOLE, Range

_ENDING = 10.0  # seconds that the end of a fetcher may take; canceled requests end within milliseconds
_USUAL_FILE = 1 << 17  # bytes that a file of unknown size counts


class Fetcher:
    """Fetches ranges of files at addresses. All methods belong to one thread.

    Args:
        options: The options of the stores.
        settings: How to work.
        cache: The cache on this machine, if there is one.
    """

    def __init__(self, options: StorageOptions, *, settings: FetchSettings, cache: RangeCache | None = None) -> None:
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._work = FetchWork(Client(options), settings, cache)
        # The thread refers to the loop and the work alone, so it does not keep the fetcher alive. A finalizer must not
        # wait, so it only signals.
        self._thread = threading.Thread(target=_run, args=(self._loop, self._work), name="pixelmill-fetch", daemon=True)
        self._thread.start()
        _running[self._thread] = self._loop
        weakref.finalize(self, _stop, self._loop).atexit = False
        self._ahead = 0

    def forked(self) -> bool:
        """Whether this process is a fork of the one that created the fetcher."""
        return self._process != os.getpid()

    @property
    def ahead(self) -> int:
        """The bytes that were planned and not taken yet."""
        return self._ahead

    @property
    def most_ahead(self) -> int:
        """The bytes that are worth planning ahead."""
        return self._work.pace.ahead

    def plan(self, items: Sequence[Range | None]) -> None:
        """Count ranges that `expect` will announce; None stands for nothing."""
        self._ahead += _cost(items)

    def expect(self, items: Sequence[Range | None]) -> None:
        """Announce ranges that will be taken, in the order of need."""
        self._call(self._work.expect, items)

    def take(self, items: Sequence[Range | None], *, expected: bool) -> Future[list[Fetched]]:
        """Return the content of ranges, or the kind and message of a fault; None for None.

        Args:
            items: The ranges.
            expected: Whether they were planned.
        """
        if expected:
            self._ahead -= _cost(items)
        future: Future[list[Fetched]] = Future()
        if not self._call(self._work.take, future, items):
            future.cancel()
        return future

    def drop(self, items: Sequence[Range | None]) -> None:
        """Withdraw ranges that were planned and will not be taken."""
        self._ahead -= _cost(items)
        self._call(self._work.drop, items)

    def forget(self) -> None:
        """Withdraw everything that was announced."""
        self._ahead = 0
        self._call(self._work.forget)

    def cancel_taking(self) -> None:
        """Cancel the batches that wait; what was announced is fetched nevertheless."""
        self._call(self._work.cancel_taking)

    def close(self) -> None:
        """Stop the thread and wait for it; batches that wait are canceled."""
        if self.forked():
            return
        _stop(self._loop)
        self._thread.join()

    def _call(self, method: object, *arguments: object) -> bool:
        try:
            self._loop.call_soon_threadsafe(method, *arguments)  # type: ignore[arg-type]
        except RuntimeError:  # the loop is closed
            return False
        return True


def _cost(items: Sequence[Range | None]) -> int:
    return sum((item.size or _USUAL_FILE) if item.length == WHOLE else item.length for item in items if item)


_running: weakref.WeakKeyDictionary[threading.Thread, asyncio.AbstractEventLoop] = weakref.WeakKeyDictionary()


def _run(loop: asyncio.AbstractEventLoop, work: FetchWork) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        work.close()
        ending = loop.create_task(work.ended(timeout=_ENDING))
        ending.add_done_callback(lambda _: loop.stop())
        while not ending.done():  # a second `_stop` must not cut it short
            loop.run_forever()
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    if not loop.is_closed():
        try:
            loop.call_soon_threadsafe(loop.stop)
        except RuntimeError:  # closed in the meantime
            return


def _end_threads() -> None:
    """Stop all threads before the interpreter shuts down: daemons must not run Python then."""
    threads = dict(_running)
    for loop in threads.values():
        _stop(loop)
    for thread in threads:
        thread.join()


atexit.register(_end_threads)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # the child has none of the parent's threads
