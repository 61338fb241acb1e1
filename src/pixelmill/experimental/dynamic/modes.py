"""Settings of the dynamic mode: the number of threads, and the evaluation mode."""

from __future__ import annotations

import enum
import os
from contextvars import ContextVar
from typing import Self

from pixelmill.errors import ArgumentError

_threads: int | None = None

# Set by the `EvalContext` whose `with` block is active; it takes precedence over `set_num_threads`.
threads_of_context: ContextVar[int | None] = ContextVar("threads", default=None)


class EvalMode(enum.Enum):
    """When results are computed. Accepted for compatibility: here they are always computed immediately."""

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4

    default = eager

    def __enter__(self) -> Self:
        _modes.set((*_modes.get(), self))
        return self

    def __exit__(self, *_: object) -> None:
        _modes.set(_modes.get()[:-1])

    @staticmethod
    def current() -> EvalMode:
        """Return the mode of the innermost `with` block; `eager` outside of all."""
        return (_modes.get() or (EvalMode.default,))[-1]


_modes: ContextVar[tuple[EvalMode, ...]] = ContextVar("modes", default=())


def set_num_threads(num_threads: int | None) -> None:
    """Set the number of samples of a batch that are processed in parallel; None for the number of processors."""
    global _threads
    if num_threads is not None and num_threads < 1:
        raise ArgumentError(f"set_num_threads: num_threads must be at least 1, got {num_threads}")
    _threads = num_threads


def get_num_threads() -> int:
    """Return the number of samples of a batch that are processed in parallel."""
    return threads_of_context.get() or _threads or default_num_threads()


def default_num_threads() -> int:
    """Return the number of processors."""
    return os.cpu_count() or 1
