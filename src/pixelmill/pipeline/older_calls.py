"""Calls of DALI's pipelines that older programs and iterators written by users make."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pixelmill.pipeline.external_source import Feed
from pixelmill.pipeline.parallel_source import remote
from pixelmill.pipeline.source_workers import SourceWorkers
from pixelmill.tensors import TensorListCPU
from pixelmill.types import PipelineAPIType

if TYPE_CHECKING:
    from pixelmill.pipeline.schedule import Schedule


class OlderCalls(ABC):
    """The part of `Pipeline` that only programs written for DALI use."""

    _depth: int
    _py_num_workers: int
    _py_start_method: str
    _workers: SourceWorkers | None = None

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

    def empty(self) -> bool:
        """Whether no batch has begun that was not taken yet."""
        return not self._ready().queue

    def _prefetch(self) -> None:
        """Begin batches until `prefetch_queue_depth` of them are in progress."""
        self._ready().top_up(self._depth, self.iter_setup)

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
