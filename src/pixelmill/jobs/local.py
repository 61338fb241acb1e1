"""Make shards on this machine: in this process, or in worker processes that exchange JSON over pipes.

Workers are started as separate programs, not forked: a script needs no ``if __name__ == "__main__"``, and they inherit
no state of this process such as threads and locks.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import textwrap
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, Any

from pixelmill import errors
from pixelmill.errors import DataError, EngineError, PixelmillError
from pixelmill.jobs.commit import OnSamples, ShardTask, Site
from pixelmill.jobs.job import load_job
from pixelmill.jobs.manifest import Entry, load_event

_READ = 1 << 16
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
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
            for number in numbers:
                yield task.make(number, on_samples=on_samples)
            return
        description = task.describe()
        load_job(description["job"])  # fails here, with a clear message, if workers could not import it
        shown = [self.gpus[number % len(self.gpus)] if self.gpus else None for number in range(workers)]
        with _Crew(json.dumps(description).encode(), shown, task) as crew:
            yield from crew.make(deque(numbers), on_samples)


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    shard: int | None = None
    received: bytearray = field(default_factory=bytearray)


class _Crew:
    """The worker processes of one run: each gets the next shard when it has committed one."""

    def __init__(self, description: bytes, shown: Sequence[str | None], task: ShardTask) -> None:
        self._task = task
        self._selector = selectors.DefaultSelector()
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
            self._selector.register(_pipe(worker.process.stdout), selectors.EVENT_READ, worker)
            self._assign(worker, numbers)
        while any(worker.shard is not None for worker in self._workers):
            for key, _ in self._selector.select():
                worker = key.data
                data = os.read(key.fd, _READ)
                if not data:
                    raise self._died(worker)
                worker.received += data
                *lines, rest = bytes(worker.received).split(b"\n")
                worker.received = bytearray(rest)
                for message in map(json.loads, lines):
                    if "done" in message:
                        self._assign(worker, numbers)
                        yield message["done"]
                    elif "failed" in message:
                        raise _rebuilt(message["failed"], self._name(worker.shard))
                    else:
                        on_samples(message["samples"], message["bytes"])

    def _assign(self, worker: _Worker, numbers: deque[int]) -> None:
        worker.shard = numbers.popleft() if numbers else None
        if worker.shard is not None:
            pipe = _pipe(worker.process.stdin)
            try:
                pipe.write(b"%d\n" % worker.shard)
                pipe.flush()
            except BrokenPipeError:
                raise self._died(worker) from None

    def _died(self, worker: _Worker) -> EngineError:
        status = worker.process.wait()
        how = f"was killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        cause = " (perhaps out of memory)" if status == -signal.SIGKILL else ""
        what = f"process {worker.process.pid} {how}{cause} while it made {self._name(worker.shard)}"
        return EngineError(f"job: {what}; finished shards are kept, exists=resume continues")

    def _name(self, number: int | None) -> str:
        if number is None:
            return "nothing"
        files = self._task.job.shards[number].files
        return f"shard {number}" + (f" ({files[0]})" if files else "")

    def _end(self) -> None:
        """End all workers. What they were writing is not committed yet, so they need no time to clean up."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.wait()
            for pipe in (worker.process.stdin, worker.process.stdout):
                try:
                    _pipe(pipe).close()
                except BrokenPipeError:
                    continue
        self._selector.close()


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
        process_group=0,
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
