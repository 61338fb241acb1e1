"""Settings of the dynamic mode: the number of threads, and the evaluation mode."""

from __future__ import annotations

import enum
import os
from typing import Self

from pixelmill.errors import ArgumentError

_threads: int | None = None


class EvalMode(enum.Enum):
    """When results are computed. Accepted for compatibility: here they are always computed immediately."""

    deferred = 1
    eager = 2
    sync_cpu = 3
    sync_full = 4

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def set_num_threads(num_threads: int | None) -> None:
    """Set the number of samples of a batch that are processed in parallel; None for the number of processors."""
    global _threads
    if num_threads is not None and num_threads < 1:
        raise ArgumentError(f"set_num_threads: num_threads must be at least 1, got {num_threads}")
    _threads = num_threads


def get_num_threads() -> int:
    """Return the number of samples of a batch that are processed in parallel."""
    return _threads or os.cpu_count() or 1
