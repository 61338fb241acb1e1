"""Batches as dicts of NumPy arrays, one `for` loop per epoch."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self

from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.compilation import readers_of
from pixelmill.pipeline.pipeline_check import check_pipeline
from pixelmill.pipeline.recovery import Errors
from pixelmill.pipeline.remote_program import Workers, use_workers
from pixelmill.pipeline.sampling import LastBatchPolicy, ReaderOrder, State, steps_left, steps_per_epoch
from pixelmill.tensors import TensorListCPU
from pixelmill.types import Array

Batch = dict[str, Any]  # arrays, or lists of arrays if samples differ in shape: as a union every use would need a cast


class Loader:
    """Iterates over a pipeline, one `for` loop per epoch.

    Every loop yields each sample of this rank's shard once, in batches of the pipeline's size and a smaller last one.
    All ranks take the same number of steps; if fewer samples are left than there are ranks, the ranks without one
    repeat a sample. If a loop is left early, the next one starts the next epoch. After `load_state_dict`, the first
    loop yields the rest of the epoch.

    A batch contains an array for each output, or a list of arrays if its samples differ in shape. If bad samples may be
    filled in (`on_error="fill"`, or a callable), `"valid"` tells which samples are real.

    Several threads may share a loop: each batch goes to one of them.

    A pipeline without a reader ends an epoch when its source raises StopIteration; the loader then has no length.

    Args:
        pipeline: The pipeline that returns the batches.
        names: A name for each output of the pipeline.
        drop_last: Drop the samples that do not fill a batch.
        reader_name: The reader whose epochs count if several differ in length; the first by default.
        workers: Processes that run the batches, such as `pixelmill.ray.RayWorkers`; by default threads of this one do.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        names: Sequence[str],
        *,
        drop_last: bool = False,
        reader_name: str | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.pipeline = pipeline
        self.names = list(names)
        # A callable may return "fill" as well.
        self._tells_valid = pipeline._recovery.on_error not in ("raise", "skip")
        taken = [*self.names, *(["valid"] if self._tells_valid else [])]
        if isinstance(names, str) or len(set(taken)) < len(taken):
            raise ArgumentError(f"Loader: names must be distinct strings other than 'valid', got {names!r}")
        if len(self.names) != pipeline.num_outputs:
            raise ArgumentError(f"Loader: expected {pipeline.num_outputs} names, one for each output, got {self.names}")
        if workers is not None:
            use_workers(pipeline, workers)
        self._policy = LastBatchPolicy.DROP if drop_last else LastBatchPolicy.PARTIAL
        self._order: ReaderOrder | None = None
        if pipeline.reader_meta():
            self._order = use_reader_epochs(pipeline, self._policy, reader_name, pad=True)
        self._loops = 0
        self._taking = threading.Lock()
        self._begin(ended=False)

    if not TYPE_CHECKING:  # for tools, `__init__` has the signature

        @functools.wraps(__init__)
        def __new__(cls, pipeline=None, *_, **__):
            # Before `__init__`, which fails for the options of `ImageLoader` before it can say what is wrong.
            if pipeline is not None:
                check_pipeline("Loader", pipeline)
            return super().__new__(cls)

    def _begin(self, *, ended: bool) -> None:
        """Prepare for a loop over the rest of an epoch, which may have ended already."""
        self._taken = 0
        self._ended = ended
        self._length = None if self._order is None else 0 if ended else self._left()

    def _left(self) -> int:
        assert self._order is not None
        schedule = self.pipeline._ready()
        position = schedule.delivered[schedule.main]
        return steps_left(self._order, position, self.pipeline.max_batch_size, self._policy)

    def __len__(self) -> int:
        """Return the number of batches of the current loop, or of the next one if none is running."""
        if self._length is None:
            raise TypeError("the loader has no length: its pipeline has no reader")
        return self._length

    @property
    def steps_per_epoch(self) -> int | None:
        """The number of batches of a whole epoch; None if the pipeline has no reader."""
        if self._order is None:
            return None
        return steps_per_epoch(self._order, self.pipeline.max_batch_size, self._policy)

    def __iter__(self) -> Iterator[Batch]:
        """Start an epoch, or continue it after `load_state_dict`."""
        if self._taken and not self._ended:
            self.pipeline._ready().skip_epoch()
        if self._taken:
            self._begin(ended=False)
        self._loops += 1
        return _Loop(self, self._loops)

    def set_epoch(self, epoch: int) -> None:
        """Make the next loop yield the epoch of this number, counted from 0.

        If `load_state_dict` has put the loader into the middle of that epoch, the loop yields the rest of it.
        """
        schedule = self.pipeline._ready()
        if self._taken or schedule.epoch - int(self._ended) != epoch:
            schedule.go_to_epoch(epoch)
            self._loops += 1
            self._begin(ended=False)

    def _next(self) -> Batch:
        if self._ended or self._length == 0:
            self._finish()
        try:
            outputs = self.pipeline.run()
        except StopIteration:
            self.pipeline.reset()
            self._begin(ended=False)
            raise
        self._taken += 1
        self._ended = self.pipeline._ready().ends_epoch
        batch = {name: _array(output) for name, output in zip(self.names, outputs, strict=True)}
        if self._tells_valid:
            batch["valid"] = self.pipeline.valid
        return batch

    def _finish(self) -> NoReturn:
        self._begin(ended=False)
        if self._length == 0:  # the rest of the epoch, after loading a state, does not fill a batch
            self.pipeline._ready().skip_epoch()
            self._begin(ended=False)
        raise StopIteration

    @property
    def errors(self) -> Errors:
        """What happened to samples so far."""
        return self.pipeline.errors

    def close(self) -> None:
        """Stop the threads of the pipeline and wait for them. The end of a `with` block does the same."""
        self.pipeline.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def state_dict(self) -> State:
        """Return the state after the last batch, as JSON data under 1 KB for each reader."""
        return {"version": 1, "ended": self._ended, "pipeline": self.pipeline.state_dict()}

    def load_state_dict(self, state: State) -> None:
        """Continue after the batch that `state_dict` was called after; the next loop yields the rest of its epoch.

        Batch size, number of threads and number of shards may differ from before; every rank loads the same state. If
        the state was saved after the last batch of an epoch, inside of its loop, the rest is empty.
        """
        if not isinstance(state, Mapping) or state.get("version") != 1 or "pipeline" not in state:
            raise ArgumentError(f"Loader: expected a state of version 1, got {str(state)[:80]}")
        self.pipeline.load_state_dict(state["pipeline"])
        if self._order is not None:
            schedule = self.pipeline._ready()
            self._order = schedule.orders[schedule.main]  # without a given seed, the state replaces it
        self._loops += 1
        self._begin(ended=bool(state.get("ended")))


class _Loop:
    """One loop over a loader."""

    def __init__(self, loader: Loader, number: int) -> None:
        self._loader = loader
        self._number = number
        self._done = False

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        with self._loader._taking:
            return self._next()

    def _next(self) -> Batch:
        if self._done:
            raise StopIteration
        if self._number != self._loader._loops:
            raise EngineError(
                "this loop has ended: another loop over the loader was started, or a state was loaded, in the meantime"
            )
        try:
            return self._loader._next()
        except StopIteration:
            self._done = True
            raise


def _array(batch: TensorListCPU) -> Array | list[Array]:
    output = batch.as_cpu()
    return output.as_array() if output.is_dense_tensor() else [output.at(place) for place in range(len(output))]


def use_reader_epochs(
    pipe: Pipeline, policy: LastBatchPolicy, reader_name: str | None = None, *, pad: bool = False
) -> ReaderOrder:
    """Align the batches of a pipeline with the epochs of one reader, from the next batch on; return its order.

    Args:
        pipe: The pipeline.
        policy: What to do with the last batch of an epoch.
        reader_name: The reader; the first by default.
        pad: Treat all readers as if they had `pad_last_batch`, so that no batch extends into the next epoch.
    """
    schedule = pipe._ready()
    main = 0 if reader_name is None else schedule.plan.readers.index(pipe._named(readers_of(pipe._nodes), reader_name))
    return schedule.use_epochs_of(main, policy, pad=pad)
