"""What a pipeline runs ahead: batches under way, the walk of readers and sources, and the place that was reached."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from pixelmill.engine.compile import Key, Plan
from pixelmill.engine.native import Array, Data, Pending, Result, Samples
from pixelmill.engine.selection import Engine, EngineOptions, start_engine
from pixelmill.engine.worker_thread import signal_stop
from pixelmill.errors import ArgumentError, DataError, EngineError
from pixelmill.graph.nodes import DataNode
from pixelmill.pipeline.external_source import Feed
from pixelmill.pipeline.recovery import Recovery
from pixelmill.pipeline.sampling import Batch, LastBatchPolicy, Position, ReaderOrder
from pixelmill.steps.sources import ExternalInput, Reader


@dataclass(eq=False)
class Scheduled:
    """A batch under way, and where the readers are behind it."""

    samples: Samples
    pending: Pending
    positions: list[Position]
    main: Batch | None
    raised: bool = False
    result: Result | None = None


class Schedule:
    """The batches of a pipeline, in their order.

    Attributes:
        main: The number of the reader whose epochs count.
        policy: What is done with the last batch of an epoch.
        keep: How many samples of each batch to come are wanted; all when it is None.
        padded: Whether all readers are treated as if they had `pad_last_batch`.
        orders: The orders of the readers.
        delivered: Where the readers are behind the last batch that was taken.
        last: What the main reader had in that batch; None before the first one, and without readers.
        ends_epoch: Whether that batch was the last of its epoch.
        iterations: How many batches were taken.

    Args:
        plan: The compiled graph.
        feeds: Its external sources.
        seed: What the orders follow from.
        options: What engines are started with.
    """

    def __init__(self, plan: Plan, feeds: list[Feed], *, seed: int, options: EngineOptions) -> None:
        self.main = 0
        self.policy = LastBatchPolicy.FILL
        self.keep: Iterator[int] | None = None
        self.padded = False
        self.last: Batch | None = None
        self.ends_epoch = False
        self.iterations = 0
        self._batch_size = options.batch_size
        self._options = options
        self._engine: Engine | None = None
        self._finalizer: Any = None
        self._orphans: list[Engine | Pending] = []
        self.replace(plan, feeds, seed=seed)

    def replace(self, plan: Plan, feeds: list[Feed], *, seed: int) -> None:
        """Go by another plan, from the beginning on."""
        self.plan, self.feeds, self._seed = plan, feeds, seed
        self.orders = [self._order(reader) for reader in plan.readers]
        self.start([Position()] * len(self.orders))

    def recompiled(self, plan: Plan) -> None:
        """Go on by a plan with the same readers and sources."""
        self.plan = plan
        self.start(self.delivered)

    def feed_of(self, data_node: DataNode | str) -> Feed:
        """Find an external source by its node or its name."""
        for feed in self.feeds:
            if isinstance(data_node, str):
                found = feed.name == data_node
            else:
                made = data_node.expr.step
                found = isinstance(made, ExternalInput) and made.source is feed.external
            if found:
                return feed
        name = data_node if isinstance(data_node, str) else data_node.name
        known = ", ".join(repr(feed.name) for feed in self.feeds) or "none"
        raise ArgumentError(f"feed_input: {name!r} is not an external_source of this pipeline; there are: {known}")

    def _order(self, reader: Reader) -> ReaderOrder:
        return ReaderOrder(
            length=len(reader.index),
            shuffle=reader.shuffle,
            seed=self._seed,
            num_shards=reader.num_shards,
            shard_id=reader.shard_id,
            stick_to_shard=reader.stick_to_shard,
            pad_last_batch=reader.pad_last_batch or self.padded,
        )

    def start(self, positions: list[Position]) -> None:
        """Make the threads, and stand at `positions`."""
        self._make_engine()
        self._positions = self.delivered = positions
        self.queue: deque[Scheduled] = deque()
        self.stopped = False
        self.scheduled = 0

    def _make_engine(self) -> Engine:
        if self._engine is not None:
            self._engine.close()
            self._finalizer.detach()
        self._engine = start_engine(self.plan, self._options)
        # It must not wait (see WorkerThread). It holds the threads and not the engine, whose functions may refer to the
        # pipeline, and so to this. Native threads end with the engine.
        self._finalizer = weakref.finalize(self, signal_stop, self._engine.threads)
        self._finalizer.atexit = False
        return self._engine

    def close(self) -> None:
        """Stop the threads and wait for them."""
        if self._engine is not None:
            self._engine.close()
        self.queue.clear()

    def _after_fork(self) -> Engine:
        """In a child process: begin the batches under way anew, as the threads that worked on them are the parent's."""
        assert self._engine is not None
        if not self._engine.forked():
            return self._engine
        # Kept, because the parent's threads may have held their locks in the moment of the fork.
        self._orphans += [self._engine, *(scheduled.pending for scheduled in self.queue)]
        engine = self._make_engine()
        for scheduled in self.queue:
            scheduled.pending = engine.submit(scheduled.samples)
        return engine

    # Beginning batches

    def top_up(self, depth: int, before: Callable[[], None]) -> None:
        """Begin batches until `depth` are under way, or a source stops; call `before` ahead of each."""
        self._after_fork()
        while len(self.queue) < depth and not self.stopped:
            try:
                before()
                if self.queue and any(feed.waiting for feed in self.feeds):
                    return
                self._begin()
            except StopIteration:
                self.stopped = True

    def begin_scheduled(self) -> None:
        """Begin one batch that nobody waits for yet."""
        self._after_fork()
        self._begin()
        self.scheduled += 1

    def reset(self) -> None:
        """Begin the next epoch of the sources after they stopped."""
        if self.stopped and not self.queue:
            self.stopped = False
            for feed in self.feeds:
                feed.reset()

    def _begin(self) -> None:
        size, inputs = self._taken()
        batches = [
            order.batch(position, size, self.policy)
            for order, position in zip(self.orders, self._positions, strict=True)
        ]
        epochs, numbers, items = self._identified(size, batches)
        self._positions = [batch.following for batch in batches]
        main = batches[self.main] if batches else None
        seen = min(size if main is None else main.size, size if self.keep is None else next(self.keep))
        if seen < size:  # the iterator cuts off what is behind the end of its epoch, so nobody has to work on it
            epochs, numbers, items = epochs[:seen], numbers[:seen], items[:seen]
            inputs = {key: data[:seen] for key, data in inputs.items()}
        samples = Samples(epochs, numbers, items, inputs)
        assert self._engine is not None
        self.queue.append(Scheduled(samples, self._engine.submit(samples), self._positions, main))

    def _taken(self) -> tuple[int, dict[Key, Data]]:
        """Take a batch from every source; give its size as well."""
        inputs: dict[Key, Data] = {}
        size = self._batch_size
        for feed in self.feeds:
            values = feed.take()
            size = len(values[0])
            for key in self.plan.inputs:
                if key[0].source is feed.external:
                    inputs[key] = values[key[0].output]
        if len({len(data) for data in inputs.values()} | ({self._batch_size} if self.orders else set())) > 1:
            raise ArgumentError("the inputs of this batch have different numbers of samples")
        return size, inputs

    def _identified(
        self, size: int, batches: list[Batch]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Give epoch, number and items of each sample: those of the first reader, or counted where there is none."""
        if batches:
            alone = len(batches) == 1
            items = batches[0].items[:, None] if alone else np.stack([batch.items for batch in batches], axis=1)
            return batches[0].epochs, batches[0].items.astype(np.uint64), items
        first = self.feeds[0].iteration - 1 if self.feeds else self.iterations + len(self.queue)
        epochs, items = _without_readers(size, self.feeds[0].epoch if self.feeds else 0)
        before = max(first, 0) * self._batch_size
        return epochs, np.arange(before, before + size, dtype=np.uint64), items

    # Taking them

    def next(self, recovery: Recovery) -> tuple[Result, Array]:
        """Take the oldest batch, and tell which of its samples are themselves. StopIteration where there is none."""
        engine = self._after_fork()
        if not self.queue:
            raise StopIteration
        scheduled = self.queue[0]
        if scheduled.result is None:
            scheduled.result = scheduled.pending.result()
        resumed, scheduled.raised = scheduled.raised, True
        try:
            settled = recovery.settle(scheduled.result, scheduled.samples, engine, self.orders, resumed=resumed)
        except DataError:
            if resumed or not self.orders:  # it cannot be mended, so the next call goes on behind it
                self._deliver()
            raise
        self._deliver()
        return settled

    def _deliver(self) -> None:
        scheduled = self.queue.popleft()
        self.delivered = scheduled.positions
        self.iterations += 1
        self.last = scheduled.main
        self.ends_epoch = scheduled.main is not None and scheduled.main.ends_epoch

    # Epochs, and going on later

    def follow(self, main: int, policy: LastBatchPolicy, *, pad: bool) -> ReaderOrder:
        """Lay batches out by the epochs of one reader, from the next batch on; give its order.

        Args:
            main: The number of the reader.
            policy: What to do with the last batch of an epoch.
            pad: Treat all readers as if they had `pad_last_batch`, so that no batch reaches into the next epoch.
        """
        pad = pad and not all(order.pad_last_batch for order in self.orders)
        if pad or (main, policy) != (self.main, self.policy):
            if self.feeds and self.queue:
                raise EngineError("the pipeline has begun batches already; make its iterator before the first run")
            states = self._reader_states()
            if pad:
                self.pad()
                states = [{**state, "pad_last_batch": True} for state in states]
            self.main, self.policy, self.keep = main, policy, None
            self.start([order.load_state_dict(state) for order, state in zip(self.orders, states, strict=True)])
        return self.orders[main]

    def pad(self) -> None:
        """Treat all readers as if they had `pad_last_batch`."""
        self.padded = True
        self.orders = [self._order(reader) for reader in self.plan.readers]

    def skip_epoch(self) -> None:
        """Leave out the rest of the epoch: of the main reader and those as long as it, and of all sources."""
        self.go_to_epoch(self.epoch + 1)

    def go_to_epoch(self, epoch: int) -> None:
        """Stand at the beginning of an epoch: of the main reader and those as long as it, and of all sources."""
        length = self.orders[self.main].length if self.orders else 0
        together = zip(self.orders, self.delivered, strict=True)
        self.start([Position(epoch) if order.length == length else place for order, place in together])
        for feed in self.feeds:
            feed.reset()
            if not self.orders:  # beside readers sources count for themselves
                feed.epoch = epoch

    @property
    def epoch(self) -> int:
        """The epoch of the next batch behind the last one that was taken."""
        if self.orders:
            return self.delivered[self.main].epoch
        return self.feeds[0].epoch if self.feeds else 0

    def _reader_states(self) -> list[dict[str, Any]]:
        return [order.state_dict(place) for order, place in zip(self.orders, self.delivered, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """Give the place behind the last batch that was taken."""
        return {
            "padded": self.padded,
            "iterations": self.iterations,
            "readers": self._reader_states(),
            "sources": [{"iteration": feed.iteration - len(self.queue), "epoch": feed.epoch} for feed in self.feeds],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place that `state_dict` gave."""
        if state.get("padded") and not self.padded:
            self.pad()
        positions = [order.load_state_dict(s) for order, s in zip(self.orders, state["readers"], strict=True)]
        for feed, known in zip(self.feeds, state["sources"], strict=True):
            feed.iteration, feed.epoch = int(known["iteration"]), int(known["epoch"])
        self.iterations = int(state["iterations"])
        self.start(positions)


@lru_cache(8)
def _without_readers(size: int, epoch: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """Give the epoch of each sample of a batch, and its items, of which there are none without readers."""
    arrays = np.full(size, epoch, np.uint32), np.empty((size, 0), np.int64)
    for array in arrays:
        array.flags.writeable = False  # many batches share them
    return arrays
