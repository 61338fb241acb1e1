"""The base class of all framework iterators: one batch from each pipeline, epoch after epoch."""

from __future__ import annotations

import json
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn, Self

import numpy as np
import numpy.typing as npt

from pixelmill.errors import (
    ArgumentError,
    DataError,
    EngineError,
    IndexOutOfRangeError,
    IteratorArgumentError,
    UnknownNameError,
)
from pixelmill.log import log
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.pipeline_check import check_pipeline
from pixelmill.pipeline.sampling import LastBatchPolicy
from pixelmill.plugin.epochs import Epochs, make_epochs
from pixelmill.plugin.resized_epochs import ResizedEpochs
from pixelmill.tensors import TensorListCPU

# A batch as its framework represents it. Subclasses return different types: dicts, or lists of dicts.
FrameworkBatch = Any
FrameworkTensor = Any


class BaseIterator(ABC):
    """Common base of the iterators of all frameworks; `pixelmill.plugin.pytorch` documents the arguments."""

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        output_map: Sequence[str],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
        *,
        exact: bool = False,
    ) -> None:
        if isinstance(pipelines, (str, os.PathLike)) or callable(pipelines):  # not several pipelines, but a mistake
            check_pipeline(type(self).__name__, pipelines)
        self._pipes = [pipelines] if isinstance(pipelines, Pipeline) else list(pipelines)
        for pipe in self._pipes:
            check_pipeline(type(self).__name__, pipe)
        self.output_map = list(output_map)
        if auto_reset not in (False, None, "no", True, "yes"):
            raise ArgumentError(f"auto_reset must be True, False, 'yes' or 'no', got {auto_reset!r}")
        self._auto_reset = auto_reset in (True, "yes")
        policy = _policy(last_batch_policy, fill_last_batch)
        _check(self._pipes, self.output_map)
        self.batch_size: int = self._pipes[0].max_batch_size
        self._reader_name, self._padded = reader_name, last_batch_padded
        self._epochs: Epochs = make_epochs(self._pipes, int(size), reader_name, last_batch_padded, policy, exact=exact)
        self._ready: list[tuple[TensorListCPU, ...]] = []
        self._before: list[dict[str, object]] = []
        self._stopped = False
        self._consumed = False
        self._first: FrameworkBatch | DataError | None = None
        restored = self._restore()
        self._initial = self._states()
        if prepare_first_batch:
            self._prepare(restored)

    def _restore(self) -> bool:
        restored = [pipe for pipe in self._pipes if pipe.is_restored_from_checkpoint]
        if not restored:
            return False
        if len(restored) < len(self._pipes):
            log.warning("pixelmill: only some of the pipelines have a checkpoint, so they are at different positions")
        self._epochs.load(restored[0]._iterator_state)
        for pipe in restored:
            pipe._iterator_state = {}
        return True

    def _prepare(self, restored: bool) -> None:
        """Make the first batch now. Not with `__next__`: a subclass may override it to return something else."""
        try:
            self._first = self._fetch()
        except DataError as error:  # raised by the first `next`, after which the caller can continue
            self._first = error
        except StopIteration:
            if not restored:  # at the end of an epoch
                raise EngineError("there is no data for a batch; is an epoch shorter than batch_size?") from None

    @abstractmethod
    def _tensor(self, number: int, output: TensorListCPU, size: int) -> FrameworkTensor:
        """Convert the first samples of an output to the type of the framework.

        Args:
            number: The number of the output.
            output: All samples.
            size: How many of them to convert.
        """

    def __next__(self) -> FrameworkBatch:
        self._consumed = True
        first, self._first = self._first, None
        if isinstance(first, DataError):
            raise first
        return self._fetch() if first is None else first

    def next(self) -> FrameworkBatch:
        """Return the next batch."""
        return next(self)

    def _fetch(self) -> FrameworkBatch:
        if self._epochs.over:
            self._end()
        outputs = self._run()
        sizes = self._epochs.advance([len(batch[0]) for batch in outputs])
        return [
            {name: self._tensor(number, batch[number], size) for number, name in enumerate(self.output_map)}
            for batch, size in zip(outputs, sizes, strict=True)
            if size > 0
        ]

    def _run(self) -> list[tuple[TensorListCPU, ...]]:
        """Run every pipeline once. If one fails, the outputs of those before it are kept for the next attempt."""
        if len(self._pipes) > 1 and not self._ready:
            self._before = self._states()
        try:
            for pipe in self._pipes[len(self._ready) :]:
                self._ready.append(pipe.run())
        except StopIteration:
            self._ready, self._stopped = [], True
            self._end()
        outputs, self._ready = self._ready, []
        return outputs

    def _end(self) -> NoReturn:
        if self._auto_reset:
            self.reset()
        raise StopIteration

    def __iter__(self) -> Self:
        if self._consumed or self._epochs.over:
            self.reset()
        return self

    def reset(self) -> None:
        """Start the next epoch. In the middle of an epoch this only logs a warning."""
        if self._first is not None:
            return
        if not self._epochs.over and not self._stopped:
            if self._epochs.step and self._epochs.length:
                log.warning("pixelmill: an iterator can only be reset at the end of an epoch; it continues where it is")
            return
        if self._epochs.reset():
            self._discard_batch()
        for pipe in self._pipes:
            pipe.reset()
        self._stopped = False

    def _discard_batch(self) -> None:
        for pipe in self._pipes:
            with suppress(StopIteration):
                try:
                    pipe.run()
                except DataError:  # of samples that are discarded anyway
                    pipe.run()

    def checkpoints(self) -> list[bytes]:
        """Return a checkpoint for each pipeline.

        An iterator over new pipelines, each built with its `checkpoint=`, continues here.
        """
        states = self._initial if self._first is not None else self._before if self._ready else self._states()
        return [json.dumps(state).encode() for state in states]

    def _states(self) -> list[dict[str, object]]:
        return [{**pipe.state_dict(), "iterator": self._epochs.state()} for pipe in self._pipes]

    @property
    def size(self) -> int:
        """Samples of an epoch on one rank, as DALI counts them; -1 if unknown."""
        return self._epochs.size

    # Programs written for DALI read the following private names, and set `_size` to shorten or lengthen epochs.

    @property
    def _size(self) -> int:
        return self._epochs.size

    @_size.setter
    def _size(self, size: int) -> None:
        self._epochs = ResizedEpochs(self._epochs, int(size), len(self._pipes) if self._reader_name is None else 1)

    @property
    def _counter(self) -> int:
        return self._epochs.counter

    @property
    def _num_gpus(self) -> int:
        return len(self._pipes)

    @property
    def _last_batch_policy(self) -> LastBatchPolicy:
        return self._epochs.policy

    @property
    def _shards_num(self) -> int:
        return int(self._reader_meta()["number_of_shards"])

    @property
    def _size_no_pad(self) -> int:
        return int(self._reader_meta()["epoch_size"])

    @property
    def _last_batch_padded(self) -> bool:
        return self._padded if self._reader_name is None else bool(self._reader_meta()["pad_last_batch"])

    @property
    def _shard_sizes_per_gpu(self) -> npt.NDArray[np.int64]:
        bounds = np.arange(self._shards_num + 1, dtype=np.int64) * self._size_no_pad // self._shards_num
        return np.diff(bounds)

    def _reader_meta(self) -> dict[str, int]:
        if self._reader_name is None:
            raise AttributeError("only an iterator with a reader_name knows about shards")
        meta: dict[str, int] = self._pipes[0].reader_meta(self._reader_name)
        return meta

    def __len__(self) -> int:
        """Return the number of batches of the epoch; 0 if unknown."""
        return self._epochs.length


def _policy(policy: LastBatchPolicy, fill_last_batch: bool | None) -> LastBatchPolicy:
    if fill_last_batch is not None:
        message = "fill_last_batch is deprecated; use last_batch_policy=LastBatchPolicy.FILL or PARTIAL"
        warnings.warn(message, DeprecationWarning, stacklevel=4)
        return LastBatchPolicy.FILL if fill_last_batch else LastBatchPolicy.PARTIAL
    if not isinstance(policy, LastBatchPolicy):
        raise ArgumentError(f"last_batch_policy must be one of {', '.join(map(str, LastBatchPolicy))}, got {policy!r}")
    return policy


def _check(pipes: list[Pipeline], names: list[str]) -> None:
    if not pipes:
        raise IndexOutOfRangeError("an iterator needs at least one pipeline")
    if len({pipe.max_batch_size for pipe in pipes}) > 1:
        raise ArgumentError(f"all pipelines need the same batch_size, got {[pipe.max_batch_size for pipe in pipes]}")
    if len(set(names)) < len(names):
        raise IteratorArgumentError(f"output_map: the names must be unique, got {names}")
    for pipe in pipes:
        if pipe.num_outputs != len(names):
            raise UnknownNameError(
                f"output_map has {len(names)} names, but the pipeline has {pipe.num_outputs} outputs"
            )


_DaliBaseIterator = BaseIterator

__all__ = ["BaseIterator", "LastBatchPolicy"]
