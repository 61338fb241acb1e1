"""Order of samples: epochs, shards, padding and resume, by arithmetic alone.

The order of an epoch is a keyed permutation of (seed, epoch, length), cut into ``num_shards`` contiguous shards; rank
``k`` walks shard ``(k + epoch) % num_shards``, with ``stick_to_shard`` always shard ``k``.

A :class:`Position` is an epoch and a chain of entries (shards, taken): every one of so many ranks took so many samples
from what the entries before it had left. What is left of an epoch are the shards' tails in shard order; the next entry
divides exactly that. All ranks step together, so the position of one is the position of all, and the rest of an epoch
can be divided among any number of new ranks. With ``pad_last_batch`` an epoch ends for all ranks at once and the chain
starts anew. Without it ``taken`` counts on over the epochs, and ranks may be in different epochs; that is covered too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import lru_cache
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from pixelmill.errors import ArgumentError
from pixelmill.pipeline.permutation import Ints, epoch_key, fold, permute

_MAX_HISTORY = 32  # keeps the state under 1 KB
_MAX_SHARDS = 2**16
_MAX_DRIFT = 1000  # epochs that ranks may be apart when the rest is divided anew
_ALL_BUT_LAST = -1  # in place of taken: each shard has exactly its last sample left


class LastBatchPolicy(Enum):
    """What an iterator does with the last, incomplete batch of an epoch."""

    FILL = 0
    DROP = 1
    PARTIAL = 2


@dataclass(frozen=True)
class Position:
    """A place in the endless stream of samples, the same for all ranks; see the head of this module."""

    epoch: int = 0
    history: tuple[tuple[int, int], ...] = ()

    def split(self) -> tuple[Position, int, int]:
        """Return the chain without its last entry, and that entry."""
        return Position(self.epoch, self.history[:-1]), *self.history[-1]


@dataclass(frozen=True, eq=False)
class Batch:
    """What one rank delivers in one step.

    Attributes:
        items: Index of each sample in the dataset.
        epochs: Epoch of each sample; without padding a batch may hold several.
        is_padding: True for copies that only fill the batch; they stand behind the real samples.
        size: Number of leading samples to yield: all, or with padding and PARTIAL the real ones, at least one.
        ends_epoch: True in the last step of an epoch, on all ranks alike (without padding: by the rule of FILL).
        following: Position behind this batch.
    """

    items: Ints
    epochs: npt.NDArray[np.uint32]
    is_padding: npt.NDArray[np.bool_]
    size: int
    ends_epoch: bool
    following: Position


@dataclass(frozen=True, kw_only=True)
class ReaderOrder:
    """Order in which one rank reads a dataset, with DALI's sharding and padding.

    Attributes:
        length: Number of samples of the dataset.
        shuffle: Permute the whole dataset anew in every epoch, before it is cut into shards.
        seed: Seed of the permutations, 0 to 2**64 - 1.
        num_shards: Number of ranks; shard k covers floor(length*k/num_shards) to floor(length*(k+1)/num_shards).
        shard_id: This rank.
        stick_to_shard: Stay with one shard instead of moving to the next one in every epoch.
        pad_last_batch: Repeat the last sample until the batch is full and all ranks took equally many, then start a
            clean epoch. Without it a batch continues into the next epoch.
    """

    length: int
    shuffle: bool = False
    seed: int = 0
    num_shards: int = 1
    shard_id: int = 0
    stick_to_shard: bool = False
    pad_last_batch: bool = False

    def __post_init__(self) -> None:
        """Check the arguments."""
        most = min(self.length, _MAX_SHARDS)
        if not 1 <= self.length < 2**44:
            raise ArgumentError(f"reader: needs 1 to 2**44 samples, the dataset has {self.length}")
        if not 1 <= self.num_shards <= most:
            raise ArgumentError(f"reader: {self.length} samples allow num_shards 1 to {most}, got {self.num_shards}")
        if not 0 <= self.shard_id < self.num_shards:
            raise ArgumentError(f"reader: shard_id must be 0 to {self.num_shards - 1}, got {self.shard_id}")
        if not 0 <= self.seed < 2**64:
            raise ArgumentError(f"reader: seed must be 0 to 2**64 - 1, got {self.seed}")

    def batch(self, position: Position, batch_size: int, policy: LastBatchPolicy = LastBatchPolicy.FILL) -> Batch:
        """Return the batch at a position; a position left by another number of shards is divided anew.

        FILL gives DALI's own stream. With ``pad_last_batch``, PARTIAL lays the samples out so that no rank has an empty
        batch (a rank one short yields batch_size - 1 and 1 in its last two steps), and DROP goes to the next epoch when
        some rank cannot fill a batch. Without padding the policy makes no difference here.
        """
        if batch_size < 1:
            raise ArgumentError(f"reader: batch_size must be at least 1, got {batch_size}")
        position = self.divide(position)
        if self.pad_last_batch:
            return self._padded(position, batch_size, policy)
        return self._endless(position, batch_size)

    def state_dict(self, position: Position) -> dict[str, Any]:
        """Return a position as JSON data under 1 KB, for :meth:`load_state_dict` of any rank."""
        position = self.divide(position)
        if not self.pad_last_batch:
            prior, shards, taken = position.split()
            epoch, offset = _cursor(self, prior, shards, taken, 0)
            if epoch >= _span(self, prior)[1] and all(
                _cursor(self, prior, shards, taken, rank) == (epoch, offset) for rank in range(1, shards)
            ):
                position = Position(epoch, ((shards, offset),))
        history = [list(entry) for entry in position.history if entry[1]]
        return {"version": 1, **self._identity(), "epoch": position.epoch, "history": history}

    def load_state_dict(self, state: Mapping[str, Any]) -> Position:
        """Check a state and return its position, to go on with any batch size and any number of shards.

        Raises:
            ArgumentError: The state is damaged, or belongs to another dataset, seed, shuffle, sticking or padding.
        """
        if not isinstance(state, Mapping) or state.get("version") != 1:
            raise ArgumentError(f"reader state: expected a dict with version 1, got {str(state)[:80]}")
        wrong = [f"{k} was {state.get(k)!r}, now {v!r}" for k, v in self._identity().items() if state.get(k) != v]
        if wrong:
            raise ArgumentError("reader state belongs to another reader: " + "; ".join(wrong))
        epoch, history = state.get("epoch"), state.get("history")
        if type(epoch) is not int or not 0 <= epoch < 2**31 or not isinstance(history, list):
            raise ArgumentError(f"reader state is damaged: epoch {epoch!r}, history {str(history)[:80]}")
        position = Position(epoch)
        for entry in history[: _MAX_HISTORY + 1]:
            if not isinstance(entry, list) or [type(number) for number in entry] != [int, int]:
                raise ArgumentError(f"reader state is damaged: expected [shards, taken], got {str(entry)[:80]}")
            left, (shards, taken) = _left(self, position, epoch), entry
            limit = left if self.pad_last_batch else min(self.length * 2**24, 2**61)  # far inside int64 and uint32
            in_range = 0 < taken * shards < limit
            last_kept = self.pad_last_batch and taken == _ALL_BUT_LAST and left > 2 * shards
            if not 1 <= shards <= min(self.length, _MAX_SHARDS) or not (in_range or last_kept):
                raise ArgumentError(f"reader state is damaged: {taken} taken by each of {shards} shards, {left} left")
            position = Position(epoch, (*position.history, (shards, taken)))
        return self.divide(position)

    def _identity(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("num_shards", "shard_id")}

    def divide(self, position: Position) -> Position:
        """End the chain with an entry for our own number of shards."""
        if position.history and position.history[-1][0] == self.num_shards:
            return position
        position = Position(position.epoch, tuple(entry for entry in position.history if entry[1]))
        if position.history and position.history[-1][0] == self.num_shards:
            return position
        if len(position.history) >= _MAX_HISTORY:
            raise ArgumentError(
                f"reader state: num_shards changed {_MAX_HISTORY} times without a clean start of an epoch in between; "
                "pad_last_batch=True gives a clean start in every epoch"
            )
        low, high = _span(self, position)
        if low == high:
            position = Position(high)
        return Position(position.epoch, (*position.history, (self.num_shards, 0)))

    def _padded(self, position: Position, size: int, policy: LastBatchPolicy) -> Batch:
        prior, shards, taken = position.split()
        epoch, left = position.epoch, _left(self, prior, position.epoch)
        steps = _steps(left, shards, taken, size, policy)
        if policy is LastBatchPolicy.DROP and not steps:
            if self.length // shards >= size:
                return self._padded(Position(epoch + 1, ((shards, 0),)), size, policy)
            steps = _steps(left, shards, taken, size, LastBatchPolicy.FILL)

        start, stop = _bounds(self, shards, left, epoch)
        start = stop - 1 if taken == _ALL_BUT_LAST else min(start + taken, stop)
        real = min(size, stop - start)
        # Of size + 1 samples to come on the long shards, the short ones keep one for the last step.
        keep = policy is LastBatchPolicy.PARTIAL and size > 1 and left % shards > 0 and left // shards - taken == size
        if keep and stop - start == size:
            real -= 1
        last = start + real - 1 if real else max(stop - 1, 0)
        following = Position(epoch, (*prior.history, (shards, _ALL_BUT_LAST if keep else taken + size)))
        return Batch(
            items=_items(self, prior, epoch, np.minimum(np.arange(start, start + size), last)),
            epochs=np.full(size, epoch, np.uint32),
            is_padding=np.arange(size) >= real,
            size=max(real, 1) if policy is LastBatchPolicy.PARTIAL else size,
            ends_epoch=steps == 1,
            following=Position(epoch + 1) if steps == 1 else following,
        )

    def _endless(self, position: Position, size: int) -> Batch:
        prior, shards, taken = position.split()
        items, epochs, filled = np.empty(size, np.int64), np.empty(size, np.uint32), 0
        epoch, offset = _cursor(self, prior, shards, taken, self.shard_id)
        while filled < size:
            start, stop = _bounds(self, shards, _left(self, prior, epoch), epoch)
            count = min(size - filled, stop - start - offset)
            places = np.arange(start + offset, start + offset + count)
            items[filled : filled + count] = _items(self, prior, epoch, places)
            epochs[filled : filled + count] = epoch
            epoch, offset, filled = epoch + 1, 0, filled + count
        return Batch(
            items=items,
            epochs=epochs,
            is_padding=np.zeros(size, np.bool_),
            size=size,
            ends_epoch=taken + size >= _epoch_end(self, prior, shards, taken),
            following=Position(position.epoch, (*prior.history, (shards, taken + size))),
        )


def _bounds(order: ReaderOrder, shards: int, left: int, epoch: int) -> tuple[int, int]:
    """Return the places of this rank's shard in what is left of an epoch."""
    shard = order.shard_id if order.stick_to_shard else (order.shard_id + epoch) % shards
    return left * shard // shards, left * (shard + 1) // shards


def _sizes(left: int, shards: int) -> Ints:
    return np.diff(left * np.arange(shards + 1) // shards)


@lru_cache(maxsize=64)
def _tails(order: ReaderOrder, position: Position, epoch: int) -> tuple[Ints, Ints]:
    """Return for each shard of the last entry the first place it has left of an epoch, and the running sum of rests."""
    prior, shards, taken = position.split()
    sizes = _sizes(_left(order, prior, epoch), shards)
    before = np.roll(_before(order, prior, shards, epoch), 0 if order.stick_to_shard else epoch % shards)
    used = sizes - 1 if taken == _ALL_BUT_LAST else np.clip(taken - before, 0, sizes)
    return np.cumsum(sizes) - sizes + used, np.cumsum(np.append(0, sizes - used))


def _left(order: ReaderOrder, position: Position, epoch: int) -> int:
    """Count the samples of an epoch that no rank has taken."""
    touched = position.history and epoch < _span(order, position)[1]
    return int(_tails(order, position, epoch)[1][-1]) if touched else order.length


def _items(order: ReaderOrder, position: Position, epoch: int, places: Ints) -> Ints:
    """Map places in what is left of an epoch to items."""
    while position.history and epoch < _span(order, position)[1]:
        first, total = _tails(order, position, epoch)
        shard = np.searchsorted(total, places, side="right") - 1
        places = first[shard] + places - total[shard]
        position = position.split()[0]
    return permute(places, order.length, epoch_key(order.seed, epoch)) if order.shuffle else places


@lru_cache(maxsize=64)
def _span(order: ReaderOrder, position: Position) -> tuple[int, int]:
    """Return the first epoch with samples left and the first epoch from which on nothing was taken."""
    if order.pad_last_batch or not position.history:
        return position.epoch, position.epoch + (1 if position.history else 0)
    prior, shards, taken = position.split()
    cursors = [_cursor(order, prior, shards, taken, rank) for rank in range(shards)]
    low, high = min(cursors)[0], max(epoch + (offset > 0) for epoch, offset in cursors)
    if high - low > _MAX_DRIFT:
        raise ArgumentError(f"reader state: ranks are {high - low} epochs apart, too far to divide anew")
    return low, max(high, _span(order, prior)[1])


@lru_cache(maxsize=16)
def _touched(order: ReaderOrder, prior: Position, shards: int) -> Ints:
    """Count as _before does, in one row for each epoch of the span of prior."""
    low, high = _span(order, prior)
    rows = np.zeros((high - low + 1, shards), np.int64)
    for epoch in range(low, high):
        turn = 0 if order.stick_to_shard else -epoch % shards
        rows[epoch - low + 1] = rows[epoch - low] + np.roll(_sizes(_left(order, prior, epoch), shards), turn)
    return rows


@lru_cache(maxsize=64)
def _before(order: ReaderOrder, prior: Position, shards: int, epoch: int) -> Ints:
    """Count for each rank the samples that its stream, beginning at prior, holds before an epoch."""
    low, high = _span(order, prior)
    total: Ints = _touched(order, prior, shards)[max(min(epoch, high) - low, 0)]
    clean = max(epoch - high, 0)
    if order.stick_to_shard:
        return total + clean * _sizes(order.length, shards)
    first = (np.arange(shards) + high) % shards
    return np.asarray(total + order.length * (first + clean) // shards - order.length * first // shards)


def _cursor(order: ReaderOrder, prior: Position, shards: int, taken: int, rank: int | None) -> tuple[int, int]:
    """Return epoch and offset in its shard of a rank's next sample (None: of the rank that is furthest behind)."""
    if shards == 1 and not prior.history:  # the usual case; what follows gives the same
        epochs, offset = divmod(taken, order.length)
        return prior.epoch + epochs, offset

    def before(epoch: int) -> int:
        counts = _before(order, prior, shards, epoch)
        return int(counts.max() if rank is None else counts[rank])

    low, high = _span(order, prior)
    cycle = 1 if order.stick_to_shard else shards
    in_cycle = -(-order.length * cycle // shards) if rank is None else before(high + cycle) - before(high)
    epoch = high + max(taken - before(high), 0) * cycle // in_cycle
    while epoch > low and before(epoch) > taken:
        epoch -= 1
    while before(epoch + 1) <= taken:
        epoch += 1
    return epoch, taken - before(epoch)


def _epoch_end(order: ReaderOrder, prior: Position, shards: int, taken: int) -> int:
    """Return what each rank has taken when the last one leaves the epoch that the last one is in."""
    if shards == 1 and not prior.history:
        return (taken // order.length + 1) * order.length
    return int(_before(order, prior, shards, _cursor(order, prior, shards, taken, None)[0] + 1).max())


def _steps(left: int, shards: int, taken: int, batch_size: int, policy: LastBatchPolicy) -> int:
    longest = -(-left // shards)
    taken = longest - 1 if taken == _ALL_BUT_LAST else taken
    if policy is LastBatchPolicy.DROP:
        return (left // shards - taken) // batch_size
    return -(-(longest - taken) // batch_size)


def steps_left(order: ReaderOrder, position: Position, batch_size: int, policy: LastBatchPolicy) -> int:
    """Count the steps to the end of the current epoch, equal for all ranks (without padding: by the rule of FILL)."""
    prior, shards, taken = order.divide(position).split()
    if order.pad_last_batch:
        return max(_steps(_left(order, prior, prior.epoch), shards, taken, batch_size, policy), 0)
    return -(-(_epoch_end(order, prior, shards, taken) - taken) // batch_size)


def steps_per_epoch(order: ReaderOrder, batch_size: int, policy: LastBatchPolicy, *, epoch: int = 0) -> int:
    """Count the steps of an iterator's epoch, equal for all ranks.

    Only FILL without padding depends on the epoch: it reads on into the next one, which then has fewer steps, or none.
    """
    if order.pad_last_batch or policy is not LastBatchPolicy.FILL:
        return _steps(order.length, order.num_shards, 0, batch_size, policy)
    ends = [int(_before(order, Position(), order.num_shards, number).max()) for number in (epoch, epoch + 1)]
    return -(-ends[1] // batch_size) + (-ends[0] // batch_size)


def dropped_steps(order: ReaderOrder, batch_size: int, policy: LastBatchPolicy) -> int:
    """Count the batches to run and throw away after an epoch: DALI's DROP without padding loses an incomplete one."""
    lost = policy is LastBatchPolicy.DROP and not order.pad_last_batch and order.length // order.num_shards % batch_size
    return 1 if lost else 0


def batch_sizes(order: ReaderOrder, batch_size: int, policy: LastBatchPolicy, *, epoch: int = 0) -> Iterator[int]:
    """Yield the number of samples this rank yields in each step of an epoch.

    With PARTIAL a rank one sample short whose last batch would be empty yields batch_size - 1 and 1 in its last two
    steps. With batch size 1 that is impossible, and the last step repeats a sample (``is_padding`` tells).
    """
    steps = steps_per_epoch(order, batch_size, policy, epoch=epoch)
    if policy is not LastBatchPolicy.PARTIAL:
        return repeat(batch_size, steps)
    start, stop = _bounds(order, order.num_shards, order.length, epoch)
    last = stop - start - (steps - 1) * batch_size
    if last or batch_size == 1:
        return chain(repeat(batch_size, steps - 1), [max(last, 1)])
    return chain(repeat(batch_size, steps - 2), [batch_size - 1, 1])


def replacement(order: ReaderOrder, epoch: int, item: int, attempt: int) -> int:
    """Choose another item in place of a bad one; length - 1 attempts try every other item once."""
    others = order.length - 1
    if not others:
        return item
    other = int(permute(np.array([attempt % others]), others, fold(order.seed, epoch, item, 1))[0])
    return other + (other >= item)
