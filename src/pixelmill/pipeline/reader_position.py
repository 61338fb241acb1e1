"""Positions in the stream of samples, and what is left of an epoch: arithmetic, without any state.

The order of an epoch is a keyed permutation of (seed, epoch, length), cut into ``num_shards`` contiguous shards. Rank
``k`` reads shard ``(k + epoch) % num_shards``, or always shard ``k`` with ``stick_to_shard``.

A :class:`Position` is an epoch and a history of entries (shards, taken): each of `shards` ranks took `taken` samples of
what the entries before had left. What is left of an epoch is the tails of the shards, in the order of the shards; the
next entry divides exactly that. All ranks take their steps together, so one position describes all of them, and the
rest of an epoch can be divided among any number of ranks. This is what allows a run to resume with another number of
ranks without repeating or losing a sample.

With ``pad_last_batch``, an epoch ends for all ranks at once, and the history starts again. Without it, ``taken`` keeps
counting through the following epochs. Shards differ in length by one sample, so ranks can then be in different epochs;
the functions below handle that as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pixelmill.errors import ArgumentError
from pixelmill.formats.blocks import Blocks
from pixelmill.formats.class_groups import ClassGroups
from pixelmill.pipeline.balanced_order import balanced_numbers
from pixelmill.pipeline.block_order import permute_blocks
from pixelmill.pipeline.permutation import Ints, epoch_key, permute

MAX_SHARDS = 2**16
ALL_BUT_LAST = -1  # instead of the number taken: each shard has exactly its last sample left
_MAX_DRIFT = 1000  # how many epochs ranks may be apart when the rest is divided again


@dataclass(frozen=True)
class Position:
    """A place in the endless order of samples, the same for all ranks; see the docstring of this module."""

    epoch: int = 0
    history: tuple[tuple[int, int], ...] = ()

    def split(self) -> tuple[Position, int, int]:
        """Return the position without its last entry, and the two numbers of that entry."""
        return Position(self.epoch, self.history[:-1]), *self.history[-1]


@dataclass(frozen=True, kw_only=True)
class OrderSettings:
    """What the order of one rank depends on.

    Attributes:
        length: Number of samples of the dataset.
        shuffle: Permute the whole dataset in every epoch, before it is cut into shards.
        seed: Seed of the permutations, 0 to 2**64 - 1.
        num_shards: Number of ranks; shard k covers floor(length*k/num_shards) to floor(length*(k+1)/num_shards).
        shard_id: This rank.
        stick_to_shard: Stay with one shard instead of moving to the next one in every epoch.
        pad_last_batch: Repeat the last sample until the batch is full and all ranks took the same number, so that the
            next epoch starts on all ranks at once. Without it a batch continues into the next epoch.
        blocks: Permute blocks, and the samples of some consecutive blocks at a time, instead of the whole dataset.
        classes: Read as many samples of each class; `length` is then that of such an epoch.
        partner: Read another item in place of each one; see `partner_items`.
    """

    length: int
    shuffle: bool = False
    seed: int = 0
    num_shards: int = 1
    shard_id: int = 0
    stick_to_shard: bool = False
    pad_last_batch: bool = False
    blocks: Blocks | None = None
    classes: ClassGroups | None = None
    partner: int | None = None

    def __post_init__(self) -> None:
        """Check the arguments."""
        most = min(self.length, MAX_SHARDS)
        if not 1 <= self.length < 2**44:
            raise ArgumentError(f"reader: the dataset must have 1 to 2**44 - 1 samples, got {self.length}")
        if not 1 <= self.num_shards <= most:
            raise ArgumentError(
                f"reader: num_shards must be 1 to {most} for {self.length} samples, got {self.num_shards}"
            )
        if not 0 <= self.shard_id < self.num_shards:
            raise ArgumentError(f"reader: shard_id must be 0 to {self.num_shards - 1}, got {self.shard_id}")
        if not 0 <= self.seed < 2**64:
            raise ArgumentError(f"reader: seed must be 0 to 2**64 - 1, got {self.seed}")


def shard_bounds(order: OrderSettings, shards: int, left: int, epoch: int) -> tuple[int, int]:
    """Return the start and the end of this rank's shard among the samples left of an epoch."""
    shard = order.shard_id if order.stick_to_shard else (order.shard_id + epoch) % shards
    return left * shard // shards, left * (shard + 1) // shards


def _shard_sizes(left: int, shards: int) -> Ints:
    return np.diff(left * np.arange(shards + 1) // shards)


@lru_cache(maxsize=64)
def _tails(order: OrderSettings, position: Position, epoch: int) -> tuple[Ints, Ints]:
    """Return what each shard of the last entry has left of an epoch.

    Returns:
        The place of the first sample that each shard has left, and the cumulative number of samples left before each
        shard (one more entry than shards).
    """
    prior, shards, taken = position.split()
    sizes = _shard_sizes(samples_left(order, prior, epoch), shards)
    # `samples_before` counts by rank, `sizes` by shard: rank k reads shard (k + epoch) % shards.
    before = np.roll(samples_before(order, prior, shards, epoch), 0 if order.stick_to_shard else epoch % shards)
    used = sizes - 1 if taken == ALL_BUT_LAST else np.clip(taken - before, 0, sizes)
    return np.cumsum(sizes) - sizes + used, np.cumsum(np.append(0, sizes - used))


def samples_left(order: OrderSettings, position: Position, epoch: int) -> int:
    """Return how many samples of an epoch no rank has taken."""
    touched = position.history and epoch < epoch_span(order, position)[1]
    return int(_tails(order, position, epoch)[1][-1]) if touched else order.length


def numbers_at(order: OrderSettings, position: Position, epoch: int, places: Ints) -> Ints:
    """Map places among the samples left of an epoch to items of the dataset, or to numbers of `balanced_numbers`.

    Each entry of the history renumbered the samples that it left. Going back through the entries undoes that: a place
    among the samples left is a place in the tail of a shard, and so a place in what the entry before had left.
    """
    while position.history and epoch < epoch_span(order, position)[1]:
        first, total = _tails(order, position, epoch)
        shard = np.searchsorted(total, places, side="right") - 1
        places = first[shard] + places - total[shard]
        position = position.split()[0]
    if order.classes is not None:
        return balanced_numbers(places, order.classes, seed=order.seed, epoch=epoch, shuffle=order.shuffle)
    if not order.shuffle:
        return places
    if order.blocks is not None:
        return permute_blocks(places, order.blocks, epoch_key(order.seed, epoch))
    return permute(places, order.length, epoch_key(order.seed, epoch))


@lru_cache(maxsize=64)
def epoch_span(order: OrderSettings, position: Position) -> tuple[int, int]:
    """Return the first epoch with samples left, and the first epoch that nothing was taken from."""
    if order.pad_last_batch or not position.history:
        return position.epoch, position.epoch + (1 if position.history else 0)
    prior, shards, taken = position.split()
    cursors = [cursor(order, prior, shards, taken, rank) for rank in range(shards)]
    low, high = min(cursors)[0], max(epoch + (offset > 0) for epoch, offset in cursors)
    if high - low > _MAX_DRIFT:
        raise ArgumentError(
            f"reader state: ranks are {high - low} epochs apart; at most {_MAX_DRIFT} can be divided among new ranks"
        )
    return low, max(high, epoch_span(order, prior)[1])


@lru_cache(maxsize=16)
def _counts_in_span(order: OrderSettings, prior: Position, shards: int) -> Ints:
    """Return what `samples_before` returns, in one row for each epoch of the span of prior."""
    low, high = epoch_span(order, prior)
    rows = np.zeros((high - low + 1, shards), np.int64)
    for epoch in range(low, high):
        turn = 0 if order.stick_to_shard else -epoch % shards
        sizes = _shard_sizes(samples_left(order, prior, epoch), shards)
        rows[epoch - low + 1] = rows[epoch - low] + np.roll(sizes, turn)
    return rows


@lru_cache(maxsize=64)
def samples_before(order: OrderSettings, prior: Position, shards: int, epoch: int) -> Ints:
    """Return for each rank how many samples its order contains from prior on before an epoch.

    Epochs of the span of prior have irregular lengths and are added up. Later epochs are complete: a rank that rotates
    through the shards reads consecutive ones, so its samples telescope to a difference of two bounds.
    """
    low, high = epoch_span(order, prior)
    total: Ints = _counts_in_span(order, prior, shards)[max(min(epoch, high) - low, 0)]
    clean = max(epoch - high, 0)
    if order.stick_to_shard:
        return total + clean * _shard_sizes(order.length, shards)
    first = (np.arange(shards) + high) % shards
    return np.asarray(total + order.length * (first + clean) // shards - order.length * first // shards)


def cursor(order: OrderSettings, prior: Position, shards: int, taken: int, rank: int | None) -> tuple[int, int]:
    """Return the epoch of a rank's next sample and its offset in the shard; with None, of the slowest rank.

    An estimate from the average length of an epoch is off by a few epochs at most; the loops correct it.
    """
    if shards == 1 and not prior.history:  # the usual case, without arrays; the general code returns the same
        epochs, offset = divmod(taken, order.length)
        return prior.epoch + epochs, offset

    def before(epoch: int) -> int:
        counts = samples_before(order, prior, shards, epoch)
        return int(counts.max() if rank is None else counts[rank])

    low, high = epoch_span(order, prior)
    cycle = 1 if order.stick_to_shard else shards
    in_cycle = -(-order.length * cycle // shards) if rank is None else before(high + cycle) - before(high)
    epoch = high + max(taken - before(high), 0) * cycle // in_cycle
    while epoch > low and before(epoch) > taken:
        epoch -= 1
    while before(epoch + 1) <= taken:
        epoch += 1
    return epoch, taken - before(epoch)


def epoch_end(order: OrderSettings, prior: Position, shards: int, taken: int) -> int:
    """Return how many samples each rank has taken when the slowest one ends the epoch it is in."""
    if shards == 1 and not prior.history:
        return (taken // order.length + 1) * order.length
    return int(samples_before(order, prior, shards, cursor(order, prior, shards, taken, None)[0] + 1).max())
