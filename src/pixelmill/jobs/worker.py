"""A worker process: reads a job and then shard numbers, one per line, and answers in lines of JSON."""

from __future__ import annotations

import gc
import json
import os
import queue
import sys
import threading
import time
from typing import IO, Any

from pixelmill.errors import DataError
from pixelmill.jobs.commit import ShardTask
from pixelmill.jobs.manifest import event_entry

_REPORT_SECONDS = 0.2


def main() -> None:
    """Make shards until the parent has no more, or has ended."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keeps the output of libraries out of the answers
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, lines), daemon=True).start()
    try:
        task = ShardTask.rebuild(json.loads(lines.get()))
        gc.freeze()
        gc.enable()
        while True:
            reporter = _Reporter(answers)
            entry = task.make(int(lines.get()), on_samples=reporter.advance)
            reporter.report()
            _answer(answers, {"done": entry})
    except BaseException as error:
        _answer(answers, {"failed": _failure(error)})
        os._exit(1)


class _Reporter:
    """Reports progress at most every 0.2 seconds."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers
        self._samples = self._bytes = 0
        self._reported = time.monotonic()

    def advance(self, samples: int, size: int) -> None:
        self._samples += samples
        self._bytes += size
        if time.monotonic() - self._reported > _REPORT_SECONDS:
            self.report()

    def report(self) -> None:
        if self._samples or self._bytes:
            _answer(self._answers, {"samples": self._samples, "bytes": self._bytes})
        self._samples = self._bytes = 0
        self._reported = time.monotonic()


def _listen(pipe: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    for line in pipe:
        lines.put(line)
    os._exit(0)  # the parent has ended; what is unfinished here is not committed


def _answer(answers: IO[bytes], message: dict[str, Any]) -> None:
    try:
        answers.write(json.dumps(message).encode() + b"\n")
        answers.flush()
    except BrokenPipeError:
        os._exit(1)


def _failure(error: BaseException) -> dict[str, Any]:
    import traceback

    return {
        "kind": type(error).__name__,
        "message": str(error),
        "events": [event_entry(event) for event in error.events] if isinstance(error, DataError) else [],
        "traceback": "".join(traceback.format_exception(error)),
    }
