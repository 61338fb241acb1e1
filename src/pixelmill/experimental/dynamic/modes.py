"""How operators that are called at once are worked out: with how many threads, and when."""

from __future__ import annotations

import enum
import os
from typing import Self

from pixelmill.errors import ArgumentError

_threads: int | None = None


class EvalMode(enum.Enum):
    """When results are worked out. Here they always are at once; programs that choose a mode run all the same."""

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def set_num_threads(num_threads: int | None) -> None:
    """Say how many samples of a batch are worked on at a time; as many as there are processors when None."""
    global _threads
    if num_threads is not None and num_threads < 1:
        raise ArgumentError(f"set_num_threads: num_threads must be at least 1, got {num_threads}")
    _threads = num_threads


def get_num_threads() -> int:
    """Give how many samples of a batch are worked on at a time."""
    return _threads or os.cpu_count() or 1
