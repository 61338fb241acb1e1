"""Iterators over pipelines: one batch from each, epoch after epoch, for whatever framework takes them."""

from __future__ import annotations

import json
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from pixelmill.errors import ArgumentError, DataError, EngineError
from pixelmill.log import log
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.sampling import LastBatchPolicy
from pixelmill.plugin.epochs import make_epochs
from pixelmill.tensors import TensorListCPU


class BaseIterator(ABC):
    """What the iterators for all frameworks have in common; see `pixelmill.plugin.pytorch` for the arguments."""

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
    ) -> None:
        self._pipes = [pipelines] if isinstance(pipelines, Pipeline) else list(pipelines)
        self.output_map = list(output_map)
        if auto_reset not in (False, None, "no", True, "yes"):
            raise ArgumentError(f"auto_reset must be True, False, 'yes' or 'no', got {auto_reset!r}")
        self._auto_reset = auto_reset in (True, "yes")
        policy = _policy(last_batch_policy, fill_last_batch)
        _check(self._pipes, self.output_map)
        self.batch_size: int = self._pipes[0].max_batch_size
        self._epochs = make_epochs(self._pipes, int(size), reader_name, last_batch_padded, policy)
        self._ready: list[tuple[TensorListCPU, ...]] = []
        self._before: list[dict[str, Any]] = []
        self._stopped = False
        self._consumed = False
        self._first: list[dict[str, Any]] | DataError | None = None
        restored = self._restore()
        self._initial = self._states()
        if prepare_first_batch:
            self._prepare(restored)

    def _restore(self) -> bool:
        restored = [pipe for pipe in self._pipes if pipe.is_restored_from_checkpoint]
        if not restored:
            return False
        if len(restored) < len(self._pipes):
            log.warning("pixelmill: only some of the pipelines were given a checkpoint, so they are not in step")
        self._epochs.load(restored[0]._iterator_state)
        for pipe in restored:
            pipe._iterator_state = {}
        return True

    def _prepare(self, restored: bool) -> None:
        """Make the first batch now. Not by `__next__`, which a subclass may have written for what it gives itself."""
        try:
            self._first = self._fetch()
        except DataError as error:  # for the one who asks for the batch, and can go on behind it
            self._first = error
        except StopIteration:
            if not restored:  # at the end of an epoch
                raise EngineError("there is no data for a batch; is an epoch shorter than batch_size?") from None

    @abstractmethod
    def _tensor(self, number: int, output: TensorListCPU, size: int) -> Any:
        """Give the first samples of an output as the framework wants them.

        Args:
            number: Which of the outputs this is.
            output: All samples.
            size: How many of them to give.
        """

    def __next__(self) -> Any:
        self._consumed = True
        first, self._first = self._first, None
        if isinstance(first, DataError):
            raise first
        return self._fetch() if first is None else first

    def next(self) -> Any:
        """Give the next batch."""
        return next(self)

    def _fetch(self) -> list[dict[str, Any]]:
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
        """Run every pipeline once. What some gave before another one failed is kept for the next attempt."""
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

    def __iter__(self) -> Any:
        if self._consumed or self._epochs.over:
            self.reset()
        return self

    def reset(self) -> None:
        """Begin the next epoch. In the middle of an epoch this does nothing but write a line to the log."""
        if self._first is not None:
            return
        if not self._epochs.over and not self._stopped:
            if self._epochs.step and self._epochs.length:
                log.warning("pixelmill: an iterator can be reset at the end of an epoch only; it goes on where it is")
            return
        if self._epochs.reset():
            self._throw_away()
        for pipe in self._pipes:
            pipe.reset()
        self._stopped = False

    def _throw_away(self) -> None:
        for pipe in self._pipes:
            with suppress(StopIteration):
                try:
                    pipe.run()
                except DataError:  # of samples that nobody sees
                    pipe.run()

    def checkpoints(self) -> list[bytes]:
        """Give a checkpoint for each pipeline; with new pipelines made by `checkpoint=` a new iterator goes on here."""
        states = self._initial if self._first is not None else self._before if self._ready else self._states()
        return [json.dumps(state).encode() for state in states]

    def _states(self) -> list[dict[str, Any]]:
        return [{**pipe.state_dict(), "iterator": self._epochs.state()} for pipe in self._pipes]

    @property
    def size(self) -> int:
        """Samples of an epoch on one rank, as DALI counts them; -1 where nobody knows."""
        return self._epochs.size

    _size = size  # many programs for DALI read it under this name

    def __len__(self) -> int:
        """Count the batches of the epoch; 0 where nobody knows."""
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
        raise ArgumentError("an iterator needs at least one pipeline")
    if len({pipe.max_batch_size for pipe in pipes}) > 1:
        raise ArgumentError(f"all pipelines need the same batch_size, got {[pipe.max_batch_size for pipe in pipes]}")
    if len(set(names)) < len(names):
        raise ArgumentError(f"output_map: the names must be different from each other, got {names}")
    for pipe in pipes:
        if pipe.num_outputs != len(names):
            raise ArgumentError(f"output_map has {len(names)} names, but the pipeline has {pipe.num_outputs} outputs")


_DaliBaseIterator = BaseIterator

__all__ = ["BaseIterator", "LastBatchPolicy"]
