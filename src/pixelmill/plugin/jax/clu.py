"""Iterators that can peek at the next batch, like `clu.data.PeekableDatasetIterator`."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Any, Self

import jax
import numpy as np

from pixelmill.engine.worker_thread import WorkerThread
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline.sampling import Batch as OrderedBatch
from pixelmill.plugin.base_iterator import LastBatchPolicy
from pixelmill.plugin.jax.arrays import sharded
from pixelmill.plugin.jax.iterator import DALIGenericIterator, GraphFunction, IteratorFactory, make_decorator
from pixelmill.tensors import Array

Batch = dict[str, jax.Array]


class DALIGenericPeekableIterator(DALIGenericIterator):
    """A `DALIGenericIterator` that can peek at its next batch. Shapes and types must not change.

    Args:
        args: The arguments of `DALIGenericIterator`.
        options: The keyword arguments of `DALIGenericIterator`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self._lock = Lock()
        self._peeked: Batch | None = None
        self._peeker = WorkerThread("pixelmill-peek")
        self._spec: dict[str, jax.ShapeDtypeStruct] | None = None
        super().__init__(*args, **options)

    def __next__(self) -> Batch:
        with self._lock:
            batch, self._peeked = self._next_or_peeked(), None
            return batch

    def _next_or_peeked(self) -> Batch:
        if self._peeked is not None:
            return self._peeked
        batch = super().__next__()
        spec = {name: jax.ShapeDtypeStruct(array.shape, array.dtype) for name, array in batch.items()}
        self._spec = self._spec or spec
        for name, known in self._spec.items():
            if spec[name] != known:
                raise ArgumentError(f"output {name!r}: shape or type changed from {known} to {spec[name]}")
        return batch

    def __iter__(self) -> Self:
        return self if self._peeked is not None else super().__iter__()

    def peek(self) -> Batch:
        """Return the next batch without consuming it."""
        with self._lock:
            self._peeked = self._next_or_peeked()
            return self._peeked

    def peek_async(self) -> Future[Batch]:
        """Start `peek` in another thread; wait for it before the next `peek` or `next`."""
        return self._peeker.submit(self.peek)

    def checkpoints(self) -> list[bytes]:
        """Return a checkpoint for each pipeline.

        Raises:
            EngineError: A batch was peeked at and not consumed yet.
        """
        if self._peeked is not None:
            raise EngineError("checkpoints: a batch was peeked at and not consumed; call next first")
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
        """Whether each sample of the last batch belongs to the epoch of its first one and is not padding."""
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
    pipeline_fn: GraphFunction | None = None, output_map: Sequence[str] = (), **options: Any
) -> IteratorFactory:
    """Turn a function that defines a graph into one that makes peekable iterators, as `data_iterator` does.

    Args:
        pipeline_fn: The function that defines the graph.
        output_map: A name for each output.
        options: As for `data_iterator`.
    """
    return make_decorator(DALIGenericPeekableIterator, pipeline_fn, output_map, options)


__all__ = ["DALIGenericPeekableIterator", "peekable_data_iterator"]
