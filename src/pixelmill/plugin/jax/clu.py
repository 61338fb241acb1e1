"""Iterators that let the next batch be seen before it is taken, as `clu.data.PeekableDatasetIterator` does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any

import jax
import numpy as np

from pixelmill.engine.worker_thread import WorkerThread
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline.sampling import Batch as OrderedBatch
from pixelmill.plugin.base_iterator import LastBatchPolicy
from pixelmill.plugin.jax.arrays import sharded
from pixelmill.plugin.jax.iterator import DALIGenericIterator, make_decorator
from pixelmill.tensors import Array

Batch = dict[str, jax.Array]


class DALIGenericPeekableIterator(DALIGenericIterator):
    """A `DALIGenericIterator`, with the same arguments, whose next batch can be seen. Shapes and types must not change.

    Args:
        args: Those of `DALIGenericIterator`.
        options: Those of `DALIGenericIterator`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self._lock = Lock()
        self._seen: Batch | None = None
        self._peeker = WorkerThread("pixelmill-peek")
        self._spec: dict[str, jax.ShapeDtypeStruct] | None = None
        super().__init__(*args, **options)

    def __next__(self) -> Batch:
        with self._lock:
            batch, self._seen = self._next_or_seen(), None
            return batch

    def _next_or_seen(self) -> Batch:
        if self._seen is not None:
            return self._seen
        batch = super().__next__()
        spec = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in batch.items()}
        self._spec = self._spec or spec
        for name, known in self._spec.items():
            if spec[name] != known:
                raise ArgumentError(f"output {name!r}: shape or type changed from {known} to {spec[name]}")
        return batch

    def __iter__(self) -> Any:
        return self if self._seen is not None else super().__iter__()

    def peek(self) -> Batch:
        """Give the next batch, which stays the next one."""
        with self._lock:
            self._seen = self._next_or_seen()
            return self._seen

    def peek_async(self) -> Future[Batch]:
        """Begin `peek` in another thread; wait for it before the next `peek` or `next`."""
        return self._peeker.submit(self.peek)

    def checkpoints(self) -> list[bytes]:
        """Give a checkpoint for each pipeline, unless a batch was seen that nobody took."""
        if self._seen is not None:
            raise EngineError("checkpoints: a batch was seen by peek and not taken; take it by next before")
        return super().checkpoints()

    @property
    def element_spec(self) -> dict[str, jax.ShapeDtypeStruct]:
        """Shape and type of each array."""
        if self._spec is None:
            self.peek()
        assert self._spec is not None
        return self._spec

    @property
    def is_nonpadding(self) -> jax.Array | Array:
        """Which samples of the last batch belong to the epoch of its first one, and are not copies that fill it."""
        drops = self._epochs.policy is LastBatchPolicy.DROP
        last = [None if drops else pipe._ready().last for pipe in self._pipes]
        real = [_real(batch, self.batch_size) for batch in last]
        return np.concatenate(real) if self._sharding is None else sharded(real, self._sharding)


def _real(batch: OrderedBatch | None, batch_size: int) -> Array:
    if batch is None:
        return np.ones(batch_size, bool)
    real: Array = (batch.epochs == batch.epochs[0]) & ~batch.is_padding
    return real


def peekable_data_iterator(
    pipeline_fn: Callable[..., Any] | None = None, output_map: Sequence[str] = (), **options: Any
) -> Any:
    """Turn a function that builds a graph into one that makes peekable iterators over it, as `data_iterator` does.

    Args:
        pipeline_fn: The function.
        output_map: A name for each output.
        options: As for `data_iterator`.
    """
    return make_decorator(DALIGenericPeekableIterator, pipeline_fn, output_map, options)


__all__ = ["DALIGenericPeekableIterator", "peekable_data_iterator"]
