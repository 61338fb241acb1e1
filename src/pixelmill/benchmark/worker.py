"""One contestant in a process of its own: makes batches when told to, and says what it took.

Speaks JSON lines: a job comes first; then the answer about the first batch goes out; then each
{"seconds": S, "warm": N} is answered after N unmeasured batches and S seconds of measured ones.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from pixelmill.benchmark.processes import cpu_seconds, peak_memory
from pixelmill.benchmark.workload import PeerTask, Source


def measure(batches: Iterator[Any], batch_size: int, *, seconds: float, warm: int) -> dict[str, Any]:
    """Count the images that arrive within a time, from one batch to another."""
    for _ in range(warm):
        next(batches)
    images = 0
    group = os.getpgrp()
    steps_before = _watched(batches)
    cpu_before, own_before, start = cpu_seconds(group), time.process_time(), time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds:
        next(batches)
        images += batch_size
    cpu, own = cpu_seconds(group) - cpu_before, time.process_time() - own_before
    steps = {kind: spent - steps_before[kind] for kind, spent in _watched(batches).items()}
    found = {"images": images, "seconds": elapsed, "cpu_seconds": cpu, "peak_memory": peak_memory(group)}
    return found | {"steps": steps, "own_cpu_seconds": own}


def _watched(batches: Any) -> dict[str, int]:
    """Return the time of each kind of step so far, if known."""
    watched: dict[str, int] = batches.watched() if hasattr(batches, "watched") else {}
    return watched


def describe(batch: Any) -> dict[str, Any]:
    """Return what must agree between contestants."""
    import numpy as np

    array, *others = (np.asarray(part) for part in (batch if isinstance(batch, (list, tuple)) else [batch]))
    means = [round(float(image.mean()), 4) for image in array]
    more = [[str(other.dtype), *other.shape] for other in others]
    return {"shape": list(array.shape), "dtype": str(array.dtype), "means": means, "more": more}


def job_of(values: dict[str, Any]) -> PeerTask:
    """Read a job that came as JSON."""
    return PeerTask(**{**values, "source": Source(**values["source"])})


def main() -> None:
    """Serve until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is not an answer

    def answer(**values: Any) -> None:
        print(json.dumps(values), file=answers)

    job = job_of(json.loads(sys.stdin.readline()))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: job.threads])
    peer = importlib.import_module(f"{job.package}.{job.peer}")
    try:
        batches = peer.batches(job)
        first = next(batches)
    except ImportError as error:
        answer(missing=str(error))
        return
    moment = time.monotonic()
    said = {} if job.kind == "read" or job.device == "gpu" else describe(first)
    answer(moment=moment, peak_memory=peak_memory(os.getpgrp()), **said)
    del first
    for line in sys.stdin:
        answer(**measure(batches, job.batch, **json.loads(line)))
    os._exit(0)  # without waiting for the batches under way


if __name__ == "__main__":
    main()
