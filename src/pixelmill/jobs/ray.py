"""Make shards as Ray tasks, on this machine or on a cluster whose nodes all see the output."""

from __future__ import annotations

import importlib
import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pixelmill.engine.placement import INSTEAD
from pixelmill.errors import DataError, EngineError, MissingDependency, PixelmillError
from pixelmill.jobs.commit import OnSamples, ShardTask
from pixelmill.jobs.manifest import Entry, entry_bytes

_RETRIES = 5  # if the node or worker of a task dies; errors in the data are not retried


@dataclass(frozen=True)
class RayRunner:
    """Makes each shard in a Ray task.

    Attributes:
        address: The cluster; by default the running one, or a new one on this machine.
        num_gpus: GPUs that a task needs.
    """

    address: str | None = None
    num_gpus: float = 0

    def __call__(self, task: ShardTask, numbers: list[int], *, on_samples: OnSamples) -> Generator[Entry, None, None]:
        if not numbers:
            return
        ray = _import_ray()
        ours = not ray.is_initialized()
        if ours:
            ray.init(address=self.address, log_to_driver=False, configure_logging=False)
        waiting: list[Any] = []
        try:
            if self.num_gpus and ray.cluster_resources().get("GPU", 0) < self.num_gpus:
                raise EngineError(f"job: no node of the Ray cluster has a GPU; {INSTEAD}")  # a task would wait forever
            needs = {"num_gpus": self.num_gpus}
            if self.num_gpus:
                needs["num_cpus"] = threads = processors_per_gpu(ray.nodes())
                task = replace(task, site=replace(task.site, threads=threads))
            description = json.dumps(task.describe())
            remote = ray.remote(max_retries=_RETRIES, **needs)(make_shard)
            waiting = [remote.remote(description, number) for number in numbers]
            while waiting:
                ready, waiting = ray.wait(waiting, num_returns=1)
                entry = _result(ray, ready[0])
                on_samples(int(entry["samples"]), entry_bytes(entry))
                yield entry
        finally:
            for reference in waiting:
                ray.cancel(reference, force=True)
            if ours:
                ray.shutdown()


def processors_per_gpu(nodes: Sequence[Mapping[str, Any]]) -> int:
    """Return the processors for each GPU of a node; of all nodes, the smallest number.

    Args:
        nodes: The result of `ray.nodes()`.
    """
    found = [node["Resources"] for node in nodes if node["Alive"] and node["Resources"].get("GPU", 0) >= 1]
    return max(1, min((int(has.get("CPU", 1) // has["GPU"]) for has in found), default=1))


def make_shard(description: str, number: int) -> str:
    """Make a shard; runs on a node of the cluster."""
    return json.dumps(ShardTask.rebuild(json.loads(description)).make(number))


def _result(ray: Any, reference: Any) -> Entry:
    try:
        entry: Entry = json.loads(ray.get(reference))
    except ray.exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, DataError):
            raise DataError(str(cause), cause.events) from None
        if isinstance(cause, PixelmillError):
            raise cause from None
        raise EngineError(f"job: a Ray task failed; exists=resume continues\n{error}") from error
    except ray.exceptions.RayError as error:
        raise EngineError(f"job: a Ray task was lost; exists=resume continues\n{error}") from error
    return entry


def _import_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise MissingDependency("ray", "ray") from error
