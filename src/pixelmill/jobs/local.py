"""Make shards on this machine: in this process, or in worker processes that exchange JSON over pipes.

Workers are started as separate programs, not forked: a script needs no ``if __name__ == "__main__"``, and they inherit
no state of this process such as threads and locks.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from pixelmill import errors
from pixelmill.errors import DataError, EngineError, PixelmillError
from pixelmill.jobs.background_commits import BackgroundCommits
from pixelmill.jobs.commit import ShardTask, Site
from pixelmill.jobs.job import load_job
from pixelmill.jobs.manifest import Entry, load_event
from pixelmill.jobs.progress import OnSamples
from pixelmill.storage import system

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_FOLLOWING = 64  # shards that are known ahead; how much of them is fetched ahead is a matter of bytes
_LISTEN_SECONDS = 1.0  # Ctrl-C does not interrupt waiting on Windows
# Imports create many objects that stay alive; collecting garbage among them would take a tenth of the import time.
_PROGRAM = "import gc; gc.disable(); from pixelmill.jobs.worker import main; main()"


@dataclass(frozen=True)
class LocalRunner:
    """Makes shards in a number of processes; with one, in this process.

    Attributes:
        workers: The number of processes.
        gpus: Values of CUDA_VISIBLE_DEVICES, assigned to the processes in turn; if empty, they inherit ours.
    """

    workers: int
    gpus: tuple[str, ...] = ()

    def __call__(self, task: ShardTask, numbers: list[int], *, on_samples: OnSamples) -> Generator[Entry, None, None]:
        workers = min(self.workers, len(numbers))
        if workers <= 1:
            with BackgroundCommits(task) as commits:
                for place, number in enumerate(numbers):
                    following = numbers[place + 1 : place + 1 + _FOLLOWING]
                    yield from commits.add(task.write(number, on_samples=on_samples, following=following))
                yield from commits.rest()
            return
        description = task.describe()
        load_job(description["job"])  # fails here, with a clear message, if workers could not import it
        shown = [self.gpus[number % len(self.gpus)] if self.gpus else None for number in range(workers)]
        with _Crew(json.dumps(description).encode(), shown, task) as crew:
            yield from crew.make(deque(numbers), on_samples)


@dataclass
class _Worker:
    """A worker process.

    Attributes:
        process: The process.
        shards: The shards that it writes or commits, and the one that it will write next.
        unwritten: How many of them are not written yet.
    """

    process: subprocess.Popen[bytes]
    shards: list[int] = field(default_factory=list)
    unwritten: int = 0


class _Crew:
    """The worker processes of one run: each gets another shard when it has written one.

    While many are left, a worker knows the shard after the one that it writes, so that it can read ahead.
    """

    def __init__(self, description: bytes, shown: Sequence[str | None], task: ShardTask) -> None:
        self._task = task
        self._received: queue.SimpleQueue[tuple[_Worker, bytes]] = queue.SimpleQueue()
        self._readers: list[threading.Thread] = []
        self._workers: list[_Worker] = []
        try:
            for gpus in shown:
                self._workers.append(_Worker(_start(description, gpus, task.site)))
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> _Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def make(self, numbers: deque[int], on_samples: OnSamples) -> Iterator[Entry]:
        for worker in self._workers:
            # Threads, since pipes cannot be waited for together on Windows.
            self._readers.append(threading.Thread(target=self._read, args=(worker,), daemon=True))
            self._readers[-1].start()
            self._assign(worker, numbers)
        for worker in self._workers:
            self._assign(worker, numbers)
        while any(worker.shards for worker in self._workers):
            worker, line = self._next()
            if not line.endswith(b"\n"):
                raise self._died(worker)
            yield from self._answered(worker, json.loads(line), numbers, on_samples)

    def _answered(
        self, worker: _Worker, message: dict[str, Any], numbers: deque[int], on_samples: OnSamples
    ) -> Iterator[Entry]:
        if "written" in message:
            worker.unwritten -= 1
            self._assign(worker, numbers)
        elif "done" in message:
            worker.shards.remove(message["done"]["number"])
            yield message["done"]
        elif "failed" in message:
            raise _rebuilt(message["failed"], self._name(worker))
        else:
            on_samples(message["samples"], message["bytes"])

    def _next(self) -> tuple[_Worker, bytes]:
        while True:
            with suppress(queue.Empty):
                return self._received.get(timeout=_LISTEN_SECONDS)

    def _read(self, worker: _Worker) -> None:
        """Pass on the lines of a worker; one that is empty or not whole says that it has ended."""
        pipe = _pipe(worker.process.stdout)
        while True:
            line = pipe.readline()
            self._received.put((worker, line))
            if not line.endswith(b"\n"):
                return

    def _assign(self, worker: _Worker, numbers: deque[int]) -> None:
        most = 2 if self._task.storage.is_remote and len(numbers) >= len(self._workers) else 1
        if not numbers or worker.unwritten >= most:
            return
        worker.shards.append(numbers.popleft())
        worker.unwritten += 1
        pipe = _pipe(worker.process.stdin)
        try:
            pipe.write(b"%d\n" % worker.shards[-1])
            pipe.flush()
        except BrokenPipeError:
            raise self._died(worker) from None

    def _died(self, worker: _Worker) -> EngineError:
        status = worker.process.wait()
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        cause = " (perhaps out of memory)" if how.endswith("SIGKILL") else ""
        what = f"process {worker.process.pid} {how}{cause} while it made {self._name(worker)}"
        return EngineError(f"job: {what}; finished shards are kept, exists=resume continues")

    def _name(self, worker: _Worker) -> str:
        if not worker.shards:
            return "nothing"
        number = worker.shards[0]
        files = self._task.job.shards[number].files
        return f"shard {number}" + (f" ({files[0]})" if files else "")

    def _end(self) -> None:
        """End all workers. What they were writing is not committed yet, so they need no time to clean up."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.wait()
        for reader in self._readers:
            reader.join(_LISTEN_SECONDS)
        for worker in self._workers:
            with suppress(BrokenPipeError):
                _pipe(worker.process.stdin).close()
        if not any(reader.is_alive() for reader in self._readers):  # else a child of a worker keeps its pipe open
            for worker in self._workers:
                _pipe(worker.process.stdout).close()


def _start(description: bytes, gpus: str | None, site: Site) -> subprocess.Popen[bytes]:
    """Start a worker that sees these GPUs, or the same as this process if None."""
    # Otherwise every worker would start one thread per processor in these libraries, which wait by spinning.
    environment = {**dict.fromkeys(_THREADS, str(site.threads)), **os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path or site.folder for path in sys.path)
    if gpus is not None:
        environment["CUDA_VISIBLE_DEVICES"] = gpus
    # In a process group of its own: Ctrl-C reaches only this process, which then ends the workers.
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        cwd=site.folder or None,
        **system.OWN_GROUP,
    )
    pipe = _pipe(process.stdin)
    try:
        pipe.write(description + b"\n")
        pipe.flush()
    except BrokenPipeError:
        pass  # it has already ended; reading from it reports how
    return process


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EngineError("job: a worker has no pipe")
    return pipe


def _rebuilt(failure: dict[str, Any], shard: str) -> PixelmillError:
    """Rebuild the error that a worker met."""
    found = getattr(errors, failure["kind"], None)
    if found is DataError:
        return DataError(failure["message"], tuple(load_event(event) for event in failure["events"]))
    if isinstance(found, type) and issubclass(found, PixelmillError) and found is not errors.MissingDependency:
        return found(failure["message"])
    trace = textwrap.indent(failure["traceback"], "  ")
    return EngineError(f"job: {failure['kind']} in {shard}: {failure['message']}\n{trace}")
