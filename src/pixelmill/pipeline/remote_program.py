"""Programs that other processes run: a pipeline as a description, and what a worker makes of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from pixelmill import _core
from pixelmill.engine.compile import Key, Plan
from pixelmill.engine.native import Data, Samples, Trouble
from pixelmill.engine.selection import Engine
from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats.index import Index
from pixelmill.graph.nodes import OperatorNode
from pixelmill.pipeline import serialization
from pixelmill.pipeline.execution import Pipeline
from pixelmill.types import Limits

_SAMPLED = 1024  # names of files that are compared

# A problem with a sample on its way between processes: place, kind, message, name of the operator, whether it is fatal.
SentTrouble = tuple[int, str, str, str | None, bool, int | None]


class Workers(Protocol):
    """Processes that run the batches of pipelines."""

    @property
    def depth(self) -> int:
        """How many batches to start ahead, so that all workers have something to do."""

    def engine(self, program: Program, plan: Plan, seed: int) -> Engine:
        """Return an engine whose batches the workers run.

        Args:
            program: The description of the pipeline.
            plan: Its compiled graph, of this process.
            seed: The seed of all random numbers.
        """


@dataclass(frozen=True, eq=False)
class Program:
    """A pipeline as another process can make it again, at the same paths: no code, and no data.

    Attributes:
        description: The graph, its options and what the data looks like, as JSON.
        key: A name that differs for different descriptions.
        nodes: The operators of this process by name, for messages.
    """

    description: bytes
    key: str
    nodes: dict[str, OperatorNode]


def describe(pipe: Pipeline) -> Program:
    """Describe a pipeline for `RemoteProgram`.

    Raises:
        ArgumentError: The graph contains Python functions, or runs on a GPU.
    """
    outputs, plan = pipe._defined(), pipe._ready().plan
    if pipe._engine != "native":
        raise ArgumentError("workers: they run pipelines on the CPU; create the pipeline with engine='native'")
    # Errors are handled by the policy of this process, which sees what the workers report.
    options = {**pipe._saved_options, "on_error": "raise", "max_errors": None, "device_id": None, "engine": "native"}
    try:
        graph = serialization.dump(outputs, {**options, "seed": 0}, with_credentials=True)
    except ArgumentError as error:
        raise ArgumentError(f"workers: the graph cannot be sent to other processes: {error}") from None
    said = {"graph": graph.decode(), "limits": vars(pipe._limits), "data": [fingerprint(r.index) for r in plan.readers]}
    description = json.dumps(said).encode()
    key = hashlib.blake2b(description, digest_size=16).hexdigest()
    return Program(description, key, {node.name: node for node in pipe._nodes})


def use_workers(pipe: Pipeline, workers: Workers) -> None:
    """Make workers run the batches of a pipeline, from the next batch on."""
    program = describe(pipe)
    layouts = pipe._ready().plan.layouts

    def new_engine(plan: Plan, seed: int) -> Engine:
        if plan.layouts != layouts:
            raise ArgumentError("workers: declare the layout of an external_source where it is created, layout='HWC'")
        return workers.engine(program, plan, seed)

    pipe._ready().run_elsewhere(new_engine)
    pipe._depth = max(pipe._depth, workers.depth)


def fingerprint(index: Index) -> list[int | str]:
    """Return what all processes must agree on that read a dataset: its length, its ranges and some of its names."""
    count = len(index)
    chosen = np.unique(np.linspace(0, count - 1, min(count, _SAMPLED)).astype(np.int64)) if count else np.empty(0)
    names = "\0".join(index.locate(int(item))[0] for item in chosen)
    digest = hashlib.blake2b(names.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
    ranges = [_core.crc32c(np.ascontiguousarray(part).view(np.uint8).data) for part in (index.offsets, index.lengths)]
    return [count, digest, *ranges]


class RemoteProgram:
    """A pipeline that was described elsewhere: runs the samples it is told to, in any order.

    Args:
        description: The description.
        seed: The seed of all random numbers.
        threads: How many samples are processed at the same time.
        shares: Whether the arrays of large outputs are in memory that other processes can map.

    Attributes:
        executor: The worker threads, which know what memory is shared.
    """

    def __init__(self, description: bytes, *, seed: int, threads: int, shares: bool = False) -> None:
        said = json.loads(description)
        limits = Limits(**said["limits"])
        self._pipe = Pipeline.deserialize(said["graph"], seed=seed, num_threads=threads, limits=limits)
        self._schedule = self._pipe._ready()
        self.executor = _core.Executor(threads, shares)
        self._schedule.run_on(self.executor)
        found = [fingerprint(reader.index) for reader in self._schedule.plan.readers]
        if found != said["data"]:
            raise DataError(
                f"workers: the data looks different from here: {_counts(found)} samples, and {_counts(said['data'])} "
                "where the pipeline was created; all nodes must see the same files under the same paths"
            )

    @property
    def input_names(self) -> list[str]:
        """The names of the external sources, in the order of the inputs of `run`."""
        names = {feed.external: feed.name for feed in self._schedule.feeds}
        return [names[source] for step, _ in self._schedule.plan.inputs for source in names if source is step.source]

    def run(
        self,
        epochs: npt.NDArray[np.uint32],
        numbers: npt.NDArray[np.uint64],
        items: npt.NDArray[np.int64],
        inputs: Sequence[Data] = (),
        *,
        fill: bool = False,
    ) -> tuple[list[Data], list[SentTrouble]]:
        """Run a batch; return its outputs and its problems. It may be called by several threads.

        Args:
            epochs: The epoch of each sample.
            numbers: The number of each sample in its dataset.
            items: The item of every reader for each sample.
            inputs: The data of external sources, in the order of the plan.
            fill: Whether samples that fail become gray images.
        """
        given: dict[Key, Data] = {}
        given |= zip(self._schedule.plan.inputs, inputs, strict=True)
        result = self._schedule.engine.submit(Samples(epochs, numbers, items, given), fill=fill).result()
        return result.outputs, [_sent(trouble) for trouble in result.troubles]

    def close(self) -> None:
        """Stop the threads."""
        self._pipe.close()
        self.executor.close()


def received(trouble: SentTrouble, program: Program) -> Trouble:
    """Return a problem as this process describes it, with the operator that the user's line made."""
    place, kind, message, name, fatal, partner = trouble
    return Trouble(place, kind, message, program.nodes.get(name or ""), fatal, partner)


def _sent(trouble: Trouble) -> SentTrouble:
    origin = None if trouble.origin is None else trouble.origin.name
    return trouble.place, trouble.kind, trouble.message, origin, trouble.fatal, trouble.partner


def _counts(found: Sequence[Sequence[object]]) -> str:
    return " and ".join(str(one[0]) for one in found)
