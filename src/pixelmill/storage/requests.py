"""Requests that are repeated after transient errors, and sent a second time if an answer takes suspiciously long.

A request is a few callbacks of the event loop and one timer: at thousands of small files per second, tasks would cost
more processor time than the transfer.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from pixelmill.storage.clients import Answer, Client
from pixelmill.storage.failures import TransientError
from pixelmill.storage.pacing import Pace

Done = Callable[[memoryview | OSError], None]


@dataclass(frozen=True)
class Patience:
    """How long to try.

    Attributes:
        deadline: Seconds after which a range that cannot be read is given up.
        attempt: Seconds after which a request without an answer is given up and repeated.
        first_pause: Seconds before the first repetition; each further pause is twice as long.
        longest_pause: The longest pause.
    """

    deadline: float = 60.0
    attempt: float = 15.0
    first_pause: float = 0.1
    longest_pause: float = 2.0


class Request:
    """Reads one range. Everything runs on the event loop that creates it.

    Args:
        client: Reads.
        pace: Learns how long requests take, and says when one is slow.
        patience: How long to try.
        path: The address of the file.
        offset: The first byte.
        length: The number of bytes; negative for all.
        size: The size of the whole file if all of it is read and the size is known, else 0.
        done: Called once with the bytes, or with the error after which no repetition helps.
    """

    def __init__(
        self,
        client: Client,
        pace: Pace,
        patience: Patience,
        *,
        path: str,
        offset: int,
        length: int,
        size: int,
        done: Done,
    ) -> None:
        self._client, self._pace, self._patience = client, pace, patience
        self._path, self._offset, self._length, self._size = path, offset, length, size
        self._done: Done | None = done
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + patience.deadline
        self._pause = patience.first_pause
        self._tries = 0
        self._began = 0.0
        self._may_hedge = True
        self._running: list[Answer] = []
        self._timer: asyncio.TimerHandle | None = None
        self._attempt()

    def cancel(self) -> None:
        """Stop without calling `done`."""
        self._done = None
        self._leave()

    def _attempt(self) -> None:
        self._tries += 1
        self._began = self._loop.time()
        self._may_hedge = True
        self._pace.started()
        if self._send():
            wait = min(self._pace.patience(), self._patience.attempt)
            self._timer = self._loop.call_later(wait, self._waited)

    def _send(self) -> bool:
        try:
            answer = self._client.start(self._path, self._offset, self._length, size=self._size)
        except OSError as error:
            self._loop.call_soon(self._failed, error)  # `done` must not be called before the request is known
            return False
        self._running.append(answer)
        answer.add_done_callback(self._came)
        return True

    def _came(self, answer: Answer) -> None:
        if answer not in self._running:  # of an attempt that was given up
            if not answer.cancelled():
                answer.exception()  # else asyncio would log an error that was never looked at
            return
        self._running.remove(answer)
        if answer.cancelled():
            return
        try:
            data = self._client.result(answer, self._path, self._offset, self._length, size=self._size)
        except OSError as error:
            if not self._running:
                self._failed(error)
            return
        self._pace.finished(self._loop.time() - self._began)
        self._finish(data)

    def _waited(self) -> None:
        """Send a second request, or give the attempt up."""
        left = self._began + self._patience.attempt - self._loop.time()
        if self._may_hedge and left > 0:
            self._may_hedge = False
            if self._pace.may_hedge():
                self._send()
            self._timer = self._loop.call_later(left, self._waited)
        else:
            self._failed(TransientError(f"no answer within {self._patience.attempt:g} s", self._path))

    def _failed(self, error: OSError) -> None:
        self._leave()
        if not isinstance(error, TransientError):
            return self._finish(error)
        if error.is_throttling:
            self._pace.throttled()
        if error.is_expiry:
            self._client.reopen(self._path)
        wait = self._pause * random.uniform(0.5, 1.5)
        self._pause = min(2 * self._pause, self._patience.longest_pause)
        if self._loop.time() + wait > self._deadline:
            text = f"{error.strerror} (after {self._tries} tries in {self._patience.deadline:g} s)"
            return self._finish(OSError(error.errno, text, self._path))
        self._timer = self._loop.call_later(wait, self._attempt)
        return None

    def _finish(self, result: memoryview | OSError) -> None:
        self._leave()
        done, self._done = self._done, None
        if done is not None:
            done(result)

    def _leave(self) -> None:
        """Cancel the timer and the answers that are still to come."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        running, self._running = self._running, []
        for answer in running:
            answer.cancel()
