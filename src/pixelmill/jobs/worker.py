"""A worker process: reads a job and then shard numbers, one per line, and answers in lines of JSON."""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
from concurrent.futures import Future
from typing import IO, Any, NoReturn

from pixelmill.errors import DataError
from pixelmill.jobs.background_commits import BackgroundCommits
from pixelmill.jobs.commit import ShardTask
from pixelmill.jobs.manifest import Entry, event_entry


def main() -> None:
    """Make shards until the parent has no more, or has ended."""
    answers = _Answers()
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, lines), daemon=True).start()
    try:
        task = ShardTask.rebuild(json.loads(lines.get()))
        gc.freeze()
        gc.enable()
        with BackgroundCommits(task) as commits:
            _make(task, commits, lines, answers)
    except BaseException as error:
        answers.fail(error)


def _make(task: ShardTask, commits: BackgroundCommits, lines: queue.SimpleQueue[bytes], answers: _Answers) -> None:
    known: list[int] = []

    def committed(future: Future[Entry]) -> None:
        error = future.exception()
        if error is not None:
            answers.fail(error)
        answers.send({"done": future.result()})

    while True:
        while not (known and lines.empty()):
            known.append(int(lines.get()))
        shard = task.write(known.pop(0), on_samples=answers.progress, following=known[:1])
        answers.send({"written": shard.number})
        for _ in commits.add(shard, done=committed):
            pass


class _Answers:
    """Sends lines of JSON to the parent, from any thread."""

    def __init__(self) -> None:
        self._pipe = os.fdopen(os.dup(1), "wb")
        self._lock = threading.Lock()
        os.dup2(2, 1)  # keeps the output of libraries out of the answers

    def send(self, message: dict[str, Any]) -> None:
        with self._lock:
            try:
                self._pipe.write(json.dumps(message).encode() + b"\n")
                self._pipe.flush()
            except BrokenPipeError:
                os._exit(1)

    def progress(self, samples: int, size: int) -> None:
        """Report what was written since the last report."""
        self.send({"samples": samples, "bytes": size})

    def fail(self, error: BaseException) -> NoReturn:
        """Report an error and end the process; what is unfinished here is not committed."""
        self.send({"failed": _failure(error)})
        os._exit(1)


def _listen(pipe: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    for line in pipe:
        lines.put(line)
    os._exit(0)  # the parent has ended; what is unfinished here is not committed


def _failure(error: BaseException) -> dict[str, Any]:
    import traceback

    return {
        "kind": type(error).__name__,
        "message": str(error),
        "events": [event_entry(event) for event in error.events] if isinstance(error, DataError) else [],
        "traceback": "".join(traceback.format_exception(error)),
    }
