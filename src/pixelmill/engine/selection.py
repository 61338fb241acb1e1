"""Select the engine that runs a graph, and start it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from pixelmill.engine.compile import Plan
from pixelmill.engine.native import NativeEngine, Pending, Samples
from pixelmill.engine.worker_thread import WorkerThread
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.log import log
from pixelmill.types import Limits

# What finds GPUs and the modules of the DALI engine are imported where they are used: most programs run natively, and
# start 20 ms sooner.
if TYPE_CHECKING:
    from pixelmill.engine.dali.versions import DaliPipeline

_warned_about_gpu = False

EngineName = Literal["auto", "native", "dali"]
ENGINE_VARIABLE = "PIXELMILL_ENGINE"  # the environment variable that says what "auto" means


class Engine(Protocol):
    """Runs batches of a compiled graph."""

    @property
    def plan(self) -> Plan:
        """The compiled graph."""

    def submit(self, samples: Samples, *, fill: bool = False) -> Pending:
        """Start a batch. With `fill`, samples that fail become gray images instead of errors."""

    def forked(self) -> bool:
        """Whether this process is a fork of the one that created the engine."""

    @property
    def threads(self) -> tuple[WorkerThread, ...]:
        """The Python threads. They refer to the engine only while a batch is running."""

    def close(self) -> None:
        """Stop the threads and wait for them. Batches in progress are lost."""


@dataclass(frozen=True)
class EngineOptions:
    """The options of an engine.

    Attributes:
        batch_size: The largest number of samples in a batch.
        threads: How many samples are processed at the same time.
        limits: The largest inputs to accept.
        device_id: The GPU, or None to run on the CPU.
    """

    batch_size: int
    threads: int
    limits: Limits
    device_id: int | None


def select_engine(name: str, nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]) -> Literal["native", "dali"]:
    """Return the engine to use. `auto` selects DALI if the graph requests a GPU and one can be used.

    Args:
        name: `auto`, `native` or `dali`.
        nodes: The operators of the graph.
        outputs: The outputs of the graph.
    """
    where = "Pipeline: engine"
    if name == "auto" and os.environ.get(ENGINE_VARIABLE):
        name, where = os.environ[ENGINE_VARIABLE], ENGINE_VARIABLE
    if name not in get_args(EngineName):
        raise ArgumentError(f"{where} must be one of {', '.join(get_args(EngineName))}, got {name!r}")
    if name == "native" or (name == "auto" and not requests_gpu(nodes, outputs)):
        return "native"
    from pixelmill.engine import devices

    if name == "auto":
        return "dali" if devices.usable_gpus() else "native"
    devices.require_dali(f"{where}={name!r}")
    return "dali"


def requests_gpu(nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]) -> bool:
    """Whether an operator or an output of a graph is requested on a GPU."""
    return any(node.device != "cpu" for node in nodes) or any(node.device == "gpu" for node in outputs)


def warn_about_missing_gpu() -> None:
    """Warn, once per process, that work requested on a GPU runs on the CPU."""
    global _warned_about_gpu
    if not _warned_about_gpu:
        _warned_about_gpu = True
        text = "pixelmill: the pipeline requests a GPU but runs on the CPU, with the same results"
        log.warning(text)


def usable_device(device_id: int | None) -> int | None:
    """Return the requested GPU, or None if no GPU can be used. A negative number means the first GPU."""
    if device_id is None:
        return None
    from pixelmill.engine import devices

    return max(device_id, 0) if devices.usable_gpus() else None


def split_for_dali(
    whole: Plan, nodes: Sequence[OperatorNode], outputs: Sequence[DataNode], *, seed: int, gpu: bool
) -> Plan:
    """Split a graph between DALI and the native engine; return it unchanged if DALI can run none of it."""
    from pixelmill.engine.dali import pipeline_builder, split

    has = partial(pipeline_builder.is_supported, gpu=gpu)
    return split.split(whole, nodes, outputs, seed=seed, gpu=gpu, has=has) or whole


def build_dali_pipeline(plan: Plan, batch_size: int, *, threads: int, device_id: int | None) -> DaliPipeline:
    """Return DALI's part of a split graph as a `nvidia.dali.Pipeline` on which `build()` was not called yet."""
    from pixelmill.engine.dali import pipeline_builder, split

    if not isinstance(plan, split.SplitPlan):
        raise EngineError("dali_pipeline: DALI can run none of the operators of this graph")
    return pipeline_builder.build_pipeline(plan, batch_size=batch_size, threads=threads, device_id=device_id)


def start_engine(plan: Plan, options: EngineOptions) -> Engine:
    """Start the engine that a graph was compiled for."""
    if type(plan) is Plan:
        return NativeEngine(plan, threads=options.threads, limits=options.limits)
    from pixelmill.engine.dali.engine import DaliEngine
    from pixelmill.engine.dali.split import SplitPlan

    assert isinstance(plan, SplitPlan)
    return DaliEngine(
        plan,
        threads=options.threads,
        limits=options.limits,
        batch_size=options.batch_size,
        device_id=options.device_id,
    )
