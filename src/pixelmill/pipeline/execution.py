"""The Pipeline: builds a graph, runs it, and returns its batches."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Sequence
from contextvars import ContextVar, Token
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, overload

import numpy as np

from pixelmill.engine import pillow_decoder as pillow_decoder  # registers the Pillow decoder with the core
from pixelmill.engine import pillow_webp as pillow_webp  # registers WebP compression likewise
from pixelmill.engine import selection
from pixelmill.engine.compile import Plan
from pixelmill.engine.native import Array
from pixelmill.engine.worker_thread import CLOSED
from pixelmill.errors import ArgumentError, EngineError, MissingGraphError, UnknownNameError
from pixelmill.graph.lowering import lower_again
from pixelmill.graph.nodes import DataNode, operators_of
from pixelmill.pipeline.compilation import CompileOptions, check_names, feeds_of, output_nodes, readers_of
from pixelmill.pipeline.external_source import Feed
from pixelmill.pipeline.older_calls import OlderCalls, saved_options
from pixelmill.pipeline.outputs import Expected, with_layout
from pixelmill.pipeline.properties import PipelineProperties
from pixelmill.pipeline.recovery import Errors, OnError, Recovery
from pixelmill.pipeline.sampling import State, parsed_checkpoint
from pixelmill.pipeline.schedule import Schedule
from pixelmill.tensors import TensorListCPU
from pixelmill.types import Limits

if TYPE_CHECKING:
    from pixelmill.engine.dali.versions import DaliPipeline

Value = TypeVar("Value")

# The pipeline whose `with` block is active.
_current: ContextVar[Pipeline | None] = ContextVar("pipeline", default=None)


class Pipeline(PipelineProperties, OlderCalls):
    """A graph of operators that turns files or arrays into batches.

    The first arguments are those of DALI, in its order. Arguments about GPUs, streams and buffers are accepted and have
    no effect on the native engine.

    Args:
        batch_size: The number of samples in a batch.
        num_threads: How many samples are processed at the same time.
        device_id: The GPU to use; ignored without a GPU.
        seed: The seed of all random numbers; a random one if it is None or negative.
        exec_pipelined: Accepted for compatibility.
        prefetch_queue_depth: How many batches are in progress at the same time.
        exec_async: Accepted for compatibility.
        bytes_per_sample: Accepted for compatibility.
        set_affinity: Accepted for compatibility.
        max_streams: Accepted for compatibility.
        default_cuda_stream_priority: Accepted for compatibility.
        enable_memory_stats: Accepted for compatibility.
        enable_checkpointing: Accepted for compatibility; checkpoints can always be taken.
        checkpoint: A checkpoint to continue from, as `checkpoint()` returned it.
        py_num_workers: How many worker processes run the sources of `external_source(parallel=True)`.
        py_start_method: How they are started: `"fork"`, `"spawn"` or `"forkserver"`.
        py_callback_pickler: Accepted for compatibility; `multiprocessing` passes the sources.
        output_dtype: The types that the outputs must have.
        output_ndim: The numbers of axes that the outputs must have.
        output_layout: The layouts that the outputs must have.
        exec_dynamic: Accepted for compatibility.
        experimental_exec_dynamic: Accepted for compatibility.
        stream_policy: Accepted for compatibility.
        concurrency: Accepted for compatibility.
        on_error: What to do with a bad sample: `"raise"`, `"skip"`, `"fill"`, or a callable that returns one of these.
        max_errors: How many bad samples an epoch may have: a number, or a fraction of all samples if it is below 1. By
            default 100 or 0.1 % of the samples, whichever is more.
        strict: Notes to treat as errors, such as `"decoder_warning"` or `"extension_mismatch"`.
        limits: The largest inputs to accept.
        optimize: Whether to fuse operators; without it every operator runs separately, with the same result.
        decode_scaling: Whether JPEGs that are downscaled may be decoded at a lower resolution.
        engine: `"native"`, `"dali"`, or `"auto"`: DALI if the graph requests a GPU and one can be used. The environment
            variable PIXELMILL_ENGINE overrides `"auto"`.
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
        py_callback_pickler: object = None,
        output_dtype: object = None,
        output_ndim: object = None,
        output_layout: object = None,
        exec_dynamic: bool | None = None,
        experimental_exec_dynamic: bool | None = None,
        stream_policy: object = None,
        concurrency: object = None,
        on_error: OnError = "raise",
        max_errors: int | float | None = None,
        strict: Sequence[str] = (),
        limits: Limits | None = None,
        optimize: bool = True,
        decode_scaling: bool = True,
        engine: selection.EngineName = "auto",
    ) -> None:
        depths = prefetch_queue_depth
        depth = max(depths.values()) if isinstance(depths, dict) else depths
        if depth < 1:
            raise ArgumentError(f"Pipeline: prefetch_queue_depth must be at least 1, got {prefetch_queue_depth}")
        self._given = {key: value for key, value in locals().items() if key != "self"}
        self._saved_options = saved_options(self._given)
        self._batch_size = batch_size
        self._num_threads = num_threads
        self._device_id = device_id
        self._seed_given = seed is not None and seed >= 0
        self._seed = int(seed or 0) if self._seed_given else _random_seed()
        self._depth = depth
        self._py_num_workers, self._py_start_method = py_num_workers, py_start_method
        self._recovery = Recovery(on_error, max_errors, strict)
        self._limits = limits or Limits()
        self._compile_options = CompileOptions(optimize, decode_scaling)
        self._engine_name = engine
        self._expected = Expected(output_dtype, output_ndim, output_layout)
        self._checkpoint = checkpoint
        self._outputs: list[DataNode] | None = None
        self._tokens: list[Token[Pipeline | None]] = []
        self._schedule: Schedule | None = None
        self._closed = self._restored = False
        self._valid: Array = np.ones(0, bool)
        self._iterator_state: State = {}

    # Building

    def define_graph(self) -> object:
        """Return the outputs of the graph. Subclasses that do not call `set_outputs` override this."""
        raise MissingGraphError("the pipeline has no graph: override define_graph or call set_outputs")

    def set_outputs(self, *outputs: object) -> None:
        """Set the outputs of the pipeline."""
        if self._schedule is not None:
            raise EngineError("set_outputs: the pipeline is built already")
        self._outputs = output_nodes(outputs)

    def __enter__(self) -> Pipeline:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._tokens.pop())

    @staticmethod
    def current() -> Pipeline | None:
        """Return the pipeline whose `with` block is active."""
        return _current.get()

    def build(self) -> None:
        """Check and compile the graph. The first run does this if it was not called."""
        self._ready()

    def _ready(self) -> Schedule:
        """Build the pipeline if it was not built yet, and return its schedule."""
        if self._schedule is not None:
            return self._schedule
        if self._batch_size < 1:
            raise ArgumentError(f"Pipeline: batch_size must be at least 1, got {self._batch_size}")
        if self._num_threads < 1:
            raise ArgumentError(f"Pipeline: num_threads must be at least 1, got {self._num_threads}")
        nodes = self._defined()
        self._engine = selection.select_engine(self._engine_name, self._nodes, nodes)
        self._gpu = selection.usable_device(self._device_id) if self._engine == "dali" else None
        if self._gpu is None and selection.requests_gpu(self._nodes, nodes):
            selection.warn_about_missing_gpu()
        plan, feeds = self._compiled()
        options = selection.EngineOptions(self._batch_size, self._num_threads, self._limits, self._gpu)
        schedule = self._schedule = Schedule(plan, feeds, seed=self._seed, options=options)
        if self._checkpoint is not None:
            self.load_state_dict(parsed_checkpoint(self._checkpoint))
        return schedule

    def _fresh_copy(self, *, batch_size: int, num_threads: int, depth: int) -> Pipeline:
        """Return a pipeline with the same graph, at its start; without a given seed it gets another random one."""
        self._defined()
        other = copy.copy(self)
        other._batch_size, other._num_threads, other._depth = batch_size, num_threads, depth
        other._seed = self._seed if self._seed_given else _random_seed()
        other._schedule, other._workers, other._tokens, other._closed = None, None, [], False
        other._restored, other._iterator_state = False, {}
        other._recovery = self._recovery.fresh_copy()
        return other

    def _defined(self) -> list[DataNode]:
        """Return the outputs of the graph; define it first if needed, and collect its operators."""
        if self._outputs is None:
            with self:
                defined = self.define_graph()
            self.set_outputs(*(defined if isinstance(defined, (list, tuple)) else [defined]))
        nodes = self._outputs or []
        if not nodes:
            raise ArgumentError("Pipeline: the graph has no outputs")
        self._nodes = operators_of(nodes)
        check_names(self._nodes)
        return nodes

    def dali_pipeline(self, device_id: int | None = 0) -> DaliPipeline:
        """Return the part of the graph that DALI runs as a `nvidia.dali.Pipeline` that is not built.

        It can be inspected or serialized without a GPU. Its external sources get the results of the native part before
        it.

        Args:
            device_id: The GPU it is for; None to run everything on the CPU.
        """
        outputs, gpu = self._defined(), device_id is not None
        plan = self._compile_options.plan(self._nodes, outputs, engine="dali", seed=self._seed, gpu=gpu)
        return selection.build_dali_pipeline(plan, self._batch_size, threads=self._num_threads, device_id=device_id)

    def _compiled(self) -> tuple[Plan, list[Feed]]:
        outputs, gpu = self._outputs or [], self._gpu is not None
        plan = self._compile_options.plan(self._nodes, outputs, engine=self._engine, seed=self._seed, gpu=gpu)
        return plan, self._with_workers(feeds_of(plan, self._nodes, self._batch_size))

    # Feeding

    def iter_setup(self) -> None:
        """Feed inputs before a batch starts. Subclasses override this; StopIteration ends the epoch."""

    def feed_input(self, data_node: DataNode | str, data: object, layout: str | None = None) -> None:
        """Feed a batch to an `external_source` that has no source.

        Args:
            data_node: The node, or its name.
            data: An array with the samples along its first axis, or a list of arrays.
            layout: Names of the axes of a sample; by default those given to `external_source`.
        """
        schedule = self._ready()
        feed = schedule.feed_of(data_node)
        known = feed.layouts
        feed.feed(data, layout)
        if feed.layouts != known:
            schedule.recompiled(self._renamed(feed))

    def _renamed(self, named: Feed) -> Plan:
        """Lower and compile the graph again, now that the layout of a source is known."""
        self._outputs = lower_again(self._nodes, self._outputs or [], {named.external: named.layouts})
        return self._compiled()[0]

    # Running

    def run(self, **inputs: object) -> tuple[TensorListCPU, ...]:
        """Return the next batch, one TensorList for each output.

        Args:
            inputs: Batches for external sources by name, as `feed_input` takes them.
        """
        schedule = self._open()
        if schedule.scheduled:
            raise EngineError("run: schedule_run has started batches; take them with share_outputs or outputs")
        for name, data in inputs.items():
            self.feed_input(name, data)
        schedule.top_up(self._depth, self.iter_setup, self._renamed)
        return self._next(schedule)

    def schedule_run(self) -> None:
        """Start a batch that `share_outputs` will return."""
        self._open().begin_scheduled(self._renamed)

    def share_outputs(self) -> tuple[TensorListCPU, ...]:
        """Return the oldest batch that was started."""
        schedule = self._ready()
        schedule.scheduled = max(schedule.scheduled - 1, 0)
        return self._next(schedule)

    def release_outputs(self) -> None:
        """Do nothing, for compatibility with DALI: a batch belongs to the caller."""

    def outputs(self) -> tuple[TensorListCPU, ...]:
        """Return the oldest batch that was started."""
        return self.share_outputs()

    def reset(self) -> None:
        """Start the next epoch of the sources after StopIteration."""
        self._ready().reset()

    def _next(self, schedule: Schedule) -> tuple[TensorListCPU, ...]:
        result, self._valid = schedule.next(self._recovery)
        layouts = schedule.plan.layouts
        lists = tuple(with_layout(data, layout) for data, layout in zip(result.outputs, layouts, strict=True))
        self._expected.check(lists)
        return lists

    # Readers

    @overload
    def epoch_size(self, name: None = None) -> dict[str, int]: ...
    @overload
    def epoch_size(self, name: str) -> int: ...
    def epoch_size(self, name: str | None = None) -> dict[str, int] | int:
        """Return the number of samples of a reader, including padding; without a name, of all readers by name."""
        sizes = {key: meta["epoch_size_padded"] for key, meta in self._metas().items()}
        return sizes if name is None else self._named(sizes, name)

    @overload
    def reader_meta(self, name: None = None) -> dict[str, dict[str, int]]: ...
    @overload
    def reader_meta(self, name: str) -> dict[str, int]: ...
    def reader_meta(self, name: str | None = None) -> dict[str, dict[str, int]] | dict[str, int]:
        """Return the metadata of a reader; without a name, of all readers by name."""
        return self._metas() if name is None else self._named(self._metas(), name)

    @staticmethod
    def _named(values: dict[str, Value], name: str) -> Value:
        if name not in values:
            raise UnknownNameError(f"there is no reader {name!r}; there are: {', '.join(map(repr, values)) or 'none'}")
        return values[name]

    def _metas(self) -> dict[str, dict[str, int]]:
        self.build()
        return {name: reader.meta for name, reader in readers_of(self._nodes).items()}

    @property
    def errors(self) -> Errors:
        """The bad samples and notes so far."""
        return self._recovery.errors

    @property
    def valid(self) -> Array:
        """Which samples of the last batch are real, and not filled in for bad ones."""
        return self._valid.copy()

    # Resuming

    def state_dict(self) -> State:
        """Return the state after the last batch that was delivered, as JSON data under 1 KB for each reader."""
        schedule = self._ready()
        return {"version": 1, "seed": self._seed, **schedule.state_dict(), "iterator": self._iterator_state}

    def load_state_dict(self, state: State) -> None:
        """Continue from a state that `state_dict` returned, with any batch size, number of threads or shards."""
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
        """Return the state as bytes, for the argument `checkpoint` of a new pipeline; also write it to a file."""
        data = json.dumps(self.state_dict()).encode()
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    def close(self) -> None:
        """Stop the threads and wait for them. The threads of a pipeline that is garbage-collected end automatically."""
        self._closed = True
        if self._schedule is not None:
            self._schedule.close()
        self._close_workers()

    def _open(self) -> Schedule:
        schedule = self._ready()
        if self._closed:
            raise EngineError(CLOSED)
        return schedule


def _random_seed() -> int:
    return int.from_bytes(os.urandom(6), "little")


# Last: it makes pipelines of single operators, which operators with arguments for each frame need.
from pixelmill.pipeline import one_operator as one_operator  # noqa: E402
