"""Measures pixelmill on a local Ray cluster: preprocessing in actors, and the driver of a job with many shards.

    python benchmarks/ray_cluster.py preprocessing --nodes 1 --output benchmarks/results/ray_preprocessing_1_node.json
    python benchmarks/ray_cluster.py preprocessing --nodes 3 --output benchmarks/results/ray_preprocessing_3_nodes.json
    python benchmarks/ray_cluster.py shards --output benchmarks/results/ray_shards.json

`preprocessing` compares two actors of one thread each with the same pipeline on two threads of this process, in turns:
actors that share memory with the trainer, actors whose batches go through Ray's object store, as they do between hosts,
and actors that hand out finished arrays of the same size through it: what Ray costs if nothing is computed.
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
from typing import Any, NamedTuple

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


class Turn(NamedTuple):
    """What a contestant did in its turn.

    Attributes:
        speed: Images per second.
        costs: Milliseconds of a processor for each image, by kind of process.
    """

    speed: float
    costs: dict[str, float]

    @property
    def cost(self) -> float:
        """Milliseconds of a processor for each image, in all processes."""
        return sum(self.costs.values())


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


def rate(batches: Iterator[Any], steps: int) -> Turn:
    """Measure some steps."""
    began, before = time.perf_counter(), _all_processor_seconds()
    count = sum(len(batch["labels"]) for batch in islice(batches, steps))
    seconds, after = time.perf_counter() - began, _all_processor_seconds()
    return Turn(count / seconds, {kind: (after[kind] - before[kind]) / count * 1000 for kind in after})


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
    workers, nodes = arguments.workers, arguments.nodes
    # Two groups of actors, of which one idles while the other has its turn.
    each = {"num_cpus": 2 * workers, "resources": {"preprocessing": -(-workers // max(nodes - 1, 1))}, **STORE}
    cluster = Cluster(initialize_head=True, head_node_args=each if nodes == 1 else {"num_cpus": 1, **STORE})
    for _ in range(nodes - 1):
        cluster.add_node(**each)
    ray.init(address=cluster.address, log_to_driver=False)
    some = {"preprocessing": 0.3}
    near, far = RayWorkers(workers, resources=some), RayWorkers(workers, resources=some, shared_memory=False)
    with near, far:
        near.wait_for_actors()
        far.wait_for_actors()
        bare = [ray.remote(num_cpus=0, resources=some)(_Finished).remote() for _ in range(workers)]
        contestants = {"threads": None, "shared memory": near, "object store": far}
        rounds = [_one_round(arguments, contestants, bare) for _ in range(arguments.rounds)]
        sharing = near.sharing
    ray.shutdown()
    cluster.shutdown()
    about = {"workers": workers, "nodes": nodes, "side": arguments.side, "batch_size": BATCH_SIZE}
    return {**about, "steps": arguments.steps, "actors_that_share_memory": sharing, **_compared(rounds), "wanted": 0.9}


def _one_round(
    arguments: argparse.Namespace, contestants: dict[str, RayWorkers | None], bare: list[Any]
) -> dict[str, Turn]:
    folder = photos(arguments.files, arguments.side)
    turns = {}
    for name, workers in contestants.items():
        # A contestant is created for its turn: batches that it has started ahead would run in the other's.
        loader = Loader(train(folder, num_threads=arguments.workers), NAMES, workers=workers)
        batches = endless(loader)
        rate(batches, 10)
        turns[name] = rate(batches, arguments.steps)
        loader.pipeline.close()
    finished = handed_out(bare, 10 + arguments.steps)
    rate(finished, 10)
    turns["ray alone"] = rate(finished, arguments.steps)
    print({name: (round(turn.speed), round(turn.cost, 3)) for name, turn in turns.items()}, flush=True)
    return turns


def _compared(rounds: list[dict[str, Turn]]) -> dict[str, Any]:
    """Return the figures of all turns, and the median of the ratios within rounds."""
    transports = ("shared memory", "object store")
    kinds = rounds[0]["threads"].costs
    return {
        "images_per_second": {name: [round(turns[name].speed, 1) for turns in rounds] for name in rounds[0]},
        "processor_milliseconds_per_image": {
            name: [round(turns[name].cost, 3) for turns in rounds] for name in rounds[0]
        },
        "of_which_median": {
            name: {kind: round(statistics.median(turns[name].costs[kind] for turns in rounds), 3) for kind in kinds}
            for name in rounds[0]
        },
        "ratio": {
            name: round(statistics.median(turns[name].speed / turns["threads"].speed for turns in rounds), 3)
            for name in transports
        },
        "ratio_by_processor_time": {
            name: round(statistics.median(turns["threads"].cost / turns[name].cost for turns in rounds), 3)
            for name in transports
        },
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


def _all_processor_seconds() -> dict[str, float]:
    """Return the processor time of this process and of all that it has started, directly or not, by kind."""
    parents, ticks, names = {}, {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it has ended
                name, _, rest = (entry / "stat").read_text().partition("(")[2].rpartition(")")
                fields, process = rest.split(), int(entry.name)
                parents[process], ticks[process] = int(fields[1]), int(fields[11]) + int(fields[12])
                names[process] = name
    ours = {os.getpid()}
    while more := {process for process, parent in parents.items() if parent in ours} - ours:
        ours |= more
    seconds = {"trainer": 0.0, "actors": 0.0, "raylets": 0.0, "others": 0.0}
    for process in ours & set(ticks):
        name = names[process]
        kind = "actors" if name.startswith("ray::") else "raylets" if name == "raylet" else "others"
        seconds["trainer" if process == os.getpid() else kind] += ticks[process] / os.sysconf("SC_CLK_TCK")
    return seconds


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
