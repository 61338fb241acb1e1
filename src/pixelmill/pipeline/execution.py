"""The Pipeline itself: builds a graph, runs it, and names what comes out."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Sequence
from contextvars import ContextVar, Token
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill.engine import choice
from pixelmill.engine import foreign as foreign  # installs the decoder for the formats that Pillow reads
from pixelmill.engine.compile import Plan, compile_graph
from pixelmill.engine.native import Array
from pixelmill.engine.worker_thread import CLOSED
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.graph.nodes import DataNode, as_node, operators_of, relowered
from pixelmill.pipeline.external_source import Feed
from pixelmill.pipeline.older_calls import OlderCalls, saved_options
from pixelmill.pipeline.outputs import Expected, with_layout
from pixelmill.pipeline.recovery import Errors, OnError, Recovery
from pixelmill.pipeline.schedule import Schedule
from pixelmill.steps.sources import ExternalInput, Reader, reader_of
from pixelmill.tensors import TensorListCPU
from pixelmill.types import Limits

_current: ContextVar[Pipeline | None] = ContextVar("pipeline", default=None)


class Pipeline(OlderCalls):
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
        py_num_workers: How many worker processes run the sources of `external_source(parallel=True)`.
        py_start_method: How they are started: `"fork"`, `"spawn"` or `"forkserver"`.
        py_callback_pickler: Accepted for compatibility; `multiprocessing` passes the sources.
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
        engine: `"native"`, `"dali"`, or `"auto"`: DALI where the graph asks for a GPU and there is one. The environment
            variable PIXELMILL_ENGINE says what `"auto"` means.
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
        engine: choice.EngineName = "auto",
    ) -> None:
        depths = prefetch_queue_depth
        depth = max(depths.values()) if isinstance(depths, dict) else depths
        if depth < 1:
            raise ArgumentError(f"Pipeline: prefetch_queue_depth must be at least 1, got {prefetch_queue_depth}")
        self._saved_options = saved_options(locals())
        self._batch_size = batch_size
        self._num_threads = num_threads
        self._device_id = device_id
        self._seed_given = seed is not None and seed >= 0
        self._seed = int(seed or 0) if self._seed_given else _drawn_seed()
        self._depth = depth
        self._py_num_workers, self._py_start_method = py_num_workers, py_start_method
        self._recovery = Recovery(on_error, max_errors, strict)
        self._limits = limits or Limits()
        self._rules: dict[str, Any] = {"optimize": optimize, "decode_scaling": decode_scaling}
        self._engine_name = engine
        self._expected = Expected(output_dtype, output_ndim, output_layout)
        self._checkpoint = checkpoint
        self._outputs: list[DataNode] | None = None
        self._tokens: list[Token[Pipeline | None]] = []
        self._schedule: Schedule | None = None
        self._closed = self._restored = False
        self._valid: Array = np.ones(0, bool)
        self._iterator_state: dict[str, Any] = {}

    # Building

    def define_graph(self) -> Any:
        """Give the outputs of the graph. To be written by subclasses that do not use `set_outputs`."""
        raise EngineError("the pipeline has no graph: define_graph is not written and set_outputs was not called")

    def set_outputs(self, *outputs: Any) -> None:
        """Say which values the pipeline gives."""
        if self._schedule is not None:
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
        self._ready()

    def _ready(self) -> Schedule:
        """Build the pipeline where nobody did yet, and give its schedule."""
        if self._schedule is not None:
            return self._schedule
        if self._batch_size < 1:
            raise ArgumentError(f"Pipeline: batch_size must be at least 1, got {self._batch_size}")
        if self._num_threads < 1:
            raise ArgumentError(f"Pipeline: num_threads must be at least 1, got {self._num_threads}")
        nodes = self._defined()
        self._engine = choice.chosen(self._engine_name, self._nodes, nodes)
        self._gpu = choice.usable_device(self._device_id) if self._engine == "dali" else None
        if self._gpu is None and choice.asks_for_gpu(self._nodes, nodes):
            choice.tell_about_gpu()
        plan, feeds = self._compiled()
        options = choice.Options(self._batch_size, self._num_threads, self._limits, self._gpu)
        schedule = self._schedule = Schedule(plan, feeds, seed=self._seed, options=options)
        if self._checkpoint is not None:
            self.load_state_dict(json.loads(self._checkpoint))
        return schedule

    def _anew(self, *, batch_size: int, num_threads: int, depth: int) -> Pipeline:
        """Give a pipeline with the same graph that stands at its beginning; without a given seed it draws another."""
        self._defined()
        other = copy.copy(self)
        other._batch_size, other._num_threads, other._depth = batch_size, num_threads, depth
        other._seed = self._seed if self._seed_given else _drawn_seed()
        other._schedule, other._workers, other._tokens, other._closed = None, None, [], False
        other._restored, other._iterator_state = False, {}
        other._recovery = self._recovery.anew()
        return other

    def _defined(self) -> list[DataNode]:
        """Give the outputs of the graph, and know its operators."""
        if self._outputs is None:
            with self:
                defined = self.define_graph()
            self.set_outputs(*(defined if isinstance(defined, (list, tuple)) else [defined]))
        nodes = self._outputs or []
        if not nodes:
            raise ArgumentError("Pipeline: the graph has no outputs")
        self._nodes = operators_of(nodes)
        return nodes

    def dali_pipeline(self, device_id: int | None = 0) -> Any:
        """Give what the DALI engine runs of the graph as a `nvidia.dali.Pipeline` that is not built.

        It can be looked at, or serialised, where there is no GPU. What runs natively before it comes in by its external
        sources.

        Args:
            device_id: The GPU it is for; None to have all on the CPU.
        """
        gpu, nodes = device_id is not None, self._defined()
        plan = self._plan_for(nodes, "dali", gpu=gpu)
        return choice.emitted(plan, self._batch_size, threads=self._num_threads, device_id=device_id)

    def _plan_for(self, outputs: list[DataNode], engine: str, *, gpu: bool) -> Plan:
        plan = compile_graph([node.expr for node in outputs], seed=self._seed, **self._rules)
        if engine == "dali":
            plan = choice.cut_for_dali(plan, self._nodes, outputs, seed=self._seed, gpu=gpu)
        return plan

    def _compiled(self) -> tuple[Plan, list[Feed]]:
        plan = self._plan_for(self._outputs or [], self._engine, gpu=self._gpu is not None)
        names = {}
        for node in self._nodes:
            for step in {expr.step for expr in node.exprs}:
                if isinstance(step, ExternalInput):
                    names[step.source] = node.name
        return plan, self._with_workers([Feed(source, names[source], self._batch_size) for source in plan.sources])

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
        schedule = self._ready()
        feed = schedule.feed_of(data_node)
        known = feed.layout
        feed.feed(data, layout)
        if feed.layout != known:
            self._rename(schedule, feed)

    def _rename(self, schedule: Schedule, named: Feed) -> None:
        """Build the graph anew, now that the names of the axes of a source are known."""
        self._outputs = relowered(self._nodes, self._outputs or [], {named.external: named.layout})
        schedule.recompiled(self._compiled()[0])

    # Running

    def run(self, **inputs: Any) -> tuple[TensorListCPU, ...]:
        """Give the next batch, one TensorList for each output.

        Args:
            inputs: Batches for external sources by name, as `feed_input` takes them.
        """
        schedule = self._open()
        if schedule.begun_alone:
            raise EngineError("run: batches were begun by schedule_run; take them by share_outputs or outputs")
        for name, data in inputs.items():
            self.feed_input(name, data)
        schedule.top_up(self._depth, self.iter_setup)
        return self._next(schedule)

    def schedule_run(self) -> None:
        """Begin a batch, to be taken by `share_outputs`."""
        self._open().begin_alone()

    def share_outputs(self) -> tuple[TensorListCPU, ...]:
        """Take the oldest batch that was begun."""
        schedule = self._ready()
        schedule.begun_alone = max(schedule.begun_alone - 1, 0)
        return self._next(schedule)

    def release_outputs(self) -> None:
        """Say that the last batch is not needed any more; it belongs to whoever holds it."""

    def outputs(self) -> tuple[TensorListCPU, ...]:
        """Take the oldest batch that was begun."""
        return self.share_outputs()

    def reset(self) -> None:
        """Begin the next epoch of the sources after StopIteration."""
        self._ready().reset()

    def _next(self, schedule: Schedule) -> tuple[TensorListCPU, ...]:
        result, self._valid = schedule.next(self._recovery)
        layouts = schedule.plan.layouts
        lists = tuple(with_layout(data, layout) for data, layout in zip(result.outputs, layouts, strict=True))
        self._expected.check(lists)
        return lists

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
        return {name: reader.meta for name, reader in self._readers().items()}

    def _readers(self) -> dict[str, Reader]:
        found = {n.name: reader_of(n.exprs[0]) for n in self._nodes if n.operator.startswith("readers.")}
        return {name: reader for name, reader in found.items() if reader is not None}

    @property
    def errors(self) -> Errors:
        """What happened to samples so far."""
        return self._recovery.errors

    @property
    def valid(self) -> Array:
        """Which samples of the last batch are themselves, and not filled in for bad ones."""
        return self._valid.copy()

    # Going on later

    def state_dict(self) -> dict[str, Any]:
        """Give the place behind the last batch that was delivered, as JSON data under 1 KB for each reader."""
        schedule = self._ready()
        return {"version": 1, "seed": self._seed, **schedule.state_dict(), "iterator": self._iterator_state}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a place that `state_dict` gave, with any number of threads, batch size or number of shards."""
        schedule = self._ready()
        if not isinstance(state, dict) or state.get("version") != 1:
            raise ArgumentError(f"load_state_dict: expected a state of version 1, got {str(state)[:80]}")
        if len(state["readers"]) != len(schedule.orders) or len(state["sources"]) != len(schedule.feeds):
            raise ArgumentError("load_state_dict: the state belongs to a pipeline with other readers or sources")
        if state["seed"] != self._seed:
            if self._seed_given:
                raise ArgumentError(f"load_state_dict: the seed was {state['seed']}, now it is {self._seed}")
            self._seed = int(state["seed"])
            schedule.replace(*self._compiled(), seed=self._seed)
        schedule.load_state_dict(state)
        self._iterator_state = dict(state["iterator"])
        self._restored = True

    def checkpoint(self, filename: str | None = None) -> bytes:
        """Give the state as bytes, to be handed to a new pipeline as `checkpoint=`; also write it to a file."""
        data = json.dumps(self.state_dict()).encode()
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    def close(self) -> None:
        """Stop the threads and wait for them. Those of a pipeline that is dropped end on their own."""
        self._closed = True
        if self._schedule is not None:
            self._schedule.close()
        self._close_workers()

    def _open(self) -> Schedule:
        schedule = self._ready()
        if self._closed:
            raise EngineError(CLOSED)
        return schedule

    max_batch_size = property(lambda self: self._batch_size, doc="Samples in a batch.")
    batch_size = property(lambda self: self._batch_size, doc="Samples in a batch.")
    num_threads = property(lambda self: self._num_threads, doc="Samples that are worked on at a time.")
    device_id = property(lambda self: self._device_id, doc="The GPU that was asked for.")
    seed = property(lambda self: self._seed, doc="What all random choices follow from.")
    prefetch_queue_depth = property(lambda self: self._depth, doc="Batches that are under way at a time.")
    py_num_workers = property(lambda self: self._py_num_workers, doc="Worker processes of parallel sources.")
    exec_pipelined = property(lambda self: True, doc="Batches overlap.")
    exec_async = property(lambda self: True, doc="Batches are made while others are used.")
    is_restored_from_checkpoint = property(lambda self: self._restored, doc="Whether a state was loaded.")
    num_outputs = property(lambda self: len(self._ready().plan.outputs), doc="How many values the pipeline gives.")


def _drawn_seed() -> int:
    return int.from_bytes(os.urandom(6), "little")
