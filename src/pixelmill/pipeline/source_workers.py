"""Worker processes that run the sources of `external_source(parallel=True)`.

A worker and the pipeline share a socket. Requests are small; large results travel in anonymous shared memory whose file
descriptor is sent over the socket. Such memory has no name, so nothing remains after a crash. A worker ends when the
socket is closed, which also happens when the process of the pipeline is killed.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import traceback
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NoReturn

from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline.shared_arrays import Failure, Stopped, receive, send

START_METHODS = ("fork", "spawn", "forkserver")
_HAS_MASKS = hasattr(signal, "pthread_sigmask")  # not on Windows
_PATIENCE = 5.0  # seconds that `close` waits for a callback in progress before it terminates the worker

# The ends that belong to this process. A forked child would keep the sockets open after this process is gone.
_own_ends: weakref.WeakSet[Connection] = weakref.WeakSet()


def _close_inherited() -> None:
    for link in list(_own_ends):
        link.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


@dataclass(frozen=True)
class RemoteSource:
    """A source as workers know it; `multiprocessing` passes it to them.

    Attributes:
        call: The callable, iterable or generator function of the user.
        is_callable: Whether it is called with a SampleInfo, a BatchInfo or an index.
        makes_iterators: Whether it is a generator function.
        starts_over: Whether an iterable starts over at its end.
    """

    call: Callable[..., object]
    is_callable: bool
    makes_iterators: bool
    starts_over: bool


@dataclass(frozen=True)
class Request:
    """What a worker is asked for.

    Attributes:
        task: The number of the request.
        source: The index of the source.
        infos: What to call the source with, once for each sample or once for the batch; None for iterables.
        restart: Whether an iterable starts over first.
    """

    task: int
    source: int
    infos: Sequence[object] | None
    restart: bool = False


def serve(link: Connection, sources: Sequence[RemoteSource]) -> None:
    """Answer requests until the socket is closed: the main function of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the pipeline, which then closes the socket
    if _HAS_MASKS:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    iterators: dict[int, Iterator[object]] = {}
    with suppress(EOFError, OSError):  # the other end is closed
        while True:
            request: Request = link.recv()
            send(link, request.task, _answer(request, sources[request.source], iterators))


def _answer(
    request: Request, source: RemoteSource, iterators: dict[int, Iterator[object]]
) -> list[object] | Failure | Stopped:
    try:
        if request.infos is not None:
            return [source.call(info) for info in request.infos]
        if request.restart or request.source not in iterators:
            iterators[request.source] = _new_iterator(source)
        try:
            return [next(iterators[request.source])]
        except StopIteration:
            if not source.starts_over:
                raise
            iterators[request.source] = _new_iterator(source)
            return [next(iterators[request.source])]
    except StopIteration:
        return Stopped()
    except Exception:
        return Failure(traceback.format_exc())


def _new_iterator(source: RemoteSource) -> Iterator[object]:
    return iter(source.call() if source.makes_iterators else source.call)  # type: ignore[call-overload, no-any-return]


@dataclass
class _Worker:
    process: BaseProcess
    link: Connection
    tasks: set[int] = field(default_factory=set)


class SourceWorkers:
    """A number of worker processes. They start with the first request, or by `start`.

    Attributes:
        count: How many there are.
        generation: How many times they were started; earlier requests are lost.

    Args:
        sources: All sources that the workers run, by index.
        count: How many processes there are.
        method: How they are started: `"fork"`, `"spawn"` or `"forkserver"`.
    """

    def __init__(self, sources: Sequence[RemoteSource], *, count: int, method: str) -> None:
        if count < 1:
            raise ArgumentError(f"Pipeline: py_num_workers must be at least 1, got {count}")
        if method not in START_METHODS:
            raise ArgumentError(f"Pipeline: py_start_method must be one of {', '.join(START_METHODS)}, got {method!r}")
        self._sources, self.count, self._method = tuple(sources), count, method
        self.generation = 0
        self._numbers = itertools.count()
        self._workers: list[_Worker] = []
        self._results: dict[int, list[object] | Failure | Stopped] = {}
        self._dropped: set[int] = set()
        self._process = os.getpid()

    def start(self) -> None:
        """Start the processes if they are not running."""
        if self._process != os.getpid():  # in a forked child the workers are the parent's
            self._workers, self._process = [], os.getpid()
        if self._workers:
            return
        self.generation += 1
        self._results, self._dropped = {}, set()
        # Windows has "spawn" alone.
        method = self._method if self._method in multiprocessing.get_all_start_methods() else "spawn"
        context = multiprocessing.get_context(method)
        try:
            for number in range(self.count):
                self._workers.append(self._started(context, number))
        except BaseException:
            self.close()
            raise
        # A finalizer must not wait for processes; those end on their own when their sockets are closed.
        links = [worker.link for worker in self._workers]
        finalizer = weakref.finalize(self, _close_links, links, os.getpid())
        finalizer.atexit = False

    def _started(self, context: multiprocessing.context.BaseContext, number: int) -> _Worker:
        mine, theirs = context.Pipe()
        _own_ends.add(mine)
        with theirs:
            process = context.Process(  # type: ignore[attr-defined]
                target=serve, args=(theirs, self._sources), name=f"pixelmill source {number}", daemon=True
            )
            try:
                with _no_interrupts():
                    process.start()
            except Exception as error:
                mine.close()
                raise _explained(error, self._method) from error
        return _Worker(process, mine)

    def submit(self, source: int, infos: Sequence[object] | None, *, restart: bool = False) -> int:
        """Ask for a result and return the number of the request. A source that is an iterable stays with one worker."""
        self.start()
        request = Request(next(self._numbers), source, infos, restart)
        if infos is None:
            worker = self._workers[source % self.count]
        else:
            worker = min(self._workers, key=lambda worker: len(worker.tasks))
        worker.tasks.add(request.task)
        try:
            worker.link.send(request)
        except OSError:
            self._raise_ended(worker)
        except BaseException:  # Ctrl-C in the middle of a message: the next one could not be read
            self.close()
            raise
        return request.task

    def drop(self, task: int) -> None:
        """Declare that the result of a request is not needed."""
        if task not in self._results:
            self._dropped.add(task)
        self._results.pop(task, None)

    def result(self, task: int, name: str) -> list[object]:
        """Wait for a result. Raises StopIteration if the source did, and EngineError for other exceptions.

        Args:
            task: The number of the request.
            name: The name of the source, for messages.
        """
        while task not in self._results:
            busy = {worker.link: worker for worker in self._workers if worker.tasks}
            if not busy:
                raise EngineError(f"external_source {name!r}: the worker processes ended before they made the batch")
            for link in wait(list(busy)):
                self._receive(busy[link])  # type: ignore[index]
        result = self._results.pop(task)
        if isinstance(result, Stopped):
            raise StopIteration
        if isinstance(result, Failure):
            last = result.traceback.strip().rsplit("\n", 1)[-1]
            raise EngineError(f"external_source {name!r}: {last}\n\nIn a worker process:\n{result.traceback}")
        return result

    def _receive(self, worker: _Worker) -> None:
        try:
            task, result = receive(worker.link)
        except (EOFError, OSError):
            self._raise_ended(worker)
        except BaseException:
            self.close()
            raise
        worker.tasks.discard(task)
        if task in self._dropped:
            self._dropped.discard(task)
        else:
            self._results[task] = result

    def _raise_ended(self, worker: _Worker) -> NoReturn:
        worker.process.join(_PATIENCE)
        code, pid = worker.process.exitcode, worker.process.pid
        self.close()
        raise EngineError(
            f"external_source: worker process {pid} ended with exit code {code}; with py_start_method='spawn', the "
            "program must be importable: start it below `if __name__ == '__main__':`"
        ) from None

    def close(self) -> None:
        """End the processes and wait for them. Later requests start new ones."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.link.close()
        if self._process != os.getpid():
            return
        for worker in workers:
            worker.process.join(_PATIENCE)
            if worker.process.is_alive():
                worker.process.terminate()
                worker.process.join()


def _close_links(links: list[Connection], process: int) -> None:
    if process == os.getpid():
        for link in links:
            link.close()


@contextmanager
def _no_interrupts() -> Iterator[None]:
    """Block Ctrl-C: a child inherits the mask, and keeps it until it ignores the signal."""
    if not _HAS_MASKS:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _explained(error: Exception, method: str) -> Exception:
    if isinstance(error, AssertionError):
        return EngineError(
            f"external_source: {error}; inside a worker process, such as one of PyTorch's DataLoader, use a source "
            "without parallel=True"
        )
    return ArgumentError(
        f"external_source: the source cannot be passed to processes started with {method!r}: {error}; define it at the "
        "top level of a module, or use py_start_method='fork'"
    )
