"""The batches that a pipeline runs ahead, the positions of its readers and sources, and the state to resume from."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from pixelmill import _core
from pixelmill.engine.compile import Key, Plan, is_fetched
from pixelmill.engine.native import Array, Data, NativeEngine, Pending, Result, Samples
from pixelmill.engine.selection import Engine, EngineOptions, start_engine
from pixelmill.engine.worker_thread import signal_stop
from pixelmill.errors import ArgumentError, DataError, EngineError
from pixelmill.graph.nodes import DataNode
from pixelmill.pipeline.batch_in_progress import Scheduled
from pixelmill.pipeline.external_source import Feed, find_feed
from pixelmill.pipeline.reader_position import Position
from pixelmill.pipeline.recovery import Recovery
from pixelmill.pipeline.sampling import Batch, LastBatchPolicy, ReaderOrder, State, check_in_step, without_readers
from pixelmill.steps.sources import Reader

# What reads from stores is imported where it is used: it needs asyncio, and most programs start sooner without.
if TYPE_CHECKING:
    from pixelmill.pipeline.look_ahead import LookAhead


# Returns a plan for the graph with the layouts that the data of a source turned out to have.
Renamed: TypeAlias = Callable[[Feed], Plan]

# Starts an engine for a plan that was compiled with a seed.
NewEngine: TypeAlias = Callable[[Plan, int], Engine]


class Schedule:
    """The batches of a pipeline, in order.

    Batches are started ahead of the batch that the user takes next. Everything that is saved or restored therefore
    refers to `delivered`, the positions after the last batch that was taken, and not to the batches started since.

    Attributes:
        main: The number of the reader whose epochs count.
        policy: What to do with the last batch of an epoch.
        keep: How many samples of each following batch are used; None for all.
        padded: Whether all readers are treated as if they had `pad_last_batch`.
        orders: The orders of the readers.
        delivered: The positions of the readers after the last batch that was taken.
        last: That batch of the main reader; None before the first batch, and without readers.
        ends_epoch: Whether that batch was the last of its epoch.
        iterations: How many batches were taken.
        queue: The batches in progress, oldest first.
        stopped: Whether a source raised StopIteration.
        scheduled: How many batches `schedule_run` has started that were not taken yet.

    Args:
        plan: The compiled graph.
        feeds: Its external sources.
        seed: The seed of the orders.
        options: The options of the engine.
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
        self._finalizer: weakref.finalize[..., Schedule] | None = None
        self._new_engine: NewEngine = lambda plan, seed: start_engine(plan, options)
        self._fetches = True
        self._orphans: list[Engine | Pending | LookAhead] = []
        self._ahead: LookAhead | None = None
        self.replace(plan, feeds, seed=seed)

    def replace(self, plan: Plan, feeds: list[Feed], *, seed: int) -> None:
        """Start again from the beginning with another plan."""
        self.plan, self.feeds, self._seed = plan, feeds, seed
        self._open_source()
        self.orders = [self._order(reader) for reader in plan.readers]
        check_in_step(self.orders)
        self.start([Position()] * len(self.orders))

    def recompiled(self, plan: Plan) -> None:
        """Continue with a plan that has the same readers and sources."""
        self.plan = plan
        self._open_source()
        self.start(self.delivered)

    def feed_of(self, data_node: DataNode | str) -> Feed:
        """Find an external source by its node or its name."""
        return find_feed(self.feeds, data_node)

    def _order(self, reader: Reader) -> ReaderOrder:
        return ReaderOrder(
            length=reader.epoch_size,
            shuffle=reader.shuffle,
            seed=self._seed,
            num_shards=reader.num_shards,
            shard_id=reader.shard_id,
            stick_to_shard=reader.stick_to_shard,
            pad_last_batch=reader.pad_last_batch or self.padded,
            blocks=reader.blocks,
            classes=reader.classes,
            partner=reader.partner,
        )

    def start(self, positions: list[Position]) -> None:
        """Start a new engine at `positions`. Batches in progress are dropped."""
        self._start_engine()
        if self._ahead is not None:
            self._ahead.restart(positions)
        self._positions = self.delivered = positions
        self.queue: deque[Scheduled] = deque()
        self._unstarted: tuple[Samples, list[Position], Batch | None] | None = None
        self.stopped = False
        self.scheduled = 0

    def _start_engine(self) -> Engine:
        if self._engine is not None:
            self._engine.close()
        if self._finalizer is not None:
            self._finalizer.detach()
        self._engine = self._new_engine(self.plan, self._seed)
        if self._ahead is not None:
            self._engine = self._ahead.engine(self._engine)
        # A finalizer must not wait (see WorkerThread). It refers to the threads and not to the engine: functions of the
        # user in the graph may refer to the pipeline, so this would never be freed. Native threads end with the engine.
        self._finalizer = weakref.finalize(self, signal_stop, self._engine.threads)
        self._finalizer.atexit = False
        return self._engine

    def _open_source(self) -> None:
        """Start fetching for a new plan, if some of its files are at addresses."""
        if self._ahead is not None:
            self._ahead.source.fetcher.close()
        self._ahead = None
        if self._fetches and any(map(is_fetched, self.plan.ranges)):
            from pixelmill.pipeline.look_ahead import LookAhead

            self._ahead = LookAhead(self.plan, self._batch_size)

    @property
    def engine(self) -> Engine:
        """The engine that runs the batches."""
        return self._after_fork()

    def run_elsewhere(self, new_engine: NewEngine) -> None:
        """Continue on another engine, which fetches on its own. Batches in progress are dropped and started there."""
        if self.feeds and self.queue:
            raise EngineError("the pipeline has started batches already; set its workers before the first run")
        self._new_engine, self._fetches = new_engine, False
        self._open_source()
        self.start(self.delivered)

    def run_on(self, executor: _core.Executor) -> None:
        """Continue on native worker threads that the caller owns and closes."""
        threads, limits = self._options.threads, self._options.limits
        self._new_engine = lambda plan, seed: NativeEngine(plan, threads=threads, limits=limits, executor=executor)
        self.start(self.delivered)

    def close(self) -> None:
        """Stop the threads and wait for them."""
        if self._engine is not None:
            self._engine.close()
        if self._ahead is not None:
            self._ahead.source.fetcher.close()
        self.queue.clear()
        self._unstarted = None

    def _after_fork(self) -> Engine:
        """Return the engine. A forked child has none of its threads: start a new engine and the batches in progress."""
        assert self._engine is not None
        if not self._engine.forked():
            return self._engine
        # These are never freed: the parent's threads may have held their locks at the moment of the fork, and freeing
        # them could wait for such a lock forever.
        self._orphans += [self._engine, *(scheduled.pending for scheduled in self.queue)]
        if self._ahead is not None:
            self._orphans.append(self._ahead)
            self._open_source()
            self._ahead.restart(self._positions)
        engine = self._start_engine()
        for scheduled in self.queue:
            scheduled.pending = engine.submit(scheduled.samples)
        return engine

    def top_up(self, depth: int, before: Callable[[], None], renamed: Renamed) -> None:
        """Start batches until `depth` are in progress or a source stops; call `before` ahead of each."""
        self._after_fork()
        while len(self.queue) < depth and not self.stopped:
            try:
                if self._unstarted is None:
                    before()
                    if self.queue and any(feed.waiting for feed in self.feeds):
                        return
                    if self._waits():
                        break
                self._begin(renamed)
            except StopIteration:
                self.stopped = True
        self._look_ahead()

    def _waits(self) -> bool:
        if not self.queue or self._ahead is None:
            return False
        return self._ahead.waits_after(self.queue[-1].main, self.orders[self.main], self.policy)

    def begin_scheduled(self, renamed: Renamed) -> None:
        """Start one batch for `schedule_run`."""
        self._after_fork()
        self._begin(renamed)
        self.scheduled += 1
        self._look_ahead()

    def reset(self) -> None:
        """Start the next epoch of the sources after they stopped."""
        if self.stopped and not self.queue:
            self.stopped = False
            for feed in self.feeds:
                feed.reset()

    def _begin(self, renamed: Renamed) -> None:
        # A batch that cannot be started, for want of memory or threads, is not lost: the next call starts it.
        self._unstarted = self._unstarted or self._prepared(renamed)
        samples, positions, main = self._unstarted
        assert self._engine is not None
        self.queue.append(Scheduled(samples, self._engine.submit(samples), positions, main))
        self._unstarted = None

    def _prepared(self, renamed: Renamed) -> tuple[Samples, list[Position], Batch | None]:
        """Return the next batch of readers and sources, the positions after it, and the main reader's part."""
        self._look_ahead(is_next=True)
        size, inputs = self._take_inputs(renamed)
        batches = [
            order.batch(position, size, self.policy)
            for order, position in zip(self.orders, self._positions, strict=True)
        ]
        epochs, numbers, items = self._identified(size, batches)
        self._positions = [batch.following for batch in batches]
        main = batches[self.main] if batches else None
        seen = min(size if main is None else main.size, size if self.keep is None else next(self.keep))
        if seen < size:  # the iterator drops samples after the end of its epoch, so they need not be processed
            epochs, numbers, items = epochs[:seen], numbers[:seen], items[:seen]
            inputs = {key: data[:seen] for key, data in inputs.items()}
        return Samples(epochs, numbers, items, inputs), self._positions, main

    def _look_ahead(self, *, is_next: bool = False) -> None:
        if self._ahead is not None:
            epoch = int(self.queue[0].samples.epochs[0]) if self.queue else None
            self._ahead.announce(
                self.orders, self._positions, main=self.main, policy=self.policy, is_next=is_next, epoch=epoch
            )

    def _take_inputs(self, renamed: Renamed) -> tuple[int, dict[Key, Data]]:
        """Take a batch from every source; return its size and its data."""
        inputs: dict[Key, Data] = {}
        size = self._batch_size
        taken: list[tuple[Feed, list[Data]]] = []
        for feed in self.feeds:
            known = feed.layouts
            taken.append((feed, feed.take()))
            if feed.layouts != known:  # only the first batch of a source may have a layout, so none is in progress
                self.plan = renamed(feed)
                self._start_engine()
        for feed, values in taken:
            size = len(values[0])
            for key in self.plan.inputs:
                if key[0].source is feed.external:
                    inputs[key] = values[key[0].output]
        sizes = {len(data) for data in inputs.values()} | ({self._batch_size} if self.orders else set())
        if len(sizes) > 1:
            raise ArgumentError(
                f"all inputs of a batch must have the same number of samples (batch_size beside a reader), got "
                f"{sorted(sizes)}"
            )
        return size, inputs

    def _identified(
        self, size: int, batches: list[Batch]
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Return epoch, number and items of each sample: those of the first reader, or counted without readers."""
        if batches:
            alone = len(batches) == 1
            items = batches[0].items[:, None] if alone else np.stack([batch.items for batch in batches], axis=1)
            return batches[0].epochs, batches[0].numbers.astype(np.uint64), items
        first = self.feeds[0].iteration - 1 if self.feeds else self.iterations + len(self.queue)
        epochs, items = without_readers(size, self.feeds[0].epoch if self.feeds else 0)
        before = max(first, 0) * self._batch_size
        return epochs, np.arange(before, before + size, dtype=np.uint64), items

    def next(self, recovery: Recovery) -> tuple[Result, Array]:
        """Take the oldest batch; return it and which of its samples were not filled in. StopIteration if none is left.

        A batch that raises DataError stays in the queue, so that the next call delivers it with its bad samples
        replaced: a program that catches the error loses no good sample.
        """
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
            if resumed or not self.orders:  # it cannot be repaired, so the next call continues after it
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

    def use_epochs_of(self, main: int, policy: LastBatchPolicy, *, pad: bool) -> ReaderOrder:
        """Align batches with the epochs of one reader, from the next batch on; return its order.

        Args:
            main: The number of the reader.
            policy: What to do with the last batch of an epoch.
            pad: Treat all readers as if they had `pad_last_batch`, so that no batch extends into the next epoch.
        """
        pad = pad and not all(order.pad_last_batch for order in self.orders)
        if pad or (main, policy) != (self.main, self.policy):
            if self.feeds and self.queue:
                # Readers can go back to the last batch that was taken, but the data of sources is gone.
                raise EngineError("the pipeline has started batches already; create its iterator before the first run")
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
        """Skip the rest of the epoch: of the main reader, of readers of the same length, and of all sources."""
        self.go_to_epoch(self.epoch + 1)

    def go_to_epoch(self, epoch: int) -> None:
        """Go to the start of an epoch: of the main reader, of readers of the same length, and of all sources."""
        length = self.orders[self.main].length if self.orders else 0
        together = zip(self.orders, self.delivered, strict=True)
        self.start([Position(epoch) if order.length == length else place for order, place in together])
        for feed in self.feeds:
            feed.reset()
            if not self.orders:  # beside readers, sources count their own epochs
                feed.epoch = epoch

    @property
    def epoch(self) -> int:
        """The epoch of the batch after the last one that was taken."""
        if self.orders:
            return self.delivered[self.main].epoch
        return self.feeds[0].epoch if self.feeds else 0

    def _reader_states(self) -> list[State]:
        return [order.state_dict(place) for order, place in zip(self.orders, self.delivered, strict=True)]

    def state_dict(self) -> State:
        """Return the state after the last batch that was taken."""
        waiting = len(self.queue) + (self._unstarted is not None)
        return {
            "padded": self.padded,
            "iterations": self.iterations,
            "readers": self._reader_states(),
            "sources": [{"iteration": feed.iteration - waiting, "epoch": feed.epoch} for feed in self.feeds],
        }

    def load_state_dict(self, state: State) -> None:
        """Continue from a state that `state_dict` returned."""
        if state.get("padded") and not self.padded:
            self.pad()
        positions = [order.load_state_dict(s) for order, s in zip(self.orders, state["readers"], strict=True)]
        for feed, known in zip(self.feeds, state["sources"], strict=True):
            feed.iteration, feed.epoch = int(known["iteration"]), int(known["epoch"])
        self.iterations = int(state["iterations"])
        self.start(positions)
