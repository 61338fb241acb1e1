"""Make shards as Ray tasks, on this machine or on a cluster whose nodes all see the output."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from pixelmill.engine.placement import INSTEAD
from pixelmill.errors import DataError, EngineError, PixelmillError
from pixelmill.jobs.commit import ShardTask
from pixelmill.jobs.manifest import Entry, entry_bytes
from pixelmill.jobs.progress import OnSamples
from pixelmill.ray.connection import connect

_RETRIES = 5  # if the node or worker of a task dies; errors in the data are not retried
_PER_PROCESSOR = 4  # tasks that are submitted for each processor, so that none waits for the driver
_LEAST = 64  # tasks that are submitted at least, so that a cluster that can grow sees that it should
_RECOUNTED = 1000  # tasks after which the processors of the cluster are counted again

Reference = Any  # a `ray.ObjectRef`


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
        ray, ours = connect(self.address)
        try:
            if self.num_gpus and ray.cluster_resources().get("GPU", 0) < self.num_gpus:
                raise EngineError(f"job: no node of the Ray cluster has a GPU; {INSTEAD}")  # a task would wait forever
            needs = {"num_gpus": self.num_gpus}
            if self.num_gpus:
                needs["num_cpus"] = threads = processors_per_gpu(ray.nodes())
                task = replace(task, site=replace(task.site, threads=threads))
            # Stored once: a description may list many inputs, and is not to be sent again with every task.
            description = ray.put(json.dumps(task.describe()))
            remote = ray.remote(max_retries=_RETRIES, **needs)(make_shard)
            with closing(as_completed(ray, lambda number: remote.remote(description, number), numbers)) as finished:
                for reference in finished:
                    entry = _result(ray, reference)
                    on_samples(int(entry["samples"]), entry_bytes(entry))
                    yield entry
        finally:
            if ours:
                ray.shutdown()


def as_completed(
    ray: Any, start: Callable[[int], Reference], numbers: Sequence[int]
) -> Generator[Reference, None, None]:
    """Start tasks, a bounded number at a time, and yield the reference of each when it has ended.

    A call of `ray.wait` looks at all references that it is given. They are those in flight only, whose number does not
    depend on the number of tasks, so the work of the driver grows linearly. Tasks in flight are canceled if the
    generator is closed.

    Args:
        ray: The module.
        start: Submits the task of a number.
        numbers: The numbers of the tasks.
    """
    todo = deque(numbers)
    waiting: list[Reference] = []
    most, counted = 0, 0
    try:
        while todo or waiting:
            if not most or counted - len(todo) >= _RECOUNTED:
                most, counted = _most_in_flight(ray), len(todo)
            waiting += [start(todo.popleft()) for _ in range(min(most - len(waiting), len(todo)))]
            ready, waiting = ray.wait(waiting, num_returns=1)
            if waiting:  # all others that have ended in the meantime, for one more look at those in flight
                more, waiting = ray.wait(waiting, num_returns=len(waiting), timeout=0)
                ready = [*ready, *more]
            yield from ready
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)


def _most_in_flight(ray: Any) -> int:
    return max(_LEAST, _PER_PROCESSOR * int(ray.cluster_resources().get("CPU", 1)))


def processors_per_gpu(nodes: Sequence[Mapping[str, Any]]) -> int:
    """Return the processors for each GPU of a node; of all nodes, the smallest number.

    Args:
        nodes: The result of `ray.nodes()`.
    """
    found = [node["Resources"] for node in nodes if node["Alive"] and node["Resources"].get("GPU", 0) >= 1]
    return max(1, min((int(has.get("CPU", 1) // has["GPU"]) for has in found), default=1))


def make_shard(description: str, number: int) -> str:
    """Make a shard; runs on a node of the cluster."""
    return json.dumps(_rebuilt(description).make(number))


@lru_cache(maxsize=1)
def _rebuilt(description: str) -> ShardTask:
    """Return the task of a description; a process makes many shards of one job."""
    return ShardTask.rebuild(json.loads(description))


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
