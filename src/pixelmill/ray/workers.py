"""Preprocessing on other nodes: pipelines run in Ray actors and stream finished batches to the trainer."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from pixelmill.engine.compile import Plan
from pixelmill.engine.selection import Engine
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.pipeline import Pipeline
from pixelmill.pipeline.remote_program import Program, use_workers
from pixelmill.ray.connection import connect
from pixelmill.ray.crew import Crew
from pixelmill.ray.engine import RayEngine
from pixelmill.ray.shared_memory import Loans

_LEAST_KEPT = 4  # batches that a program may keep in shared memory, even with one actor


class RayWorkers:
    """Actors of a Ray cluster that run the batches of pipelines.

    The trainer decides which samples a batch contains, and takes batches in its order; actors only compute them. So
    epochs, the order, random numbers, `on_error` and saved states are those of the same pipeline without workers, for
    any number of actors, and no matter when actors or nodes die. At most `actors * in_flight` batches are in progress
    or finished and not yet taken, which bounds the memory of the object store.

    All nodes must see the data under the same paths, and have pixelmill installed. A graph with Python functions cannot
    be sent to other processes and is refused.

    Args:
        actors: The number of actors.
        threads: How many samples an actor processes at the same time; it takes as many CPUs of its node.
        in_flight: How many batches an actor has at a time.
        address: The cluster; by default the running one, or a new one on this machine.
        resources: Other resources of Ray that an actor takes, such as `{"cpu_node": 1}`, to choose nodes.
        timeout: How many seconds to wait if no actor can be started.
        shared_memory: Whether actors on the host of this process hand over batches in shared memory. Without it, and
            from other hosts, batches go through Ray's object store.

    Example:
        >>> workers = RayWorkers(8, threads=4)  # doctest: +SKIP
        >>> loader = Loader(pipeline, ["images", "labels"], workers=workers)  # doctest: +SKIP
    """

    def __init__(
        self,
        actors: int,
        *,
        threads: int = 1,
        in_flight: int = 3,
        address: str | None = None,
        resources: Mapping[str, float] | None = None,
        timeout: float = 300,
        shared_memory: bool = True,
    ) -> None:
        for name, value in {"actors": actors, "threads": threads, "in_flight": in_flight}.items():
            if not isinstance(value, int) or value < 1:
                raise ArgumentError(f"RayWorkers: {name} must be an integer above 0, got {value!r}")
        if not timeout > 0:
            raise ArgumentError(f"RayWorkers: timeout must be above 0, got {timeout!r}")
        ray, self._owns_connection = connect(address)
        loans = Loans(max(_LEAST_KEPT, actors * in_flight)) if shared_memory else None
        self._crew = Crew(ray, threads, in_flight, dict(resources or {}), timeout, loans)
        self._actors = actors
        self._is_closed = False
        self._process = os.getpid()
        self._crew.start(actors)

    @property
    def depth(self) -> int:
        """How many batches are in progress at the same time."""
        return self._actors * self._crew.in_flight

    @property
    def sharing(self) -> int:
        """How many of the actors that have started share memory with this process."""
        return sum(member.process is not None for member in self._crew.members)

    def attach(self, pipeline: Pipeline) -> Pipeline:
        """Make the actors run the batches of a pipeline, from the next batch on; return the pipeline.

        Iterators of `pixelmill.plugin` over the pipeline then use the actors. `Loader(..., workers=...)` calls this.
        """
        use_workers(pipeline, self)
        return pipeline

    def engine(self, program: Program, plan: Plan, seed: int) -> Engine:
        """Return an engine whose batches the actors run; pipelines call this."""
        if self._is_closed:
            raise EngineError("RayWorkers: they are closed")
        if os.getpid() != self._process:
            raise EngineError("RayWorkers: Ray does not work in a forked process; start processes with 'spawn'")
        return RayEngine(self._crew, program, plan, seed=seed)

    def wait_for_actors(self) -> None:
        """Wait until all actors have started. Batches start as soon as one has."""
        self._crew.wait_for_all()

    def close(self) -> None:
        """End the actors; disconnect if the connection was made here."""
        if self._is_closed:
            return
        self._is_closed = True
        self._crew.close()
        if self._owns_connection:
            self._crew.ray.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
