"""What a pipeline tells about itself, under DALI's names."""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from pixelmill.errors import EngineError
from pixelmill.graph.nodes import DataNode, OperatorNode

if TYPE_CHECKING:
    from pixelmill.pipeline.schedule import Schedule


class StreamPolicy(enum.Enum):
    """How DALI assigns CUDA streams to operators. Accepted for compatibility."""

    UNSPECIFIED = 0
    SINGLE = 1
    PER_BACKEND = 2
    PER_OPERATOR = 3


class OperatorConcurrency(enum.Enum):
    """Which operators of DALI run at the same time. Accepted for compatibility."""

    UNSPECIFIED = 0
    NONE = 1
    BACKEND = 2
    FULL = 3


# Pipelines that `push_current` made current, innermost last.
_pushed: list[AbstractContextManager[Any]] = []


def _option(name: str, doc: str) -> Any:
    return property(lambda self: self._given[name], doc=doc)


class PipelineProperties(ABC):
    """The properties of `Pipeline`; those about streams and buffers are only repeated."""

    _given: Mapping[str, Any]
    _batch_size: int
    _depth: int
    _restored: bool
    _seed: int
    _nodes: list[OperatorNode]

    @abstractmethod
    def _ready(self) -> Schedule:
        """Build the pipeline if necessary, and return its schedule."""

    @abstractmethod
    def _defined(self) -> list[DataNode]:
        """Return the outputs of the graph."""

    max_batch_size = property(lambda self: self._batch_size, doc="The number of samples in a batch.")
    batch_size = max_batch_size
    num_threads = property(lambda self: self._num_threads, doc="How many samples are processed at the same time.")
    device_id = property(lambda self: self._device_id, doc="The requested GPU.")
    seed = property(lambda self: self._seed, doc="The seed of all random numbers.")
    prefetch_queue_depth = property(lambda self: self._depth, doc="How many batches are in progress at the same time.")
    cpu_queue_size = gpu_queue_size = prefetch_queue_depth
    py_num_workers = _option("py_num_workers", "Worker processes of parallel sources.")
    py_start_method = _option("py_start_method", "How worker processes are started.")
    exec_pipelined = property(lambda self: True, doc="Batches overlap.")
    exec_async = property(lambda self: True, doc="Batches are computed while others are used.")
    exec_separated = property(lambda self: False, doc="There is one queue of batches.")
    exec_dynamic = property(lambda self: self._given["exec_dynamic"] is not False, doc="As it was given.")
    set_affinity = _option("set_affinity", "As it was given; it has no effect.")
    enable_memory_stats = _option("enable_memory_stats", "As it was given; it has no effect.")
    stream_policy = _option("stream_policy", "As it was given; it has no effect.")
    concurrency = _option("concurrency", "As it was given; it has no effect.")
    max_streams = property(lambda self: self._given["max_streams"] or -1, doc="As it was given; it has no effect.")
    default_cuda_stream_priority = property(
        lambda self: self._given["default_cuda_stream_priority"] or 0, doc="As it was given; it has no effect."
    )
    is_restored_from_checkpoint = property(lambda self: self._restored, doc="Whether a state was loaded.")
    num_outputs = property(lambda self: len(self._ready().plan.outputs), doc="The number of outputs.")

    def output_dtype(self) -> list[Any]:
        """Return the declared type of each output; None for those that may have any."""
        return self._for_each("output_dtype")

    def output_ndim(self) -> list[int | None]:
        """Return the declared number of axes of each output; None for those that may have any."""
        return self._for_each("output_ndim")

    def _for_each(self, name: str) -> list[Any]:
        declared, count = self._given[name], len(self._defined())
        return list(declared) if isinstance(declared, (list, tuple)) else [declared] * count

    def input_feed_count(self, input_name: str) -> int:
        """Return how many batches of an `external_source` are in progress at the same time."""
        self._ready().feed_of(input_name)
        return self._depth

    def executor_statistics(self) -> dict[str, Any]:
        """Return nothing: there are no statistics of DALI's executor."""
        return {}

    def external_source_shm_statistics(self) -> dict[str, list[int]]:
        """Return DALI's statistics of shared memory, which is allocated as needed here."""
        return {"capacities": [], "per_sample_capacities": []}

    def output_stream(self) -> None:  # noqa: B027 - there is nothing to override
        """Return None: outputs belong to no CUDA stream."""

    @staticmethod
    def push_current(pipeline: AbstractContextManager[Any]) -> None:
        """Make a pipeline the current one, as a `with` block does, until `pop_current`."""
        pipeline.__enter__()
        _pushed.append(pipeline)

    @staticmethod
    def pop_current() -> None:
        """End what the last `push_current` began."""
        if not _pushed:
            raise EngineError("pop_current: there was no push_current before")
        _pushed.pop().__exit__(None, None, None)

    def add_sink(self, edge: DataNode) -> NoReturn:
        """Refuse operators without outputs: what no output needs does not run."""
        raise EngineError("add_sink: a pipeline computes its outputs only; return the node from the pipeline")

    def save_graph_to_dot_file(
        self, filename: str, *, show_tensors: bool = False, show_ids: bool | None = None, use_colors: bool = False
    ) -> None:
        """Write the operators of the graph and their connections as a file for Graphviz.

        Args:
            filename: The file to write.
            show_tensors: Whether to draw the values between operators as boxes.
            show_ids: Accepted for compatibility.
            use_colors: Whether operators that were requested on a GPU are filled with a color.
        """
        outputs = self._defined()
        Path(filename).write_text(graphviz(self._nodes, outputs, tensors=show_tensors, colors=use_colors), "utf-8")


def graphviz(nodes: Sequence[OperatorNode], outputs: Sequence[DataNode], *, tensors: bool, colors: bool) -> str:
    """Return a graph in the language of Graphviz."""
    lines = []
    for node in nodes:
        fill = ', style=filled, fillcolor="#76b900"' if colors and node.device != "cpu" else ""
        lines.append(f'{_quoted(node.name)} [label="{node.spec.class_name}"{fill}];')
        for value in node.dependencies():
            lines += _edge(value, node.name, tensors=tensors)
    for number, value in enumerate(outputs):
        lines.append(f'"output {number}" [shape=diamond];')
        lines += _edge(value, f"output {number}", tensors=tensors)
    return "\n".join(["digraph pipeline {", *dict.fromkeys(lines), "}", ""])


def _edge(value: DataNode, target: str, *, tensors: bool) -> list[str]:
    source = "constant" if value.operator is None else value.operator.name
    if not tensors:
        return [f"{_quoted(source)} -> {_quoted(target)};"]
    box = f"{source}[{value.index}]"
    return [
        f"{_quoted(box)} [shape=box];",
        f"{_quoted(source)} -> {_quoted(box)} [label={value.index}];",
        f"{_quoted(box)} -> {_quoted(target)};",
    ]


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
