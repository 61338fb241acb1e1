"""Measures the cost of handing batches to a framework: each plugin next to the bare `Loader`, on the train workload.

    python benchmarks/plugins.py [--small DIR] [--rounds 7] [--steps 40] [--json FILE] [--page]

Each plugin has its own pipeline in the same process, and they take turns. The cost of a batch is the processor time of
all threads, which a busy machine affects less than the speed. Batches of one number show the fixed cost.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import data
import machine
import numpy as np

from pixelmill import Loader, Pipeline, fn, pipeline_def

ROOT = Path(__file__).resolve().parents[1]
NAMES = ["images", "labels"]
BATCH = 64
SMALL_STEPS = 2000
BEGIN, END = "<!-- costs: written by benchmarks/plugins.py -->", "<!-- end of costs -->"


@pipeline_def(batch_size=BATCH, device_id=None, seed=7)
def train(files: list[str]) -> Any:
    """Define the train workload."""
    encoded, labels = fn.readers.file(files=files, labels=[0] * len(files), random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=224)
    mirror = fn.random.coin_flip(probability=0.5)
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=[124, 116, 104], std=[58, 57, 57]), labels


def numbers(threads: int) -> Pipeline:
    """Define batches of one number and one label."""
    batch = np.ones((1, 1), np.float32), np.ones((1, 1), np.int32)
    pipe = Pipeline(1, threads, None, seed=7)
    with pipe:
        pipe.set_outputs(*fn.external_source(source=lambda: batch, num_outputs=2))
    return pipe


def loader(pipe: Pipeline) -> Iterator[Any]:
    """Yield dicts of NumPy arrays."""
    batches = Loader(pipe, NAMES)
    while True:
        yield from batches


def _endless(iterator: Any, pipe: Pipeline) -> Iterator[Any]:
    reader = "Reader" if pipe.reader_meta() else None
    batches = iterator(pipe, NAMES, reader_name=reader, auto_reset=True)
    while True:
        yield from batches


def pytorch(pipe: Pipeline) -> Iterator[Any]:
    """Yield lists of dicts of tensors."""
    from pixelmill.plugin.pytorch import DALIGenericIterator

    return _endless(DALIGenericIterator, pipe)


def lightning(pipe: Pipeline) -> Iterator[Any]:
    """Yield dicts of tensors as a Trainer receives them."""
    from pixelmill.plugin.lightning import PipelineDataModule

    batches = PipelineDataModule(pipe, names=NAMES).train_dataloader()
    while True:
        yield from batches


def jax(pipe: Pipeline) -> Iterator[Any]:
    """Yield dicts of JAX arrays."""
    from pixelmill.plugin.jax import DALIGenericIterator

    return _endless(DALIGenericIterator, pipe)


def tf_dataset(pipe: Pipeline) -> Iterator[Any]:
    """Yield tuples of tensors, endlessly."""
    import tensorflow as tf

    from pixelmill.plugin.tf import DALIDataset

    options = {"batch_size": pipe.max_batch_size, "num_threads": pipe.num_threads, "device_id": None}
    yield from DALIDataset(pipe, (tf.float32, tf.int32), **options)


def tf_from_loader(pipe: Pipeline) -> Iterator[Any]:
    """Yield dicts of tensors, epoch after epoch."""
    from pixelmill.plugin.tf import from_loader

    batches = from_loader(Loader(pipe, NAMES))
    while True:
        yield from batches


CONTESTANTS: dict[str, Callable[[Pipeline], Iterator[Any]]] = {
    "Loader": loader,
    "plugin.pytorch": pytorch,
    "plugin.lightning": lightning,
    "plugin.jax": jax,
    "plugin.tf, DALIDataset": tf_dataset,
    "plugin.tf, from_loader": tf_from_loader,
}


def measure(batches: Iterator[Any], steps: int) -> tuple[float, float]:
    """Take some batches; return wall-clock and processor seconds per batch."""
    usage, clock = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    for _ in range(steps):
        next(batches)
    seconds, after = time.perf_counter() - clock, resource.getrusage(resource.RUSAGE_SELF)
    used = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    return seconds / steps, used / steps


def in_turns(make: Callable[[], Pipeline], *, rounds: int, steps: int) -> dict[str, dict[str, Any]]:
    """Measure all plugins in turns; costs are medians of the differences to the bare loader."""
    running = {name: begin(make()) for name, begin in CONTESTANTS.items()}
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in running}
    for batches in running.values():
        measure(batches, max(steps // 4, 3))
    for _ in range(rounds):
        for name, batches in running.items():
            measured[name].append(measure(batches, steps))
    bare = measured["Loader"]
    return {
        name: {
            "batch_milliseconds": round(1000 * median(seconds for seconds, _ in found), 3),
            "batch_cpu_milliseconds": round(1000 * median(used for _, used in found), 3),
            "cost_cpu_microseconds": round(1e6 * median(a[1] - b[1] for a, b in zip(found, bare, strict=True)), 1),
        }
        for name, found in measured.items()
    }


def main() -> None:
    """Measure, print and save the results."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")  # of frameworks, such as tuning advice
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=40, help="batches of each plugin in each round")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "plugins.json")
    parser.add_argument("--page", action="store_true", help="write the figures into docs/plugins.md as well")
    options = parser.parse_args()
    result: dict[str, Any] = {"machine": machine.describe()}
    result["options"] = {name: getattr(options, name) for name in ("threads", "rounds", "steps")}
    files = data.load("small", options.small, ROOT / "build")
    many = files.files * files.repeats
    result["plugins"] = {
        "data": files.describe(),
        "train": in_turns(lambda: train(many, num_threads=options.threads), rounds=options.rounds, steps=options.steps),
        "numbers": in_turns(
            lambda: numbers(options.threads), rounds=options.rounds, steps=options.steps * SMALL_STEPS // 40
        ),
    }
    result["machine"]["load_after"] = machine.load()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(table(result))
    if options.page:
        write_page(result, ROOT / "docs" / "plugins.md")


def table(result: dict[str, Any]) -> str:
    """Return the figures as a table of the page."""
    lines = ["| | train, images/s | CPU ms a batch | batches of one number, µs a batch more |", "|---|---|---|---|"]
    for name, found in result["plugins"]["train"].items():
        small = result["plugins"]["numbers"][name]["cost_cpu_microseconds"]
        more = f"{small:.0f}" if name != "Loader" else ""
        speed = 1000 * BATCH / found["batch_milliseconds"]
        lines.append(f"| {name} | {speed:.0f} | {found['batch_cpu_milliseconds']:.1f} | {more} |")
    options, facts = result["options"], result["machine"]
    how = f"{options['threads']} threads, {options['rounds']} rounds of {options['steps']} batches of {BATCH} in turns"
    return "\n".join([*lines, "", f"{how}; load {facts['load_before']}, {facts['processor']}, {facts['date'][:10]}."])


def write_page(result: dict[str, Any], page: Path) -> None:
    """Replace the text between the markers."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    text = page.read_text("utf-8")
    page.write_text(pattern.sub(lambda _: f"{BEGIN}\n\n{table(result)}\n\n{END}", text), "utf-8")


if __name__ == "__main__":
    main()
