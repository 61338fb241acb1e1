"""Which engine runs a graph."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, get_args

from pixelmill.engine import devices
from pixelmill.engine.compile import Plan
from pixelmill.engine.native import NativeEngine, Pending, Samples
from pixelmill.engine.worker_thread import WorkerThread
from pixelmill.errors import ArgumentError, EngineError
from pixelmill.graph.nodes import DataNode, OperatorNode
from pixelmill.log import log
from pixelmill.types import Limits

_told_about_gpu = False

EngineName = Literal["auto", "native", "dali"]
VARIABLE = "PIXELMILL_ENGINE"  # of the environment; says what "auto" means


class Engine(Protocol):
    """What runs batches of a compiled graph."""

    @property
    def plan(self) -> Plan:
        """The graph."""

    def submit(self, samples: Samples, *, fill: bool = False) -> Pending:
        """Begin a batch."""

    def forked(self) -> bool:
        """Tell whether this is another process than the one that made the engine."""

    @property
    def threads(self) -> tuple[WorkerThread, ...]:
        """The Python threads, which do not refer to the engine unless a batch is under way."""

    def close(self) -> None:
        """Stop and wait for the threads. Batches that were begun are lost."""


@dataclass(frozen=True)
class Options:
    """What engines are started with.

    Attributes:
        batch_size: The most samples in a batch.
        threads: Samples that are worked on at a time.
        limits: What a single input may cost.
        device_id: The GPU; None where there is none.
    """

    batch_size: int
    threads: int
    limits: Limits
    device_id: int | None


def chosen(name: str, nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]) -> Literal["native", "dali"]:
    """Say which engine to use, where `auto` means DALI if the graph asks for a GPU and there is one.

    Args:
        name: `auto`, `native` or `dali`.
        nodes: The operators of the graph.
        outputs: What it gives.
    """
    where = "Pipeline: engine"
    if name == "auto" and os.environ.get(VARIABLE):
        name, where = os.environ[VARIABLE], VARIABLE
    if name not in get_args(EngineName):
        raise ArgumentError(f"{where} must be one of {', '.join(get_args(EngineName))}, got {name!r}")
    if name == "native" or (name == "auto" and not asks_for_gpu(nodes, outputs)):
        return "native"
    if name == "auto":
        return "dali" if devices.usable_gpus() else "native"
    devices.require_dali(f"{where}={name!r}")
    return "dali"


def asks_for_gpu(nodes: Sequence[OperatorNode], outputs: Sequence[DataNode]) -> bool:
    """Tell whether something of a graph is wanted on a GPU."""
    return any(node.device != "cpu" for node in nodes) or any(node.device == "gpu" for node in outputs)


def tell_about_gpu() -> None:
    """Say, once a process, that work for a GPU is done on the CPU."""
    global _told_about_gpu
    if not _told_about_gpu:
        _told_about_gpu = True
        text = "pixelmill: the pipeline asks for a GPU; it runs on the CPU, with the same results"
        log.warning(text)


def usable_device(device_id: int | None) -> int | None:
    """Give the GPU that a pipeline asks for, or None where it is not there; a negative one means the first."""
    if device_id is None:
        return None
    return max(device_id, 0) if devices.usable_gpus() else None


def cut_for_dali(
    whole: Plan, nodes: Sequence[OperatorNode], outputs: Sequence[DataNode], *, seed: int, gpu: bool
) -> Plan:
    """Cut a graph for DALI; give it as it is where nothing of it is for DALI."""
    from pixelmill.engine.dali import emission, split

    has = partial(emission.supported, gpu=gpu)
    return split.split(whole, nodes, outputs, seed=seed, gpu=gpu, has=has) or whole


def emitted(plan: Plan, batch_size: int, *, threads: int, device_id: int | None) -> Any:
    """Write what DALI does of a graph that was cut for it as a `nvidia.dali.Pipeline`, which is not built."""
    from pixelmill.engine.dali import emission
    from pixelmill.engine.dali.split import SplitPlan

    if not isinstance(plan, SplitPlan):
        raise EngineError("dali_pipeline: the graph has nothing that DALI does")
    return emission.emitted(plan, batch_size=batch_size, threads=threads, device_id=device_id)


def started(plan: Plan, options: Options) -> Engine:
    """Start the engine that a graph was compiled for."""
    if type(plan) is Plan:
        return NativeEngine(plan, threads=options.threads, limits=options.limits)
    from pixelmill.engine.dali.running import DaliEngine
    from pixelmill.engine.dali.split import SplitPlan

    assert isinstance(plan, SplitPlan)
    return DaliEngine(
        plan,
        threads=options.threads,
        limits=options.limits,
        batch_size=options.batch_size,
        device_id=options.device_id,
    )
