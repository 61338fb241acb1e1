"""Calls of DALI's pipelines that older programs and iterators written by users make."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Self

from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode
from pixelmill.pipeline import serialization
from pixelmill.pipeline.external_source import Feed
from pixelmill.tensors import TensorListCPU
from pixelmill.types import PipelineAPIType

if TYPE_CHECKING:
    from pixelmill.engine.compile import Plan
    from pixelmill.pipeline.schedule import Schedule
    from pixelmill.pipeline.source_workers import SourceWorkers


class OlderCalls(ABC):
    """The part of `Pipeline` that only programs written for DALI use."""

    _depth: int
    _py_num_workers: int
    _py_start_method: str
    _workers: SourceWorkers | None = None

    _saved_options: dict[str, object]

    @abstractmethod
    def _renamed(self, named: Feed) -> Plan:
        """Compile the graph for a source whose layout became known."""

    @abstractmethod
    def build(self) -> None:
        """Build the pipeline."""

    @abstractmethod
    def set_outputs(self, *outputs: object) -> None:
        """Define the outputs."""

    @abstractmethod
    def _defined(self) -> list[DataNode]:
        """Return the outputs of the graph."""

    @abstractmethod
    def _ready(self) -> Schedule:
        """Build the pipeline if necessary, and return its schedule."""

    @abstractmethod
    def iter_setup(self) -> None:
        """Feed inputs before a batch begins."""

    @abstractmethod
    def schedule_run(self) -> None:
        """Begin a batch."""

    @abstractmethod
    def share_outputs(self) -> tuple[TensorListCPU, ...]:
        """Take the oldest batch that was begun."""

    @abstractmethod
    def release_outputs(self) -> None:
        """Declare that the last batch is not needed any more."""

    def start_py_workers(self) -> None:
        """Start the worker processes of parallel sources now, for example before the program starts threads."""
        self._ready()
        if self._workers is not None:
            self._workers.start()

    def _with_workers(self, feeds: list[Feed]) -> list[Feed]:
        """Connect sources with `parallel=True` to worker processes, which start before the threads of the engine."""
        parallel = [feed for feed in feeds if feed.external.parallel]
        if parallel and self._workers is None:  # a graph that is compiled again has the same sources
            # Imported on use: multiprocessing and its sockets would slow down every worker of a job.
            from pixelmill.pipeline.parallel_source import remote
            from pixelmill.pipeline.source_workers import SourceWorkers

            sources = [remote(feed.external) for feed in parallel]
            self._workers = SourceWorkers(sources, count=self._py_num_workers, method=self._py_start_method)
            self._workers.start()
        for number, feed in enumerate(parallel):
            assert self._workers is not None
            feed.use_workers(self._workers, number)
        return feeds

    def _close_workers(self) -> None:
        if self._workers is not None:
            self._workers.close()

    def serialize(self, define_graph: Callable[[], object] | None = None, filename: str | None = None) -> bytes:
        """Return the graph and the arguments of the pipeline as bytes, which any machine can `deserialize`.

        The format is pixelmill's own, JSON without code. Graphs with Python functions are refused.

        Args:
            define_graph: Returns the outputs, in place of the method of this name.
            filename: A file to write the bytes to as well.
        """
        if define_graph is not None:
            if not callable(define_graph):
                hint = "; did you mean filename=?" if isinstance(define_graph, str) else ""
                raise TypeError(f"serialize: define_graph must be callable, got {define_graph!r}{hint}")
            outputs = define_graph()
            self.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
        data = serialization.dump(self._defined(), self._saved_options)
        if filename is not None:
            Path(filename).write_bytes(data)
        return data

    @classmethod
    def deserialize(
        cls, serialized_pipeline: bytes | str | None = None, filename: str | None = None, **arguments: object
    ) -> Self:
        """Make the pipeline that `serialize` stored, and build it.

        Args:
            serialized_pipeline: What `serialize` returned.
            filename: The file it wrote; one of the two must be given.
            arguments: Arguments of `Pipeline` to use in place of the stored ones.
        """
        if (serialized_pipeline is None) == (filename is None):
            raise ArgumentError("deserialize: pass either serialized_pipeline or filename")
        data = Path(filename).read_bytes() if filename is not None else serialized_pipeline
        assert data is not None
        restored = serialization.load(data)
        try:
            pipe = cls(**{**restored.options, **arguments})
            pipe.set_outputs(*restored.outputs)
            pipe.build()
        except (TypeError, AttributeError) as error:  # an argument that is unknown, or not a number
            raise ArgumentError(f"deserialize: {error}") from error
        return pipe

    def deserialize_and_build(self, serialized_pipeline: bytes | str) -> None:
        """Take the graph that `serialize` stored, but the arguments of this pipeline, and build it."""
        self.set_outputs(*serialization.load(serialized_pipeline).outputs)
        self.build()

    def empty(self) -> bool:
        """Whether no batch has begun that was not taken yet."""
        return not self._ready().queue

    def _prefetch(self) -> None:
        """Begin batches until `prefetch_queue_depth` of them are in progress."""
        self._ready().top_up(self._depth, self.iter_setup, self._renamed)

    def _run(self) -> None:
        self.schedule_run()

    _start_run = _run_once = _run

    def _share_outputs(self) -> tuple[TensorListCPU, ...]:
        return self.share_outputs()

    def _release_outputs(self) -> None:
        self.release_outputs()

    def enable_api_check(self, enable: bool) -> None:  # noqa: B027 - there is no check to switch off
        """Accepted for compatibility."""

    def _check_api_type_scope(self, api_type: PipelineAPIType) -> contextlib.AbstractContextManager[None]:
        """Accepted for compatibility; programs with iterators of their own enter it around `share_outputs`."""
        return contextlib.nullcontext()


# Arguments of `Pipeline` that `serialize` stores; the others are for this process, this machine or compatibility.
_STORED = (
    "batch_size",
    "num_threads",
    "device_id",
    "seed",
    "prefetch_queue_depth",
    "output_dtype",
    "output_ndim",
    "output_layout",
    "on_error",
    "max_errors",
    "strict",
    "optimize",
    "decode_scaling",
    "engine",
)


def saved_options(arguments: Mapping[str, object]) -> dict[str, object]:
    """Select what `serialize` stores from the arguments of `Pipeline`."""
    return {name: arguments[name] for name in _STORED}
