"""Measures `pixelmill ingest` next to TensorFlow with as many processes, and to the bare codecs.

python benchmarks/ingest.py [--images 6000] [--size 300] [--workers 2] [--rounds 3] [--json FILE]

Contestants take turns. Wall-clock time covers the whole call of `ingest`, including the start of its workers and the
manifest; TensorFlow's processes are warm before their clock starts. Processor time covers all processes. The bare codec
decodes the same files in as many threads and does nothing else.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import data
import machine
from bare_codecs import bare_codecs
from rich.console import Console
from rich.table import Table

from pixelmill.ingest import ingest

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Measure, print and save the results."""
    options = _options()
    machine.compile_modules()
    facts = machine.describe()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        source = fill(Path(name) / "in", options.images, options.small)
        contestants: dict[str, Callable[[Path], tuple[float, float]]] = {
            "pixelmill": lambda output: ours(source, output, options),
            "tensorflow, antialias": lambda output: theirs(source, output, options, antialias=True),
            "tensorflow": lambda output: theirs(source, output, options, antialias=False),
            "bare decoder": lambda output: bare(source, output, options),
        }
        times: dict[str, list[tuple[float, float]]] = {contestant: [] for contestant in contestants}
        for _ in range(options.rounds):
            for contestant, measure in contestants.items():
                times[contestant].append(measure(Path(name) / "out"))
                shutil.rmtree(Path(name) / "out")
    result = {"machine": facts, "options": {**vars(options), "json": None, "small": None}, "results": {}}
    for contestant, rounds in times.items():
        clock, processor = (statistics.median(values) for values in zip(*rounds, strict=True))
        result["results"][contestant] = {
            "images_per_second": options.images / clock,
            "processor_ms_per_image": processor / options.images * 1e3,
            "rounds": rounds,
        }
    show(result["results"])
    if options.json:
        options.json.write_text(json.dumps(result, indent=1, default=str) + "\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=6000)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="where to write")
    parser.add_argument("--json", type=Path, help="where to write the results")
    return parser.parse_args()


def fill(folder: Path, count: int, small: Path | None) -> Path:
    """Create class folders with this many files."""
    files = data.load("small", small, ROOT / "build").files
    for number in range(count):
        place = folder / f"class{number % 10}"
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files[number % len(files)], place / f"{number:06d}.jpg")
    return folder


def ours(source: Path, output: Path, options: argparse.Namespace) -> tuple[float, float]:
    before, begin = processor_seconds(), time.perf_counter()
    ingest(source, output, num_workers=options.workers, img_size=options.size)
    return time.perf_counter() - begin, processor_seconds() - before


def theirs(source: Path, output: Path, options: argparse.Namespace, *, antialias: bool) -> tuple[float, float]:
    output.mkdir()
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(options.workers + 1)
    results = context.SimpleQueue()
    files = sorted(str(path) for path in source.rglob("*.jpg"))
    processes = [
        context.Process(
            target=tensorflow_worker,
            args=(files[number :: options.workers], output / str(number), options.size, antialias, ready, results),
        )
        for number in range(options.workers)
    ]
    for process in processes:
        process.start()
    ready.wait()
    begin = time.perf_counter()
    for process in processes:
        process.join()
    seconds = time.perf_counter() - begin
    return seconds, sum(results.get() for _ in processes)


def bare(source: Path, output: Path, options: argparse.Namespace) -> tuple[float, float]:
    output.mkdir()
    cost = bare_codecs(sorted(str(path) for path in source.rglob("*.jpg")), threads=options.workers)
    return cost.clock * options.images / 1e3, cost.processor * options.images / 1e3


def tensorflow_worker(files: list[str], target: Path, size: int, antialias: bool, ready: Any, results: Any) -> None:
    """Decode, crop, resize and write with one thread."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def prepared(path: Any) -> Any:
        image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        side = tf.minimum(tf.shape(image)[0], tf.shape(image)[1])
        top, left = (tf.shape(image)[0] - side) // 2, (tf.shape(image)[1] - side) // 2
        square = tf.image.crop_to_bounding_box(image, top, left, side, side)
        resized = tf.image.resize(square, (size, size), antialias=antialias)
        return tf.cast(tf.round(tf.clip_by_value(resized, 0, 255)), tf.uint8)

    def numbers(*values: int) -> Any:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    def text(value: bytes) -> Any:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    prepared(files[0])
    ready.wait()
    before = time.process_time()
    with tf.io.TFRecordWriter(str(target)) as writer:
        for path in files:
            folder, name = path.encode().split(b"/")[-2:]
            features = {
                "image/height": numbers(size),
                "image/width": numbers(size),
                "image/colorspace": text(b"RGB"),
                "image/channels": numbers(3),
                "image/class/label": numbers(int(folder[5:])),
                "image/class/synset": text(folder),
                "image/class/text": text(folder),
                "image/format": text(b"tensor"),
                "image/filename": text(name),
                "image/encoded": text(prepared(path).numpy().tobytes()),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    results.put(time.process_time() - before)


def processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in usage)


def show(results: dict[str, Any]) -> None:
    table = Table("", "images/s", "ours is", "processor ms/image", "ours takes")
    first = results["pixelmill"]
    for name, figures in results.items():
        times = first["images_per_second"] / figures["images_per_second"]
        share = first["processor_ms_per_image"] / figures["processor_ms_per_image"]
        table.add_row(
            name,
            f"{figures['images_per_second']:,.0f}",
            f"{times:.2f} x",
            f"{figures['processor_ms_per_image']:.2f}",
            f"{share:.2f} of it",
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    main()
