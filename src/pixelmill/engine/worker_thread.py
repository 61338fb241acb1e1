"""Python threads of engines. They end without being waited for when their owner is garbage-collected."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Generic, ParamSpec, TypeVar

from pixelmill import _core
from pixelmill.errors import EngineError

CLOSED = "the pipeline was closed; create a new one"

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class WorkerThread:
    """A thread that makes calls one after the other. It starts with the first call.

    The garbage collector may run a finalizer in any thread, at any line and under any lock: in the middle of
    `Thread.start`, of logging, of an import, or in the worker itself. A finalizer that waited for the thread, or took a
    lock, could deadlock. So it only signals, and the thread ends later; only `close` waits.

    Args:
        name: The name of the thread.
        last: Called by the thread when it ends, after the calls that did not start were canceled.
    """

    def __init__(self, name: str, *, last: Callable[[], object] | None = None) -> None:
        self._worker = _Worker(name, last)  # the thread refers to this alone, so it does not keep its owner alive
        weakref.finalize(self, self._worker.signal_stop).atexit = False  # at exit, `_end_threads` stops all threads

    def start(self) -> None:
        """Start the thread now."""
        self._worker.start()

    def submit(
        self, call: Callable[Parameters, Result], *arguments: Parameters.args, **named: Parameters.kwargs
    ) -> Future[Result]:
        """Schedule a call. Raises EngineError if the thread was stopped."""
        return self._worker.submit(partial(call, *arguments, **named))

    def signal_stop(self) -> None:
        """End the thread after the current call and cancel the others. Finalizers may call this, but nothing else."""
        self._worker.signal_stop()

    def close(self) -> None:
        """Stop the thread and wait for its end, unless the thread itself is the caller."""
        close([self])


def signal_stop(threads: Iterable[WorkerThread]) -> None:
    """Stop threads without waiting; safe in finalizers."""
    for thread in threads:
        thread.signal_stop()


def close(threads: Iterable[WorkerThread]) -> bool:
    """Stop threads that may wait for each other's calls, and wait for their end.

    Returns:
        False if the caller is one of the threads; then this did not wait.
    """
    workers = [thread._worker for thread in threads]
    for worker in workers:
        worker.signal_stop()
    if any(worker.is_current() for worker in workers):
        return False
    for worker in workers:
        worker.join()
    return True


@dataclass(frozen=True, eq=False)
class _Call(Generic[Result]):
    future: Future[Result]
    function: Callable[[], Result]


class _Worker:
    """What a thread and its owner share."""

    def __init__(self, name: str, last: Callable[[], object] | None) -> None:
        self._name = name
        self._last = last
        self._stopped = False
        # SimpleQueue, because its put is reentrant: a finalizer may run while the same thread is inside of put.
        self._calls: SimpleQueue[_Call[Any] | None] = SimpleQueue()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ident: int | None = None

    def start(self) -> None:
        with self._starting:
            if self._thread is not None or self._stopped:
                return
            if _exiting:
                raise EngineError(CLOSED)
            # At exit, Python waits for threads that are not daemons before it runs any hook that could stop them. And
            # daemons must not run while the interpreter shuts down, so `_end_threads` waits for them before that.
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            _alive.add(self)
            try:
                self._thread.start()
            except RuntimeError:  # the system has no more threads
                _alive.discard(self)
                self._thread = None
                raise

    def submit(self, function: Callable[[], Result]) -> Future[Result]:
        self.start()
        if self._stopped:
            raise EngineError(CLOSED)
        future: Future[Result] = Future()
        self._calls.put(_Call(future, function))
        # The thread may have been stopped, and have emptied the queue, since the check above.
        if self._stopped:
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
                _run(item.future, item.function)
                del item  # otherwise the call and its arguments would live until the next call
            self._end(item)
        finally:
            self._ident = None
            _alive.discard(self)

    def _end(self, item: _Call[Any] | None) -> None:
        left = [item]
        while not self._calls.empty():
            left.append(self._calls.get())
        for call in filter(None, left):
            call.future.cancel()
        if self._last is not None:
            self._last()


def _run(future: Future[Result], function: Callable[[], Result]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        result = function()
    except BaseException as error:
        future.set_exception(error)
        # The traceback of the error refers to this frame. The frame must not refer to the error through the future:
        # that would be a cycle, which keeps the batch alive until the garbage collector runs.
        del future, function
    else:
        future.set_result(result)


_alive: set[_Worker] = set()  # running threads; adding and discarding are atomic, so it needs no lock
_exiting = False


def _end_threads() -> None:
    """Stop all threads and wait for them before the interpreter shuts down: first these, which wait for native ones."""
    global _exiting
    _exiting = True
    workers = list(_alive)
    for worker in workers:
        worker.signal_stop()
    try:
        for worker in workers:
            worker.join()
    finally:  # also after Ctrl-C
        _core.close_all_executors()


atexit.register(_end_threads)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_alive.clear)  # the child has none of the parent's threads
