"""A thread of an engine, for work in Python."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Result = TypeVar("Result")


class OwnThread:
    """A thread that takes calls in turn."""

    def __init__(self, name: str) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._ident: list[int] = []  # that the thread holds, since with a method it would keep its owner, and so itself
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name, initializer=_note, initargs=(self._ident,))

    def submit(self, call: Callable[..., Result], *arguments: Any) -> Future[Result]:
        """Have a function called."""
        return self._executor.submit(call, *arguments)

    def close(self, *, among: tuple[OwnThread, ...] = ()) -> None:
        """Drop the calls that have not begun, and wait for the end of the one that has.

        Garbage may be collected by any thread, so one of these may be closing itself; then nobody can wait.

        Args:
            among: All threads that wait for each other's calls.
        """
        inside = any(threading.get_ident() in thread._ident for thread in (self, *among))
        self._executor.shutdown(wait=not inside, cancel_futures=True)


def _note(ident: list[int]) -> None:
    ident.append(threading.get_ident())
