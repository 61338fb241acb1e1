"""The order of samples: batches of each rank, the policies for the last batch, and the state to resume from.

A reader keeps no state: the batch at a position depends on the position alone. `reader_position.py` explains positions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import lru_cache
from itertools import chain, repeat
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError
from pixelmill.pipeline.partners import partner_items
from pixelmill.pipeline.permutation import Ints, fold, permute
from pixelmill.pipeline.reader_position import (
    ALL_BUT_LAST,
    MAX_SHARDS,
    OrderSettings,
    Position,
    cursor,
    epoch_end,
    epoch_span,
    numbers_at,
    samples_before,
    samples_left,
    shard_bounds,
)

# Settings that a state does not have to agree with by value.
_FREE = ("num_shards", "shard_id", "blocks", "classes", "partner")
_MAX_HISTORY = 32  # keeps the state under 1 KB

State = dict[str, Any]  # what json.loads returns for a state that was saved


def parsed_checkpoint(checkpoint: bytes) -> State:
    """Return the state in a checkpoint that `Pipeline.checkpoint` returned."""
    try:
        return cast("State", json.loads(checkpoint))
    except (ValueError, TypeError):
        raise ArgumentError(f"checkpoint: not a checkpoint of pixelmill: {checkpoint[:40]!r}") from None


class LastBatchPolicy(Enum):
    """What an iterator does with the last, incomplete batch of an epoch."""

    FILL = 0
    DROP = 1
    PARTIAL = 2


@dataclass(frozen=True, eq=False)
class Batch:
    """What one rank delivers in one step.

    Attributes:
        items: Index of each sample in the dataset.
        numbers: What random numbers of each sample depend on: its index, or another number for each time it is read.
        epochs: Epoch of each sample; without padding a batch may contain samples of several epochs.
        is_padding: True for copies that only fill the batch; they come after the real samples.
        size: Number of leading samples to yield: all, or with padding and PARTIAL the real ones, at least one.
        ends_epoch: True in the last step of an epoch, on all ranks at once (without padding: by the rule of FILL).
        following: Position after this batch.
    """

    items: Ints
    numbers: Ints
    epochs: npt.NDArray[np.uint32]
    is_padding: npt.NDArray[np.bool_]
    size: int
    ends_epoch: bool
    following: Position


@dataclass(frozen=True, kw_only=True)
class ReaderOrder(OrderSettings):
    """Order in which one rank reads a dataset, with DALI's sharding and padding."""

    def batch(self, position: Position, batch_size: int, policy: LastBatchPolicy = LastBatchPolicy.FILL) -> Batch:
        """Return the batch at a position. If another number of shards left the position, the rest is divided again.

        FILL is DALI's own order. With ``pad_last_batch``, PARTIAL distributes the samples so that no rank has an empty
        batch (a rank that is one sample short yields batch_size - 1 and 1 samples in its last two steps), and DROP goes
        to the next epoch when some rank cannot fill a batch. Without padding the policy makes no difference here.
        """
        if batch_size < 1:
            raise ArgumentError(f"reader: batch_size must be at least 1, got {batch_size}")
        position = self.divide(position)
        padded = self.pad_last_batch
        made = self._padded(position, batch_size, policy) if padded else self._endless(position, batch_size)
        return made if self.partner is None else replace(made, items=self.partner_items(made.numbers, made.epochs))

    def partner_items(self, numbers: Ints, epochs: npt.NDArray[np.uint32]) -> Ints:
        """Return another item for each sample; of this partner, each item is that of one sample of the dataset."""
        count = self.length if self.classes is None else self.classes.count
        return partner_items(self.partner or 0, count, numbers, epochs)

    def state_dict(self, position: Position) -> State:
        """Return a position as JSON data under 1 KB, for :meth:`load_state_dict` of any rank."""
        position = self.divide(position)
        if not self.pad_last_batch:
            # If all ranks are at the same place of an epoch that no earlier entry has touched, the history can start
            # there. Without this, it would grow with every change of the number of shards.
            prior, shards, taken = position.split()
            epoch, offset = cursor(self, prior, shards, taken, 0)
            if epoch >= epoch_span(self, prior)[1] and all(
                cursor(self, prior, shards, taken, rank) == (epoch, offset) for rank in range(1, shards)
            ):
                position = Position(epoch, ((shards, offset),))
        history = [list(entry) for entry in position.history if entry[1]]
        return {"version": 1, **self._identity(), "epoch": position.epoch, "history": history}

    def load_state_dict(self, state: State) -> Position:
        """Check a state and return its position, to continue with any batch size and any number of shards.

        Raises:
            ArgumentError: The state is damaged, or belongs to a reader with other settings than the number of shards.
        """
        if not isinstance(state, Mapping) or state.get("version") != 1:
            raise ArgumentError(f"reader state: expected a dict with version 1, got {str(state)[:80]}")
        own = {"blocks": None, "classes": None, "partner": None, **self._identity()}
        wrong = [f"{k} was {state.get(k)!r}, now {v!r}" for k, v in own.items() if state.get(k) != v]
        if wrong:
            raise ArgumentError("reader state belongs to another reader: " + "; ".join(wrong))
        epoch, history = state.get("epoch"), state.get("history")
        if type(epoch) is not int or not 0 <= epoch < 2**31 or not isinstance(history, list):
            raise ArgumentError(f"reader state is damaged: epoch {epoch!r}, history {str(history)[:80]}")
        position = Position(epoch)
        for entry in history[: _MAX_HISTORY + 1]:
            if not isinstance(entry, list) or [type(number) for number in entry] != [int, int]:
                raise ArgumentError(f"reader state is damaged: expected [shards, taken], got {str(entry)[:80]}")
            left, (shards, taken) = samples_left(self, position, epoch), entry
            # States are input: these bounds keep all counts of the arithmetic far below the limits of int64 and uint32.
            limit = left if self.pad_last_batch else min(self.length * 2**24, 2**61)
            in_range = 0 < taken * shards < limit
            last_kept = self.pad_last_batch and taken == ALL_BUT_LAST and left > 2 * shards
            if not 1 <= shards <= min(self.length, MAX_SHARDS) or not (in_range or last_kept):
                raise ArgumentError(f"reader state is damaged: {taken} taken by each of {shards} shards, {left} left")
            position = Position(epoch, (*position.history, (shards, taken)))
        return self.divide(position)

    def _identity(self) -> dict[str, int]:
        """Return the settings that must not change between saving and loading a state."""
        known = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _FREE}
        orders = {"blocks": self.blocks, "classes": self.classes}
        others = {} if self.partner is None else {"partner": self.partner}
        return known | others | {name: kind.identity for name, kind in orders.items() if kind is not None}

    def divide(self, position: Position) -> Position:
        """Return the position with a history that ends with an entry for this number of shards."""
        if position.history and position.history[-1][0] == self.num_shards:
            return position
        position = Position(position.epoch, tuple(entry for entry in position.history if entry[1]))
        if position.history and position.history[-1][0] == self.num_shards:
            return position
        if len(position.history) >= _MAX_HISTORY:
            raise ArgumentError(
                f"reader state: num_shards changed {_MAX_HISTORY} times before an epoch started on all ranks at once; "
                "with pad_last_batch=True every epoch does"
            )
        low, high = epoch_span(self, position)
        if low == high:
            position = Position(high)
        return Position(position.epoch, (*position.history, (self.num_shards, 0)))

    def _padded(self, position: Position, size: int, policy: LastBatchPolicy) -> Batch:
        prior, shards, taken = position.split()
        epoch, left = position.epoch, samples_left(self, prior, position.epoch)
        steps = _steps(left, shards, taken, size, policy)
        if policy is LastBatchPolicy.DROP and not steps:
            if self.length // shards >= size:
                return self._padded(Position(epoch + 1, ((shards, 0),)), size, policy)
            # No epoch ever has a full batch. Returning padded ones is better than searching for a full one forever.
            steps = _steps(left, shards, taken, size, LastBatchPolicy.FILL)

        start, stop = shard_bounds(self, shards, left, epoch)
        start = stop - 1 if taken == ALL_BUT_LAST else min(start + taken, stop)
        real = min(size, stop - start)
        # Shards differ in length by at most one sample. If the long ones have size + 1 samples left, the short ones
        # would have an empty last step; they yield one sample less now and keep it for that step.
        keep = policy is LastBatchPolicy.PARTIAL and size > 1 and left % shards > 0 and left // shards - taken == size
        if keep and stop - start == size:
            real -= 1
        last = start + real - 1 if real else max(stop - 1, 0)
        following = Position(epoch, (*prior.history, (shards, ALL_BUT_LAST if keep else taken + size)))
        numbers = numbers_at(self, prior, epoch, np.minimum(np.arange(start, start + size, dtype=np.int64), last))
        return Batch(
            items=self._items(numbers),
            numbers=numbers,
            epochs=np.full(size, epoch, np.uint32),
            is_padding=np.arange(size) >= real,
            size=max(real, 1) if policy is LastBatchPolicy.PARTIAL else size,
            ends_epoch=steps == 1,
            following=Position(epoch + 1) if steps == 1 else following,
        )

    def _items(self, numbers: Ints) -> Ints:
        return numbers if self.classes is None else numbers % self.classes.count

    def _endless(self, position: Position, size: int) -> Batch:
        """Return a batch of the endless order without padding, which continues into the next epoch."""
        prior, shards, taken = position.split()
        numbers, epochs, filled = np.empty(size, np.int64), np.empty(size, np.uint32), 0
        epoch, offset = cursor(self, prior, shards, taken, self.shard_id)
        while filled < size:
            start, stop = shard_bounds(self, shards, samples_left(self, prior, epoch), epoch)
            count = min(size - filled, stop - start - offset)
            places = np.arange(start + offset, start + offset + count, dtype=np.int64)
            numbers[filled : filled + count] = numbers_at(self, prior, epoch, places)
            epochs[filled : filled + count] = epoch
            epoch, offset, filled = epoch + 1, 0, filled + count
        return Batch(
            items=self._items(numbers),
            numbers=numbers,
            epochs=epochs,
            is_padding=np.zeros(size, np.bool_),
            size=size,
            ends_epoch=taken + size >= epoch_end(self, prior, shards, taken),
            following=Position(position.epoch, (*prior.history, (shards, taken + size))),
        )


@lru_cache(8)
def without_readers(size: int, epoch: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Return the epoch of each sample of a batch without readers, and its items, of which there are none."""
    arrays = np.full(size, epoch, np.uint32), np.empty((size, 0), np.int64)
    for array in arrays:
        array.flags.writeable = False  # the cache returns the same arrays for many batches
    return arrays


def check_in_step(orders: Sequence[ReaderOrder]) -> None:
    """Check that readers of the same length are read in the same order: images and masks belong together."""
    for order in orders:
        alike = [other for other in orders if other.length == order.length and other.shuffle == order.shuffle]
        kinds = {None if other.blocks is None else other.blocks.identity for other in alike}
        if order.shuffle and len(kinds) > 1:
            raise ArgumentError(
                "shuffle_mode: readers of the same length are read side by side, and their blocks differ; use "
                "'global', or pack both into the same records"
            )


def _steps(left: int, shards: int, taken: int, batch_size: int, policy: LastBatchPolicy) -> int:
    """Return the steps to the end of an epoch: until the longest shard is done, or the shortest one with DROP."""
    longest = -(-left // shards)
    taken = longest - 1 if taken == ALL_BUT_LAST else taken
    if policy is LastBatchPolicy.DROP:
        return (left // shards - taken) // batch_size
    return -(-(longest - taken) // batch_size)


def steps_left(order: ReaderOrder, position: Position, batch_size: int, policy: LastBatchPolicy) -> int:
    """Return the steps to the end of the current epoch, equal for all ranks (without padding: by the rule of FILL)."""
    prior, shards, taken = order.divide(position).split()
    if order.pad_last_batch:
        return max(_steps(samples_left(order, prior, prior.epoch), shards, taken, batch_size, policy), 0)
    return -(-(epoch_end(order, prior, shards, taken) - taken) // batch_size)


def steps_per_epoch(order: ReaderOrder, batch_size: int, policy: LastBatchPolicy, *, epoch: int = 0) -> int:
    """Return the steps of an iterator's epoch, equal for all ranks.

    Only FILL without padding depends on the epoch: its last batch reads samples of the next epoch, which then has fewer
    steps, or none.
    """
    if order.pad_last_batch or policy is not LastBatchPolicy.FILL:
        return _steps(order.length, order.num_shards, 0, batch_size, policy)
    ends = [int(samples_before(order, Position(), order.num_shards, number).max()) for number in (epoch, epoch + 1)]
    return -(-ends[1] // batch_size) + (-ends[0] // batch_size)


def dropped_steps(order: ReaderOrder, batch_size: int, policy: LastBatchPolicy) -> int:
    """Return how many batches to discard after an epoch: DALI's DROP without padding discards an incomplete one."""
    lost = policy is LastBatchPolicy.DROP and not order.pad_last_batch and order.length // order.num_shards % batch_size
    return 1 if lost else 0


def batch_sizes(order: ReaderOrder, batch_size: int, policy: LastBatchPolicy, *, epoch: int = 0) -> Iterator[int]:
    """Yield the number of samples this rank yields in each step of an epoch.

    With PARTIAL, a rank that is one sample short and whose last batch would be empty yields batch_size - 1 and 1
    samples in its last two steps. With batch size 1 that is impossible, and the last step repeats a sample, which
    ``is_padding`` marks.
    """
    steps = steps_per_epoch(order, batch_size, policy, epoch=epoch)
    if policy is not LastBatchPolicy.PARTIAL:
        return repeat(batch_size, steps)
    start, stop = shard_bounds(order, order.num_shards, order.length, epoch)
    last = stop - start - (steps - 1) * batch_size
    if last or batch_size == 1:
        return chain(repeat(batch_size, steps - 1), [max(last, 1)])
    return chain(repeat(batch_size, steps - 2), [batch_size - 1, 1])


def replacement(order: ReaderOrder, epoch: int, item: int, attempt: int) -> int:
    """Return another item to replace a bad one; `length - 1` attempts try every other item once.

    The item depends only on the seed, the epoch and the bad item, so a resumed run picks the same replacements. The
    permutation is over the other items: the bad item itself is stepped over.
    """
    others = (order.length if order.classes is None else order.classes.count) - 1
    if not others:
        return item
    other = int(permute(np.array([attempt % others]), others, fold(order.seed, epoch, item, 1))[0])
    return other + (other >= item)
