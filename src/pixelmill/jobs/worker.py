"""A worker process: reads a job and then numbers of shards, one a line, and answers in lines of JSON."""

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
from pixelmill.jobs.commit import ShardMaker
from pixelmill.jobs.manifest import event_entry

_TELL_SECONDS = 0.2


def main() -> None:
    """Work until the parent has nothing more to do or has gone."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not mix with the answers
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, lines), daemon=True).start()
    try:
        maker = ShardMaker.rebuild(json.loads(lines.get()))
        gc.freeze()
        gc.enable()
        while True:
            teller = _Teller(answers)
            entry = maker.make(int(lines.get()), on_samples=teller.advance)
            teller.tell()
            _answer(answers, {"done": entry})
    except BaseException as error:
        _answer(answers, {"failed": _failure(error)})
        os._exit(1)


class _Teller:
    """Reports progress, but not too often."""

    def __init__(self, answers: IO[bytes]) -> None:
        self._answers = answers
        self._samples = self._bytes = 0
        self._told = time.monotonic()

    def advance(self, samples: int, size: int) -> None:
        self._samples += samples
        self._bytes += size
        if time.monotonic() - self._told > _TELL_SECONDS:
            self.tell()

    def tell(self) -> None:
        if self._samples or self._bytes:
            _answer(self._answers, {"samples": self._samples, "bytes": self._bytes})
        self._samples = self._bytes = 0
        self._told = time.monotonic()


def _listen(pipe: IO[bytes], lines: queue.SimpleQueue[bytes]) -> None:
    for line in pipe:
        lines.put(line)
    os._exit(0)  # the parent has ended; nothing unfinished of ours has a name yet


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
