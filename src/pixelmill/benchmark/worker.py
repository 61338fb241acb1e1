"""One contestant in its own process: makes batches on request and reports their cost.

Reads and writes lines of JSON: the first input is a job, which is answered after the first batch; then each
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
from pixelmill.benchmark.workload import Batch, PeerTask, Source


def measure(batches: Iterator[Batch], batch_size: int, *, seconds: float, warm: int) -> dict[str, object]:
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
    found: dict[str, object] = {
        "images": images,
        "seconds": elapsed,
        "cpu_seconds": cpu,
        "peak_memory": peak_memory(group),
    }
    return found | {"steps": steps, "own_cpu_seconds": own}


def _watched(batches: Iterator[Batch]) -> dict[str, int]:
    """Return the time of each kind of step so far, if known."""
    watched: dict[str, int] = batches.watched() if hasattr(batches, "watched") else {}
    return watched


def describe(batch: Batch) -> dict[str, object]:
    """Return what must agree between contestants."""
    import numpy as np

    array, *others = (np.asarray(part) for part in (batch if isinstance(batch, (list, tuple)) else [batch]))
    means = [round(float(image.mean()), 4) for image in array]
    more = [[str(other.dtype), *other.shape] for other in others]
    return {"shape": list(array.shape), "dtype": str(array.dtype), "means": means, "more": more}


def job_of(values: dict[str, Any]) -> PeerTask:
    """Return the job of a line of JSON."""
    return PeerTask(**{**values, "source": Source(**values["source"])})


def main() -> None:
    """Serve until the input ends."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # output of libraries must not mix with answers

    def answer(**values: object) -> None:
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
    first_batch = {} if job.kind == "read" or job.device == "gpu" else describe(first)
    answer(moment=moment, peak_memory=peak_memory(os.getpgrp()), **first_batch)
    del first
    for line in sys.stdin:
        answer(**measure(batches, job.batch, **json.loads(line)))
    os._exit(0)  # without waiting for unfinished batches


if __name__ == "__main__":
    main()
