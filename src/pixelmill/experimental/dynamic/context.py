"""Settings of operators that run immediately: threads, and what belongs to GPUs in DALI."""

from __future__ import annotations

from contextvars import ContextVar
from functools import cached_property
from typing import NoReturn, Self

from pixelmill.errors import ArgumentError, EngineError
from pixelmill.experimental.dynamic.checkpoint import Checkpoint
from pixelmill.experimental.dynamic.modes import default_num_threads, threads_of_context

_active: ContextVar[tuple[EvalContext, ...]] = ContextVar("contexts", default=())


class ThreadPool:
    """The threads of an `EvalContext`.

    Args:
        num_threads: How many samples of a batch are processed in parallel; the number of processors by default.
        device_id: Accepted for compatibility.
    """

    def __init__(self, num_threads: int | None = None, *, device_id: int | None = None) -> None:
        if num_threads is not None and num_threads < 1:
            raise ArgumentError(f"ThreadPool: num_threads must be at least 1, got {num_threads}")
        self.num_threads = num_threads or default_num_threads()
        self.device_id = device_id


class EvalContext:
    """Settings for the operators called in its `with` block.

    Args:
        num_threads: How many samples of a batch are processed in parallel.
        device_id: Accepted for compatibility; values are in main memory.
        cuda_stream: Must be None.
        thread_pool: Threads to use, in place of `num_threads`.
    """

    def __init__(
        self,
        *,
        num_threads: int | None = None,
        device_id: int | None = None,
        cuda_stream: object = None,
        thread_pool: ThreadPool | None = None,
    ) -> None:
        if cuda_stream is not None:
            no_streams()
        if thread_pool is not None and num_threads is not None:
            raise ArgumentError("EvalContext: pass either num_threads or thread_pool")
        self.thread_pool = thread_pool or ThreadPool(num_threads)
        self.device_id = device_id
        self.cuda_stream = None
        self._before: list[int | None] = []

    @property
    def num_threads(self) -> int:
        """How many samples of a batch are processed in parallel."""
        return self.thread_pool.num_threads

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint that `checkpoint.current` returns in this context."""
        return Checkpoint()

    @staticmethod
    def current() -> EvalContext:
        """Return the context of the innermost `with` block; the default one outside of all."""
        return (_active.get() or (EvalContext.default(),))[-1]

    @staticmethod
    def default() -> EvalContext:
        """Return the context that applies outside of `with` blocks."""
        return _DEFAULT

    def evaluate_all(self) -> None:
        """Do nothing, for compatibility with DALI: values are computed immediately."""

    def __enter__(self) -> Self:
        _active.set((*_active.get(), self))
        self._before.append(threads_of_context.get())
        threads_of_context.set(self.num_threads)
        return self

    def __exit__(self, *_: object) -> None:
        _active.set(_active.get()[:-1])
        threads_of_context.set(self._before.pop())


_DEFAULT = EvalContext()


def no_streams(*_: object, **__: object) -> NoReturn:
    """Refuse CUDA streams. `Stream`, `stream` and the functions that set streams are this function."""
    raise EngineError("CUDA streams belong to GPUs, and the dynamic mode runs on the CPU")


def get_current_stream() -> None:
    """Return None: there is no CUDA stream on the CPU."""


def get_default_stream(device_id: int | None = None) -> None:
    """Return None: there is no CUDA stream on the CPU."""
