"""Announces the batches to come to whatever fetches them: the order of an epoch is known, so every read is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pixelmill.engine.compile import Plan
from pixelmill.engine.fetching import FetchingEngine, ReadAhead
from pixelmill.engine.selection import Engine
from pixelmill.pipeline.block_order import windows_of
from pixelmill.pipeline.permutation import Ints, epoch_key
from pixelmill.pipeline.reader_position import Position
from pixelmill.pipeline.sampling import Batch, LastBatchPolicy, ReaderOrder, steps_per_epoch

_FEW_BATCHES = 20  # of an epoch; one of the next epoch is then more than a twentieth of the bytes


class LookAhead:
    """Announces batches up to the end of the epoch, but not those of the next one, which may never be wanted.

    Args:
        plan: The compiled graph, which has items that are fetched.
        batch_size: The number of samples in a batch.
    """

    def __init__(self, plan: Plan, batch_size: int) -> None:
        self.source = ReadAhead(plan)
        self._batch_size = batch_size
        self._has_blocks = any(reader.blocks is not None for reader in plan.readers)
        self._positions: list[Position] = []
        self._ends = False
        self._epoch = 0  # of the last batch that was announced

    def engine(self, engine: Engine) -> Engine:
        """Return an engine that starts batches on another one as soon as their bytes are there."""
        return FetchingEngine(engine, self.source)

    def waits_after(self, last: Batch | None, order: ReaderOrder, policy: LastBatchPolicy) -> bool:
        """Whether the batch after `last` is not started before it is wanted.

        It would fetch what may never be read: a window of blocks, or a batch of an epoch that has few of them. With a
        cache, the epoch before has left it there.

        Args:
            last: The batch of the main reader.
            order: The order of that reader.
            policy: What to do with the last batch of an epoch.
        """
        if last is None or not last.ends_epoch:
            return False
        if self._has_blocks:
            return True
        return not self.source.has_cache and steps_per_epoch(order, self._batch_size, policy) < _FEW_BATCHES

    def restart(self, positions: list[Position]) -> None:
        """Withdraw what was announced and continue at other positions."""
        self.source.forget()
        self._positions, self._ends, self._epoch = positions, False, 0

    def announce(
        self,
        orders: Sequence[ReaderOrder],
        positions: list[Position],
        *,
        main: int,
        policy: LastBatchPolicy,
        is_next: bool,
        epoch: int | None,
    ) -> None:
        """Announce more batches if less than three quarters of what is worth reading ahead is announced.

        Many are announced at once, so that their neighbors in a file can be read by one request, but not so many that
        their requests, and later their answers, take the processors from those that decode.

        Args:
            orders: The orders of the readers.
            positions: The positions of the readers after the last batch that was started.
            main: The number of the reader whose epochs count.
            policy: What to do with the last batch of an epoch.
            is_next: Whether the batch at `positions` is about to be started, even if it begins another epoch.
            epoch: The epoch of the batch that is delivered next; batches of later epochs are not announced before they
                are started. None if the next batch is about to be started.
        """
        if is_next and self.source.is_idle:
            self._positions, self._ends = positions, False
        if self._ends or not (self.source.is_low or (is_next and self.source.is_idle)):
            return
        if not is_next and epoch is not None and self._epoch > epoch:
            return
        while not self._ends and self.source.wants_more:
            steps = zip(orders, self._positions, strict=True)
            batches = [order.batch(place, self._batch_size, policy) for order, place in steps]
            self.source.expect(np.stack([batch.items for batch in batches], axis=1), _windows(orders, batches))
            self._positions = [batch.following for batch in batches]
            self._ends = batches[main].ends_epoch
            # Of a later epoch, only what was started is wanted for sure; of blocks, that is a window (a batch that
            # continues into the next epoch has some of it).
            self._epoch = int(batches[main].epochs[-1])
            is_later = epoch is not None and self._epoch > epoch
            if is_later and not self.source.holds_back:
                break
        self.source.send(is_end=self._ends)


def _windows(orders: Sequence[ReaderOrder], batches: Sequence[Batch]) -> Ints | None:
    """Return a number for the window of blocks of each sample; None without blocks."""
    for order, batch in zip(orders, batches, strict=True):
        if order.blocks is not None and order.shuffle:
            numbers = np.empty(len(batch.items), np.int64)
            for epoch in np.unique(batch.epochs):
                inside = batch.epochs == epoch
                windows = windows_of(batch.items[inside], order.blocks, epoch_key(order.seed, int(epoch)))
                numbers[inside] = int(epoch) * len(order.blocks.starts) + windows
            return numbers
    return None
