"""Epochs of iterators: how many batches they have, and how many samples of the last one belong to them."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator

from pixelmill.errors import ArgumentError, EngineError, IteratorArgumentError
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.loader import use_reader_epochs
from pixelmill.pipeline.sampling import LastBatchPolicy, steps_left, steps_per_epoch

EpochState = dict[str, int]

FILL, DROP, PARTIAL = LastBatchPolicy.FILL, LastBatchPolicy.DROP, LastBatchPolicy.PARTIAL


class Epochs(ABC):
    """The position of an iterator in its epoch, and how many samples of a batch belong to the epoch.

    Attributes:
        step: Batches returned since the epoch began.
        over: Whether the epoch has no more batches.
        length: Batches of this epoch; 0 if unknown.
        size: DALI's measure of an epoch, in samples; -1 if unknown.
    """

    step = 0
    over = False
    length = 0
    size = -1

    def __init__(self, pipes: list[Pipeline], policy: LastBatchPolicy) -> None:
        self.pipes = pipes
        self.policy = policy
        self.batch_size: int = pipes[0].max_batch_size

    @property
    def counter(self) -> int:
        """Samples returned since the epoch began, as DALI counts them: whole batches."""
        return self.step * self.batch_size

    @abstractmethod
    def advance(self, lengths: list[int]) -> list[int]:
        """Count one batch of every pipeline and return how many samples of each to use, 0 for batches not needed.

        Args:
            lengths: How many samples each batch has.
        """

    @abstractmethod
    def reset(self) -> bool:
        """Start the next epoch. Return whether one batch has to be discarded before it."""

    def state(self) -> EpochState:
        """Return what the states of the pipelines do not contain."""
        return {"step": self.step}

    @abstractmethod
    def load(self, state: EpochState) -> None:
        """Continue from a state. The pipelines have loaded theirs already."""


class UntilStopped(Epochs):
    """Epochs that end when the pipeline raises StopIteration."""

    def advance(self, lengths: list[int]) -> list[int]:
        self.step += 1
        return lengths

    def reset(self) -> bool:
        self.step = 0
        return False

    def load(self, state: EpochState) -> None:
        self.step = int(state.get("step", 0))


class BySize(Epochs):
    """Epochs with a number of samples that the user set, counted over all pipelines together."""

    def __init__(self, pipes: list[Pipeline], policy: LastBatchPolicy, size: int, padded: bool) -> None:
        super().__init__(pipes, policy)
        self.size, self._padded = size, padded
        self._all = len(pipes) * self.batch_size
        self.length = size // self._all if policy is DROP else -(-size // self._all)
        self._move_to(0)

    def _move_to(self, counter: int) -> None:
        self._counter = counter
        self.over = counter >= self.size or (self.policy is DROP and counter + self._all > self.size)

    @property
    def counter(self) -> int:
        """Samples of all pipelines, and those of this epoch that the previous one returned already."""
        return self._counter

    def advance(self, lengths: list[int]) -> list[int]:
        if set(lengths) != {self.batch_size}:
            raise EngineError(f"with size, all batches must have {self.batch_size} samples, got {lengths}")
        self.step += 1
        wanted = self.size - self._counter if self.policy is PARTIAL else self._all
        self._move_to(self._counter + self._all)
        return [min(max(wanted - first, 0), self.batch_size) for first in range(0, self._all, self.batch_size)]

    def reset(self) -> bool:
        incomplete = self.policy is DROP and self._counter < self.size
        # Without padding, the last batch of FILL contains samples of the next epoch, which is shorter by that many.
        self._move_to(self._counter % self.size if self.policy is FILL and not self._padded else 0)
        self.step = 0
        return incomplete

    def state(self) -> EpochState:
        return {"step": self.step, "counter": self._counter}

    def load(self, state: EpochState) -> None:
        self.step = int(state.get("step", 0))
        self._move_to(int(state.get("counter", 0)))


class ByReader(Epochs):
    """Epochs of a reader whose batches carry the information where an epoch ends."""

    def __init__(self, pipes: list[Pipeline], policy: LastBatchPolicy, reader_name: str, *, pad: bool) -> None:
        super().__init__(pipes, policy)
        self._order, *_ = [use_reader_epochs(pipe, policy, reader_name, pad=pad) for pipe in pipes]
        self._begin()

    def _left(self) -> int:
        schedule = self.pipes[0]._ready()
        return steps_left(self._order, schedule.delivered[schedule.main], self.batch_size, self.policy)

    def _begin(self) -> None:
        # Nothing is left if a state was saved under another policy and the rest does not fill a batch.
        self._move_to(0, self._left() or steps_per_epoch(self._order, self.batch_size, self.policy))

    def _move_to(self, step: int, left: int) -> None:
        self.step, self.length, self.over = step, step + left, left == 0
        shortest, extra = divmod(self._order.length, self._order.num_shards)
        longest = shortest + (extra > 0) if self._order.pad_last_batch else self.length * self.batch_size
        self.size = shortest if self.policy is DROP else longest

    def advance(self, lengths: list[int]) -> list[int]:
        self.step += 1
        self.over = self.pipes[0]._ready().ends_epoch
        return lengths

    def reset(self) -> bool:
        self._begin()
        return False

    def state(self) -> EpochState:
        return {"step": self.step, "over": self.over}

    def load(self, state: EpochState) -> None:
        self._move_to(int(state.get("step", 0)), 0 if state.get("over") else self._left())


class ByUnpaddedReader(Epochs):
    """Epochs of DROP, and of PARTIAL on one rank, of a reader that does not pad.

    The rest of the last batch holds samples of the next epoch, which are lost to it.
    """

    def __init__(self, pipes: list[Pipeline], policy: LastBatchPolicy, reader_name: str) -> None:
        super().__init__(pipes, policy)
        order, *_ = [use_reader_epochs(pipe, policy, reader_name) for pipe in pipes]
        self._samples, self._shards = order.length, order.num_shards
        self._begin_at(0, 0)

    def _begin_at(self, step: int, taken: int) -> None:
        self._move_to(step, taken)
        for pipe in self.pipes if self.policy is PARTIAL else []:
            pipe._ready().keep = self._cuts(self._rest)

    def _cuts(self, rest: int) -> Iterator[int]:
        """Yield the sizes of the coming batches: full ones, then the rest at the end of each epoch."""
        while True:
            for _ in range(0, rest, self.batch_size):
                yield min(rest, self.batch_size)
                rest -= self.batch_size
            rest = self._samples

    def _move_to(self, step: int, taken: int) -> None:
        self._taken = taken  # by all ranks together
        self._rest = max(self._samples - taken, 0) // self._shards
        left = self._rest // self.batch_size if self.policy is DROP else -(-self._rest // self.batch_size)
        self.step, self.length, self.over = step, step + left, left == 0
        whole = self._samples // self._shards
        self.size = whole if self.policy is DROP else self.length * self.batch_size

    def advance(self, lengths: list[int]) -> list[int]:
        self._move_to(self.step + 1, self._taken + lengths[0] * self._shards)
        return lengths

    def reset(self) -> bool:
        incomplete = self.policy is DROP and self._rest > 0
        self._move_to(0, 0)
        return incomplete

    def state(self) -> EpochState:
        return {"step": self.step, "taken": self._taken}

    def load(self, state: EpochState) -> None:
        self._begin_at(int(state.get("step", 0)), int(state.get("taken", 0)))


def make_epochs(
    pipes: list[Pipeline],
    size: int,
    reader_name: str | None,
    padded: bool,
    policy: LastBatchPolicy,
    *,
    exact: bool = False,
) -> Epochs:
    """Choose how to count epochs from the arguments of an iterator."""
    if reader_name is not None:
        if size >= 0 or padded:
            raise IteratorArgumentError("reader_name determines size and last_batch_padded; omit them")
        return _by_reader(pipes, reader_name, policy, exact=exact)
    if exact:
        raise ArgumentError("exact: needs a reader_name, because only a reader knows its samples")
    if size == 0 or (size < 0 and len(pipes) > 1):
        raise ArgumentError(f"{len(pipes)} pipelines need a size above 0 or a reader_name, got size={size}")
    if size < 0:
        return UntilStopped(pipes, FILL)
    if any(pipe.reader_meta() for pipe in pipes):
        message = "size counts samples without asking the reader and may repeat or miss some; use reader_name instead"
        warnings.warn(message, stacklevel=5)
    return BySize(pipes, policy, size, padded)


def _by_reader(pipes: list[Pipeline], reader_name: str, policy: LastBatchPolicy, *, exact: bool) -> Epochs:
    metas = [pipe.reader_meta(reader_name) for pipe in pipes]
    for key in ("epoch_size", "number_of_shards", "pad_last_batch", "stick_to_shard"):
        if len({meta[key] for meta in metas}) > 1:
            raise ArgumentError(
                f"{reader_name!r} has a different {key} in each pipeline: {[meta[key] for meta in metas]}"
            )
    padded = bool(metas[0]["pad_last_batch"]) or any(pipe._ready().padded for pipe in pipes)
    # On several ranks PARTIAL could not return every sample once: what one rank cuts off is in no other batch.
    one_rank = metas[0]["number_of_shards"] == 1
    if not padded and not exact and (policy is DROP or (policy is PARTIAL and one_rank)):
        return ByUnpaddedReader(pipes, policy, reader_name)
    return ByReader(pipes, policy, reader_name, pad=exact or policy is PARTIAL)
