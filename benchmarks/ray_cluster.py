"""Measures pixelmill on a local Ray cluster: preprocessing in actors, and the driver of a job with many shards.

    python benchmarks/ray_cluster.py preprocessing --output benchmarks/results/ray_preprocessing.json
    python benchmarks/ray_cluster.py shards --output benchmarks/results/ray_shards.json

`preprocessing` compares two actors of one thread each with the same pipeline on two threads of this process, in turns,
and with actors that hand out finished arrays of the same size: what Ray costs if nothing is computed.
`shards` measures the processor time of the driver for 1,000 to 100,000 tasks that do nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import machine
import numpy as np
import ray
from ray.cluster_utils import Cluster

from pixelmill import Loader, fn, pipeline_def
from pixelmill.create import create_photo_folder
from pixelmill.jobs.ray import as_completed
from pixelmill.ray import RayWorkers

NAMES = ["images", "labels"]
BATCH_SIZE = 64
STORE = {"object_store_memory": 400 << 20}
ROOT = Path(__file__).resolve().parents[1]


@pipeline_def(batch_size=BATCH_SIZE, device_id=None, seed=1)
def train(folder: str) -> Any:
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=True)
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=224)
    return fn.flip(images, horizontal=fn.random.coin_flip()), labels


def photos(count: int, side: int) -> str:
    """Return a folder of photo-like files whose sides are about `side` pixels."""
    folder = ROOT / "build" / "bench-data" / f"ray-{count}-{side}"
    if not folder.exists():
        create_photo_folder(folder, count, size_mean=(side * 3 // 4, side), classes=8)
    return str(folder)


def endless(loader: Loader) -> Iterator[Any]:
    while True:
        yield from loader


def rate(batches: Iterator[Any], steps: int) -> tuple[float, float]:
    """Return images per second over some steps, and milliseconds of a processor for each image, in all processes."""
    began, processor = time.perf_counter(), _all_processor_seconds()
    count = sum(len(batch["labels"]) for batch in islice(batches, steps))
    seconds = time.perf_counter() - began
    return count / seconds, (_all_processor_seconds() - processor) / count * 1000


class _Finished:
    """An actor that computes nothing: its batches are always the same arrays."""

    def __init__(self) -> None:
        noise = np.random.default_rng(1)
        self._batch = noise.integers(0, 256, (BATCH_SIZE, 224, 224, 3), np.uint8), np.zeros((BATCH_SIZE, 1), np.int32)

    def run(self) -> Any:
        return self._batch


def handed_out(actors: list[Any], count: int) -> Iterator[Any]:
    """Yield batches of `_Finished` actors, of which each has three in flight; nothing is copied out of the store."""
    order = [actors[number % len(actors)] for number in range(count)]
    waiting = deque(actor.run.remote() for actor in order[: 3 * len(actors)])
    for actor in [*order[3 * len(actors) :], *[None] * len(waiting)]:
        yield dict(zip(NAMES, ray.get(waiting.popleft()), strict=True))
        if actor is not None:
            waiting.append(actor.run.remote())


def preprocessing(arguments: argparse.Namespace) -> dict[str, Any]:
    """Compare actors with threads."""
    folder, workers, nodes = photos(arguments.files, arguments.side), arguments.workers, arguments.nodes
    each = {"num_cpus": workers, "resources": {"preprocessing": -(-workers // max(nodes - 1, 1))}, **STORE}
    cluster = Cluster(initialize_head=True, head_node_args=each if nodes == 1 else {"num_cpus": 1, **STORE})
    for _ in range(nodes - 1):
        cluster.add_node(**each)
    ray.init(address=cluster.address, log_to_driver=False)
    rounds: dict[str, list[tuple[float, float]]] = {"threads": [], "actors": [], "ray alone": []}
    with RayWorkers(workers, resources={"preprocessing": 0.5}) as actors:
        actors.wait_for_actors()
        bare = [ray.remote(num_cpus=0, resources={"preprocessing": 0.5})(_Finished).remote() for _ in range(workers)]
        for _ in range(arguments.rounds):
            for name, option in (("threads", None), ("actors", actors)):
                # A contestant is created for its turn: batches that it has started ahead would run in the other's.
                loader = Loader(train(folder, num_threads=workers), NAMES, workers=option)
                batches = endless(loader)
                rate(batches, 10)
                rounds[name].append(rate(batches, arguments.steps))
                loader.pipeline.close()
            finished = handed_out(bare, 10 + arguments.steps)
            rate(finished, 10)
            rounds["ray alone"].append(rate(finished, arguments.steps))
    ray.shutdown()
    cluster.shutdown()
    rates = {name: [round(speed, 1) for speed, _ in values] for name, values in rounds.items()}
    costs = {name: [round(cost, 3) for _, cost in values] for name, values in rounds.items()}
    speed = {name: statistics.median(values) for name, values in rates.items()}
    cost = {name: statistics.median(values) for name, values in costs.items()}
    return {
        "workers": workers,
        "nodes": nodes,
        "side": arguments.side,
        "batch_size": BATCH_SIZE,
        "steps": arguments.steps,
        "images_per_second": rates,
        "processor_milliseconds_per_image": costs,
        "ratio": round(speed["actors"] / speed["threads"], 3),
        "ratio_by_processor_time": round(cost["threads"] / cost["actors"], 3),
        "best_ratio_by_processor_time": round(cost["threads"] / (cost["threads"] + cost["ray alone"]), 3),
        "wanted": 0.9,
    }


def shards(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the driver of many tasks."""
    ray.init(address="local", num_cpus=2, log_to_driver=False, configure_logging=False, **STORE)
    task = ray.remote(_nothing)
    rows = []
    for count in (1_000, 10_000, arguments.shards):
        looked_at, wait = 0, ray.wait

        def counted(references: list[Any], *, wait: Callable[..., Any] = wait, **options: Any) -> Any:
            nonlocal looked_at
            looked_at += len(references)
            return wait(references, **options)

        ray.wait = counted
        began, processor = time.perf_counter(), _processor_seconds()
        done = sum(ray.get(reference) for reference in as_completed(ray, task.remote, range(count)))
        ray.wait = wait
        row = {
            "shards": done,
            "seconds": round(time.perf_counter() - began, 2),
            "driver_milliseconds_per_shard": round((_processor_seconds() - processor) / done * 1000, 3),
            "references_looked_at_per_shard": round(looked_at / done, 1),
        }
        print(row, flush=True)
        rows.append(row)
    ray.shutdown()
    return {"rows": rows}


def _nothing(number: int) -> int:
    return 1


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _all_processor_seconds() -> float:
    """Return the processor time of this process and of all that it has started, directly or not."""
    parents, ticks = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)], ticks[int(entry.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    ours = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return sum(ticks.get(process, 0) for process in ours) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["preprocessing", "shards"])
    parser.add_argument("--nodes", type=int, default=3, help="1: the actors run on the node of the trainer")
    parser.add_argument("--side", type=int, default=500, help="width of the images in pixels")
    parser.add_argument("--files", type=int, default=512)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shards", type=int, default=100_000)
    parser.add_argument("--output", type=Path, help="write the figures there as JSON")
    arguments = parser.parse_args()
    measured = preprocessing(arguments) if arguments.what == "preprocessing" else shards(arguments)
    text = json.dumps({**machine.describe(), **measured}, indent=1)
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
