"""Python threads of engines, which end without being waited for when their owner is garbage."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from pixelmill import _core
from pixelmill.errors import EngineError

CLOSED = "the pipeline was closed; make a new one"

Result = TypeVar("Result")
_Call = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...]]


class WorkerThread:
    """A thread that makes calls in turn. It starts with the first of them.

    Garbage may be collected in any thread at any line and under any lock: in the middle of `Thread.start`, of logging,
    of an import, in the worker itself. So a finalizer only signals, which neither waits nor takes a lock. The thread
    then ends on its own; only `close` waits.

    Args:
        name: The name of the thread.
        last: Called by the thread at its end, before the calls that were not begun are dropped.
    """

    def __init__(self, name: str, *, last: Callable[[], object] | None = None) -> None:
        self._worker = _Worker(name, last)  # the thread knows nothing but this, so it does not keep its owner alive
        weakref.finalize(self, self._worker.signal_stop).atexit = False  # `_end_threads` is there for that

    def start(self) -> None:
        """Start the thread now."""
        self._worker.start()

    def submit(self, call: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Schedule a call. Raises EngineError after the thread was stopped."""
        return self._worker.submit(call, arguments)

    def signal_stop(self) -> None:
        """Let the thread end after the call under way, and cancel the others. This is all that a finalizer may do."""
        self._worker.signal_stop()

    def close(self) -> None:
        """Stop the thread and wait for its end, unless it is the one that asks."""
        close([self])


def signal_stop(threads: Iterable[WorkerThread]) -> None:
    """Stop threads without waiting; safe in finalizers."""
    for thread in threads:
        thread.signal_stop()


def close(threads: Iterable[WorkerThread]) -> bool:
    """Stop threads that may wait for each other's calls, and wait for their end.

    Returns:
        False if the caller is one of them; then nothing was waited for.
    """
    workers = [thread._worker for thread in threads]
    for worker in workers:
        worker.signal_stop()
    if any(worker.is_current() for worker in workers):
        return False
    for worker in workers:
        worker.join()
    return True


class _Worker:
    """What a thread and its owner share."""

    def __init__(self, name: str, last: Callable[[], object] | None) -> None:
        self._name = name
        self._last = last
        self._stopped = False
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()  # whose put is reentrant, as a finalizer needs it
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ident: int | None = None

    def start(self) -> None:
        with self._starting:
            if self._thread is not None or self._stopped:
                return
            if _exiting:
                raise EngineError(CLOSED)
            # At exit, Python waits for threads that are not daemons before it runs any hook that could stop them.
            # Daemons must not run on while Python is taken down, so `_end_threads` waits for them before that.
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            _alive.add(self)
            try:
                self._thread.start()
            except RuntimeError:  # the system has no more threads
                _alive.discard(self)
                self._thread = None
                raise

    def submit(self, call: Callable[..., Result], arguments: tuple[Any, ...]) -> Future[Result]:
        self.start()
        if self._stopped:
            raise EngineError(CLOSED)
        future: Future[Result] = Future()
        self._calls.put((future, call, arguments))
        if self._stopped:  # since the line above, perhaps, and the thread may have emptied the queue before
            future.cancel()
        return future

    def signal_stop(self) -> None:
        self._stopped = True
        self._calls.put(None)

    def is_current(self) -> bool:
        return self._ident == threading.get_ident()

    def join(self) -> None:
        with self._starting:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        self._ident = threading.get_ident()
        try:
            while (item := self._calls.get()) is not None and not self._stopped:
                _make(*item)
                del item  # else it and what it works on would live until the next call
            self._end(item)
        finally:
            self._ident = None
            _alive.discard(self)

    def _end(self, item: _Call | None) -> None:
        left = [item]
        while not self._calls.empty():
            left.append(self._calls.get())
        for future, _, _ in filter(None, left):
            future.cancel()
        if self._last is not None:
            self._last()


def _make(future: Future[Any], call: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = call(*arguments)
    except BaseException as error:
        future.set_exception(error)
        del future, call, arguments  # the traceback of the error holds this frame, which would hold the error
    else:
        future.set_result(result)


_alive: set[_Worker] = set()  # of running threads; adding and discarding are single steps, so it needs no lock
_exiting = False


def _end_threads() -> None:
    """Stop all threads before Python is taken down, and wait for them: first these, which wait for native ones."""
    global _exiting
    _exiting = True
    workers = list(_alive)
    for worker in workers:
        worker.signal_stop()
    try:
        for worker in workers:
            worker.join()
    finally:  # after Ctrl-C too
        _core.close_all_executors()


atexit.register(_end_threads)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alive.clear)  # its threads are the parent's
