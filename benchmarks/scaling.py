"""Measures how bulk jobs scale from one worker to as many as there are processors.

python benchmarks/scaling.py [--images 3600] [--rounds 3] [--small DIR] [--json FILE]

One worker has one processor, two have two, and so on. Rounds take turns; the table has their medians. Wall-clock time
covers the whole call: listing the files, starting the workers, writing, syncing, the manifest.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
import machine
from augment import fill
from rich.console import Console
from rich.table import Table

from pixelmill import augment, convert
from pixelmill.create import create_images
from pixelmill.ingest import ingest

ROOT = Path(__file__).resolve().parents[1]
FEWER_IMAGES = {"create, photo": 6}  # divisor of the number of images, for jobs where each image takes long


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=3600)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="where to write")
    parser.add_argument("--json", type=Path, help="where to write the results")
    options = parser.parse_args()
    machine.compile_modules()
    machine_facts = machine.describe()
    processors = sorted(os.sched_getaffinity(0))
    steps = [count for count in (1, 2, 4, 8, 16, 32, 64) if count <= len(processors)]
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        jobs = _jobs(Path(name), options)
        speeds: dict[str, dict[int, list[float]]] = {job: {count: [] for count in steps} for job in jobs}
        for _ in range(options.rounds):
            for job, work in jobs.items():
                for count in steps:
                    os.sched_setaffinity(0, processors[:count])
                    try:
                        images = options.images // FEWER_IMAGES.get(job, 1)
                        speeds[job][count].append(images / _seconds(work, Path(name) / "out", count))
                    finally:
                        os.sched_setaffinity(0, processors)
    medians = {job: {n: statistics.median(rates) for n, rates in found.items()} for job, found in speeds.items()}
    _show(medians, steps)
    if options.json:
        facts = {"machine": machine_facts, "images": options.images, "images_per_second": medians}
        options.json.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")


def _jobs(folder: Path, options: argparse.Namespace) -> dict[str, Callable[[Path, int], Any]]:
    files = data.load("small", options.small, ROOT / "build").files
    records = str(fill(folder / "records", options.images, files) / "train-*-of-?????")
    photos = folder / "photos"
    for number in range(options.images):
        place = photos / f"class{number % 10}"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files[number % len(files)], place / f"{number:06d}.jpg")
    return {
        "augment": lambda out, workers: augment(records, out, workers=workers),
        "ingest": lambda out, workers: ingest(photos, out, num_workers=workers),
        "convert, re-encoded": lambda out, workers: convert(
            photos, out, to="tfrecord", num_shards=8, resize=256, workers=workers
        ),
        "create, photo": lambda out, workers: create_images(
            out, "i_", 470, 400, options.images // 6, "jpg", content="photo", container="tfrecord", img_per_file=50,
            workers=workers,
        ),
    }  # fmt: skip


def _seconds(work: Callable[[Path, int], Any], output: Path, workers: int) -> float:
    began = time.perf_counter()
    work(output, workers)
    seconds = time.perf_counter() - began
    shutil.rmtree(output)
    return seconds


def _show(medians: dict[str, dict[int, float]], steps: list[int]) -> None:
    table = Table("", *(f"{count} worker{'s' * (count > 1)}, images/s" for count in steps), "times as fast")
    for job, found in medians.items():
        table.add_row(job, *(f"{found[count]:,.0f}" for count in steps), f"{found[steps[-1]] / found[1]:.2f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
