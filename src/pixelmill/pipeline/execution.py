"""The Pipeline itself: builds a graph, schedules batches, delivers them, and knows where it is."""

from __future__ import annotations

import json
import logging
import os
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import _core
from pixelmill.engine import foreign
from pixelmill.engine.compile import Key, Plan, compile_graph
from pixelmill.engine.native import Array, Data, NativeEngine, Pending, Result, Samples
from pixelmill.errors import ArgumentError, DataError, EngineError
from pixelmill.external_source import Feed
from pixelmill.graph import DataNode, OperatorNode, as_node
from pixelmill.operators.readers import Reader
from pixelmill.recovery import Errors, OnError, Recovery
from pixelmill.sampling import LastBatchPolicy, Position, ReaderOrder
from pixelmill.tensors import TensorListCPU
from pixelmill.types import Limits

log = logging.getLogger("pixelmill")

_core.set_foreign_decoder(foreign.decode)
_current: ContextVar[Pipeline | None] = ContextVar("pipeline", default=None)
_told_about_gpu = False


@dataclass(eq=False)
class _Scheduled:
    """A batch under way, and where the pipeline is behind it."""

    samples: Samples
    pending: Pending
    positions: list[Position]
    ends_epoch: bool
    raised: bool = False
    result: Result | None = None


class Pipeline:
    """A graph of operators that turns files or arrays into batches.

    The first arguments are those of DALI, in its order. Arguments about GPUs, streams and buffers are accepted and have
    no effect on the native engine.

    Args:
        batch_size: Samples in a batch.
        num_threads: Samples that are worked on at a time.
        device_id: The GPU to use; ignored where there is none.
        seed: What all random choices follow from; a new one each time when left out or negative.
        exec_pipelined: Accepted for compatibility.
        prefetch_queue_depth: Batches that are under way at a time.
        exec_async: Accepted for compatibility.
        bytes_per_sample: Accepted for compatibility.
        set_affinity: Accepted for compatibility.
        max_streams: Accepted for compatibility.
        default_cuda_stream_priority: Accepted for compatibility.
        enable_memory_stats: Accepted for compatibility.
        enable_checkpointing: Accepted for compatibility; checkpoints can always be taken.
        checkpoint: What `checkpoint()` gave, to go on from there.
        py_num_workers: Accepted for compatibility.
        py_start_method: Accepted for compatibility.
        py_callback_pickler: Accepted for compatibility.
        output_dtype: Types that the outputs must have.
        output_ndim: Numbers of axes that the outputs must have.
        output_layout: Names of axes that the outputs must have.
        exec_dynamic: Accepted for compatibility.
        experimental_exec_dynamic: Accepted for compatibility.
        stream_policy: Accepted for compatibility.
        concurrency: Accepted for compatibility.
        on_error: What to do with a bad sample: `"raise"`, `"skip"`, `"fill"`, or a callable that decides.
        max_errors: Bad samples that an epoch may have, a number or a share below 1; 100 or 0.1 % when left out.
        strict: Notes to be treated as errors, such as `"decoder_warning"` or `"extension_mismatch"`.
        limits: What a single input may cost.
        optimize: Whether to fuse operators; without it every operator runs by itself, with the same result.
        decode_scaling: Whether a JPEG that is shrunk may be decoded at a lower resolution.
    """

    def __init__(
        self,
        batch_size: int = -1,
        num_threads: int = -1,
        device_id: int | None = -1,
        seed: int | None = -1,
        exec_pipelined: bool = True,
        prefetch_queue_depth: int | dict[str, int] = 2,
        exec_async: bool = True,
        bytes_per_sample: int = 0,
        set_affinity: bool = False,
        max_streams: int | None = None,
        default_cuda_stream_priority: int | None = None,
        *,
        enable_memory_stats: bool = False,
        enable_checkpointing: bool = False,
        checkpoint: bytes | None = None,
        py_num_workers: int = 1,
        py_start_method: str = "fork",
        py_callback_pickler: Any = None,
        output_dtype: Any = None,
        output_ndim: Any = None,
        output_layout: Any = None,
        exec_dynamic: bool | None = None,
        experimental_exec_dynamic: bool | None = None,
        stream_policy: Any = None,
        concurrency: Any = None,
        on_error: OnError = "raise",
        max_errors: int | float | None = None,
        strict: Sequence[str] = (),
        limits: Limits | None = None,
        optimize: bool = True,
        decode_scaling: bool = True,
    ) -> None:
        depth = prefetch_queue_depth
        if isinstance(depth, dict):
            depth = max(depth.values())
        if depth < 1:
            raise ArgumentError(f"Pipeline: prefetch_queue_depth must be at least 1, got {prefetch_queue_depth}")
        self._batch_size = batch_size
        self._num_threads = num_threads
        self._device_id = device_id
        self._seed_given = seed is not None and seed >= 0
        self._seed = int(seed or 0) if self._seed_given else int.from_bytes(os.urandom(6), "little")
        self._depth = depth
        self._py_num_workers = py_num_workers
        self._recovery = Recovery(on_error, max_errors, strict)
        self._limits = limits or Limits()
        self._rules = {"optimize": optimize, "decode_scaling": decode_scaling}
        self._expected = {"dtype": output_dtype, "ndim": output_ndim, "layout": output_layout}
        self._checkpoint = checkpoint
        self._policy = LastBatchPolicy.FILL
        self._main = 0
        self._keep: Iterator[int] | None = None
        self._padded = False
        self._outputs: list[DataNode] | None = None
        self._tokens: list[Token[Pipeline | None]] = []
        self._engine: NativeEngine | None = None
        self._closed = False
        self._finalizer: Any = None
        self._valid: Array = np.ones(0, bool)
        self._iterations = 0
        self._restored = False
        self._iterator_state: dict[str, Any] = {}
        self._orphans: list[NativeEngine | Pending] = []

    # Building

    def define_graph(self) -> Any:
        """Give the outputs of the graph. To be written by subclasses that do not use `set_outputs`."""
        raise EngineError("the pipeline has no graph: define_graph is not written and set_outputs was not called")

    def set_outputs(self, *outputs: Any) -> None:
        """Say which values the pipeline gives."""
        if self._engine is not None:
            raise EngineError("set_outputs: the pipeline is built already")
        flat = [node for value in outputs for node in (value if isinstance(value, (list, tuple)) else [value])]
        self._outputs = [as_node(value) for value in flat]

    def __enter__(self) -> Pipeline:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._tokens.pop())

    @staticmethod
    def current() -> Pipeline | None:
        """Give the pipeline whose `with` block is being run."""
        return _current.get()

    def build(self) -> None:
        """Check and compile the graph. The first run does it where nobody else did."""
        if self._engine is not None:
            return
        if self._batch_size < 1:
            raise ArgumentError(f"Pipeline: batch_size must be at least 1, got {self._batch_size}")
        if self._num_threads < 1:
            raise ArgumentError(f"Pipeline: num_threads must be at least 1, got {self._num_threads}")
        if self._outputs is None:
            with self:
                defined = self.define_graph()
            self.set_outputs(*(defined if isinstance(defined, (list, tuple)) else [defined]))
        nodes = self._outputs or []
        if not nodes:
            raise ArgumentError("Pipeline: the graph has no outputs")
        self._nodes = _operators(nodes)
        _tell_about_gpu(nodes, self._nodes)
        self._compile()
        if self._checkpoint is not None:
            self.load_state_dict(json.loads(self._checkpoint))

    def _compile(self) -> None:
        nodes = self._outputs or []
        self._plan = compile_graph([node.expr for node in nodes], seed=self._seed, **self._rules)
        self._orders = [self._order(number) for number in range(len(self._plan.readers))]
        self._feeds = self._make_feeds(self._plan)
        self._start([Position()] * len(self._orders))

    def _order(self, number: int) -> ReaderOrder:
        reader = self._plan.readers[number]
        return ReaderOrder(
            length=len(reader.index),
            shuffle=reader.shuffle,
            seed=self._seed,
            num_shards=reader.num_shards,
            shard_id=reader.shard_id,
            stick_to_shard=reader.stick_to_shard,
            pad_last_batch=reader.pad_last_batch or self._padded,
        )

    def _pad(self) -> None:
        """Treat all readers as if they had `pad_last_batch`: no batch of an epoch reaches into the next."""
        self._padded = True
        self._orders = [self._order(number) for number in range(len(self._orders))]

    def _make_feeds(self, plan: Plan) -> list[Feed]:
        names = {}
        for node in self._nodes:
            for step in {expr.step for expr in node.exprs if expr.step.kind == "input"}:
                names[step.params["source"]] = node.name
        return [Feed(source, names[source], self._batch_size) for source in plan.sources]

    def _start(self, positions: list[Position]) -> None:
        """Make the threads, and stand at `positions`."""
        self._make_engine()
        self._positions = self._delivered = positions
        self._queue: deque[_Scheduled] = deque()
        self._stopped = False
        self._scheduled_alone = 0

    def _make_engine(self) -> NativeEngine:
        if self._engine is not None:
            self._engine.close()
            self._finalizer.detach()
        self._engine = NativeEngine(self._plan, threads=self._num_threads, limits=self._limits)
        self._finalizer = weakref.finalize(self, self._engine.close)
        return self._engine

    def _after_fork(self) -> None:
        """In a child process: begin the batches under way anew, as the threads that worked on them are the parent's."""
        if self._engine is None or not self._engine.forked():
            return
        # Kept, because the parent's threads may have held their locks in the moment of the fork.
        self._orphans += [self._engine, *(scheduled.pending for scheduled in self._queue)]
        engine = self._make_engine()
        for scheduled in self._queue:
            scheduled.pending = engine.submit(scheduled.samples)

    # Feeding

    def iter_setup(self) -> None:
        """Feed inputs before a batch is begun. To be written by subclasses; StopIteration ends the epoch."""

    def feed_input(self, data_node: DataNode | str, data: Any, layout: str | None = None) -> None:
        """Hand a batch to an `external_source` that has no source.

        Args:
            data_node: The node, or its name.
            data: An array with the samples along its first axis, or a list of arrays.
            layout: Names of the axes of a sample; those given to `external_source` count where this is left out.
        """
        self.build()
        self._feed_of(data_node).feed(data, layout)

    def _feed_of(self, data_node: DataNode | str) -> Feed:
        for feed in self._feeds:
            if isinstance(data_node, str):
                found = feed.name == data_node
            else:
                found = data_node.expr.step.params.get("source") is feed.external
            if found:
                return feed
        name = data_node if isinstance(data_node, str) else data_node.name
        known = ", ".join(repr(feed.name) for feed in self._feeds) or "none"
        raise ArgumentError(f"feed_input: {name!r} is not an external_source of this pipeline; there are: {known}")

    # Running

    def run(self, **inputs: Any) -> tuple[TensorListCPU, ...]:
        """Give the next batch, one TensorList for each output.

        Args:
            inputs: Batches for external sources by name, as `feed_input` takes them.
        """
        self.build()
        self._check_open()
        if self._scheduled_alone:
            raise EngineError("run: batches were begun by schedule_run; take them by share_outputs or outputs")
        for name, data in inputs.items():
            self.feed_input(name, data)
        self._top_up()
        return self._next()

    def schedule_run(self) -> None:
        """Begin a batch, to be taken by `share_outputs`."""
        self.build()
        self._check_open()
        self._after_fork()
        self._schedule()
        self._scheduled_alone += 1

    def share_outputs(self) -> tuple[TensorListCPU, ...]:
        """Take the oldest batch that was begun."""
        self._after_fork()
        self._scheduled_alone = max(self._scheduled_alone - 1, 0)
        return self._next()

    def release_outputs(self) -> None:
        """Say that the last batch is not needed any more; it belongs to whoever holds it."""

    def outputs(self) -> tuple[TensorListCPU, ...]:
        """Take the oldest batch that was begun."""
        return self.share_outputs()

    def reset(self) -> None:
        """Begin the next epoch of the sources after StopIteration."""
        if self._stopped and not self._queue:
            self._stopped = False
            for feed in self._feeds:
                feed.reset()

    def _top_up(self) -> None:
        self._after_fork()
        while len(self._queue) < self._depth and not self._stopped:
            try:
                self.iter_setup()
                if self._queue and any(feed.waiting for feed in self._feeds):
                    return
                self._schedule()
            except StopIteration:
                self._stopped = True

    def _schedule(self) -> None:
        inputs: dict[Key, Data] = {}
        size = self._batch_size
        for feed in self._feeds:
            values = feed.take()
            size = len(values[0])
            for key in self._plan.inputs:
                if key[0].params["source"] is feed.external:
                    inputs[key] = values[key[0].params["output"]]
        if len({len(data) for data in inputs.values()} | ({self._batch_size} if self._orders else set())) > 1:
            raise ArgumentError("the inputs of this batch have different numbers of samples")
        batches = [
            order.batch(position, size, self._policy)
            for order, position in zip(self._orders, self._positions, strict=True)
        ]
        if batches:
            epochs, numbers = batches[0].epochs, batches[0].items.astype(np.uint64)
            items = np.stack([batch.items for batch in batches], axis=1)
        else:
            first = self._feeds[0].iteration - 1 if self._feeds else self._iterations + len(self._queue)
            numbers = np.arange(size, dtype=np.uint64) + np.uint64(max(first, 0) * self._batch_size)
            epochs = np.full(size, self._feeds[0].epoch if self._feeds else 0, np.uint32)
            items = np.empty((size, 0), np.int64)
        self._positions = [batch.following for batch in batches]
        main = batches[self._main] if batches else None
        seen = min(size if main is None else main.size, size if self._keep is None else next(self._keep))
        if seen < size:  # the iterator cuts off what is behind the end of its epoch, so nobody has to work on it
            epochs, numbers, items = epochs[:seen], numbers[:seen], items[:seen]
            inputs = {key: data[:seen] for key, data in inputs.items()}
        samples = Samples(epochs, numbers, items, inputs)
        assert self._engine is not None
        ends = main is not None and main.ends_epoch
        self._queue.append(_Scheduled(samples, self._engine.submit(samples), self._positions, ends_epoch=ends))

    def _next(self) -> tuple[TensorListCPU, ...]:
        if not self._queue:
            raise StopIteration
        scheduled = self._queue[0]
        if scheduled.result is None:
            scheduled.result = scheduled.pending.result()
        assert self._engine is not None
        resumed, scheduled.raised = scheduled.raised, True
        try:
            result, self._valid = self._recovery.settle(
                scheduled.result, scheduled.samples, self._engine, self._orders, resumed=resumed
            )
        except DataError:
            if resumed or not self._orders:  # it cannot be mended, so the next call goes on behind it
                self._deliver()
            raise
        self._deliver()
        lists = tuple(_named(data, layout) for data, layout in zip(result.outputs, self._layouts(), strict=True))
        self._check(lists)
        return lists

    def _deliver(self) -> None:
        scheduled = self._queue.popleft()
        self._delivered = scheduled.positions
        self._iterations += 1
        self._ends_epoch = scheduled.ends_epoch

    def _layouts(self) -> Iterator[str]:
        fed = {feed.external: feed.layout for feed in self._feeds if feed.layout}
        for (step, _), layout in zip(self._plan.outputs, self._plan.layouts, strict=True):
            yield layout or (fed.get(step.params["source"], "") if step.kind == "input" else "")

    def _check(self, lists: tuple[TensorListCPU, ...]) -> None:
        for what, wanted in self._expected.items():
            if wanted is None:
                continue
            each = wanted if isinstance(wanted, (list, tuple)) else [wanted] * len(lists)
            for number, (expected, batch) in enumerate(zip(each, lists, strict=True)):
                got = batch.dtype if what == "dtype" else getattr(batch, what)()
                if expected is not None and got != expected:
                    raise EngineError(f"output {number}: {what} {expected} was declared, but it is {got}")

    # Knowing

    def epoch_size(self, name: str | None = None) -> Any:
        """Give the number of samples of a reader, padding included; of all readers by name when none is given."""
        sizes = {key: meta["epoch_size_padded"] for key, meta in self._metas().items()}
        return sizes if name is None else self._named(sizes, name)

    def reader_meta(self, name: str | None = None) -> Any:
        """Give what is known about a reader; about all by name when none is given."""
        return self._metas() if name is None else self._named(self._metas(), name)

    @staticmethod
    def _named(values: dict[str, Any], name: str) -> Any:
        if name not in values:
            raise ArgumentError(f"there is no reader {name!r}; there are: {', '.join(map(repr, values)) or 'none'}")
        return values[name]

    def _metas(self) -> dict[str, dict[str, int]]:
        self.build()
        metas = {}
        for name, reader in self._readers().items():
            length, shards = len(reader.index), reader.num_shards
            padded = -(-length // shards) * shards if reader.pad_last_batch else length
            metas[name] = {
                "epoch_size": length,
                "epoch_size_padded": padded,
                "number_of_shards": shards,
                "shard_id": reader.shard_id,
                "pad_last_batch": int(reader.pad_last_batch),
                "stick_to_shard": int(reader.stick_to_shard),
            }
        return metas

    def _readers(self) -> dict[str, Reader]:
        return {
            node.name: expr.step.params["reader"]
            for node in self._nodes
            for expr in node.exprs
            if "reader" in expr.step.params
        }

    @property
    def errors(self) -> Errors:
        """What happened to samples so far."""
        return self._recovery.errors

    @property
    def valid(self) -> Array:
        """Which samples of the last batch are themselves, and not filled in for bad ones."""
        return self._valid

    # Going on later

    def state_dict(self) -> dict[str, Any]:
        """Give the place behind the last batch that was delivered, as JSON data under 1 KB for each reader."""
        self.build()
        readers = [order.state_dict(p) for order, p in zip(self._orders, self._delivered, strict=True)]
        feeds = [{"iteration": feed.iteration - len(self._queue), "epoch": feed.epoch} for feed in self._feeds]
        return {
            "version": 1,
            "seed": self._seed,
            "padded": self._padded,
            "iterations": self._iterations,
            "readers": readers,
            "sources": feeds,
            "iterator": self._iterator_state,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place that `state_dict` gave, with any number of threads, batch size or number of shards."""
        self.build()
        if not isinstance(state, dict) or state.get("version") != 1:
            raise ArgumentError(f"load_state_dict: expected a state of version 1, got {str(state)[:80]}")
        if len(state["readers"]) != len(self._orders) or len(state["sources"]) != len(self._feeds):
            raise ArgumentError("load_state_dict: the state belongs to a pipeline with other readers or sources")
        if state["seed"] != self._seed:
            if self._seed_given:
                raise ArgumentError(f"load_state_dict: the seed was {state['seed']}, now it is {self._seed}")
            self._seed = int(state["seed"])
            self._compile()
        if state.get("padded") and not self._padded:
            self._pad()
        positions = [order.load_state_dict(s) for order, s in zip(self._orders, state["readers"], strict=True)]
        for feed, known in zip(self._feeds, state["sources"], strict=True):
            feed.iteration, feed.epoch = int(known["iteration"]), int(known["epoch"])
        self._iterations = int(state["iterations"])
        self._iterator_state = dict(state["iterator"])
        self._restored = True
        self._start(positions)

    def checkpoint(self, filename: str | None = None) -> bytes:
        """Give the state as bytes, to be handed to a new pipeline as `checkpoint=`; also write it to a file."""
        data = json.dumps(self.state_dict()).encode()
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    def close(self) -> None:
        """Stop the threads now instead of when the pipeline is thrown away."""
        self._closed = True
        if self._engine is not None:
            self._engine.close()
            self._queue.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise EngineError("the pipeline was closed; make a new one")

    max_batch_size = property(lambda self: self._batch_size, doc="Samples in a batch.")
    batch_size = property(lambda self: self._batch_size, doc="Samples in a batch.")
    num_threads = property(lambda self: self._num_threads, doc="Samples that are worked on at a time.")
    device_id = property(lambda self: self._device_id, doc="The GPU that was asked for.")
    seed = property(lambda self: self._seed, doc="What all random choices follow from.")
    prefetch_queue_depth = property(lambda self: self._depth, doc="Batches that are under way at a time.")
    py_num_workers = property(lambda self: self._py_num_workers, doc="Accepted for compatibility.")
    exec_pipelined = property(lambda self: True, doc="Batches overlap.")
    exec_async = property(lambda self: True, doc="Batches are made while others are used.")
    is_restored_from_checkpoint = property(lambda self: self._restored, doc="Whether a state was loaded.")

    @property
    def num_outputs(self) -> int:
        """How many values the pipeline gives."""
        self.build()
        return len(self._plan.outputs)


def _named(data: Data, layout: str) -> TensorListCPU:
    """Name the axes of a batch, unless it has another number of them than the graph made believe."""
    return TensorListCPU(data, layout if len(data) > 0 and len(layout) == data[0].ndim else "")


def _operators(outputs: Sequence[DataNode]) -> list[OperatorNode]:
    """List the operators of a graph in the order of their creation."""
    seen: dict[OperatorNode, None] = {}
    todo = [node.operator for node in outputs if node.operator is not None]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen[node] = None
        for value in (*node.inputs, *node.arguments.values()):
            if isinstance(value, DataNode) and value.operator is not None:
                todo.append(value.operator)
    return sorted(seen, key=lambda node: node.number)


def _tell_about_gpu(outputs: Sequence[DataNode], nodes: Sequence[OperatorNode]) -> None:
    global _told_about_gpu
    wanted = any(node.device != "cpu" for node in nodes) or any(node.device == "gpu" for node in outputs)
    if wanted and not _told_about_gpu:
        _told_about_gpu = True
        log.warning(
            "pixelmill: the pipeline asks for a GPU; the native engine runs it on the CPU, with the same results"
        )
