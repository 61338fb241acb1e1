"""Measures what `ImageLoader` costs beyond the pipeline that it makes, and how soon its first batch is there.

    python benchmarks/image_loader.py [--small DIR] [--rounds 9] [--steps 20] [--starts 5] [--json FILE]

Three contestants take turns in one process, each with a pipeline of its own: the loader, the program that its
`pipeline_source` returns, and a pipeline written by hand on `readers.file`. The processor time of all threads per batch
is affected less by a busy machine than the speed. First batches are those of new processes, from the first import.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import data
import machine
from plugins import measure

from pixelmill import ImageLoader, Loader, fn, pipeline_def

ROOT = Path(__file__).resolve().parents[1]
BATCH = 64
LOADER, PROGRAM, BY_HAND = "ImageLoader", "its pipeline_source", "readers.file by hand"

FIRST_BATCH = {
    LOADER: """
from pixelmill import ImageLoader
batch, _ = next(iter(ImageLoader(sys.argv[1], size=224, batch_size=64, train=True, framework="numpy", num_threads=2)))
""",
    BY_HAND: """
from pixelmill import Loader, fn, pipeline_def
@pipeline_def(batch_size=64, num_threads=2, device_id=None, seed=0)
def train():
    encoded, labels = fn.readers.file(file_root=sys.argv[1], random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=224)
    mirror = fn.random.coin_flip()
    mean, std = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=mean, std=std, output_layout="HWC"), labels
batch = next(iter(Loader(train(), ["images", "labels"])))["images"]
""",
}


@pipeline_def(batch_size=BATCH, device_id=None, seed=0)
def by_hand(folder: str) -> Any:
    """Define the same work as people write it."""
    encoded, labels = fn.readers.file(file_root=folder, random_shuffle=True, name="Reader")
    images = fn.random_resized_crop(fn.decoders.image(encoded), size=224)
    mirror = fn.random.coin_flip()
    mean, std = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]
    return fn.crop_mirror_normalize(images, mirror=mirror, mean=mean, std=std), labels


def endless(loader: Any) -> Iterator[Any]:
    """Yield batches, epoch after epoch."""
    while True:
        yield from loader


def program_batches(text: str) -> Any:
    """Return the batches of a program, and what makes them again for the next epoch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.py"
        path.write_text(text, "utf-8")
        spec = importlib.util.spec_from_file_location("program", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module.batches


def in_turns(folder: str, *, threads: int, rounds: int, steps: int) -> dict[str, Any]:
    """Measure the contestants in turns."""
    loader = ImageLoader(folder, size=224, batch_size=BATCH, train=True, num_threads=threads)
    batches = program_batches(loader.pipeline_source())

    def from_program() -> Iterator[Any]:
        while True:
            yield from batches()

    running = {
        LOADER: endless(loader),
        PROGRAM: from_program(),
        BY_HAND: endless(Loader(by_hand(folder, num_threads=threads), ["images", "labels"])),
    }
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in running}
    for own in running.values():
        measure(own, max(steps // 4, 3))
    for number in range(rounds):
        names = list(running)
        for name in names[number % 3 :] + names[: number % 3]:  # each is first in turn
            measured[name].append(measure(running[name], steps))
    return {name: _summary(found, measured[PROGRAM]) for name, found in measured.items()}


def _summary(found: list[tuple[float, float]], program: list[tuple[float, float]]) -> dict[str, Any]:
    return {
        "images_per_second": round(BATCH / median(seconds for seconds, _ in found), 1),
        "batch_cpu_milliseconds": round(1000 * median(used for _, used in found), 2),
        "time_of_program": round(median(a[0] / b[0] for a, b in zip(found, program, strict=True)), 4),
        "cpu_of_program": round(median(a[1] / b[1] for a, b in zip(found, program, strict=True)), 4),
        "rounds_cpu_milliseconds": [round(1000 * used, 2) for _, used in found],
    }


def first_batches(folder: str, starts: int) -> dict[str, list[float]]:
    """Return the seconds to the first batch in new processes, which take turns."""
    found: dict[str, list[float]] = {name: [] for name in FIRST_BATCH}
    for _ in range(starts):
        for name, program in FIRST_BATCH.items():
            text = f"import sys, time\nbegan = time.perf_counter()\n{program}\nprint(time.perf_counter() - began)"
            done = subprocess.run([sys.executable, "-c", text, folder], capture_output=True, text=True, check=True)
            found[name].append(round(float(done.stdout), 3))
    return found


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB by class; created if omitted")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=20, help="batches of each contestant in each round")
    parser.add_argument("--starts", type=int, default=5, help="processes that are started for the first batch")
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "image_loader.json")
    options = parser.parse_args()
    result: dict[str, Any] = {"machine": machine.describe()}
    result["options"] = {name: getattr(options, name) for name in ("threads", "rounds", "steps", "starts")}
    files = data.load("small", options.small, ROOT / "build")
    folder = str(Path(files.files[0]).parents[1])
    result["data"] = files.describe()
    result["batches"] = in_turns(folder, threads=options.threads, rounds=options.rounds, steps=options.steps)
    result["first_batch_seconds"] = first_batches(folder, options.starts)
    result["machine"]["load_after"] = machine.load()
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    for name, found in result["batches"].items():
        first = median(result["first_batch_seconds"].get(name) or [0])
        print(
            f"{name:22} {found['images_per_second']:8.0f} images/s {found['batch_cpu_milliseconds']:8.2f} CPU ms/batch "
            f" {found['cpu_of_program']:.3f} of the program's CPU  {found['time_of_program']:.3f} of its time"
            + (f"  first batch {first:.2f} s" if first else "")
        )


if __name__ == "__main__":
    main()
