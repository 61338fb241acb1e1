"""Measures `pixelmill augment` next to the same job with DALI on the CPU, Pillow and TensorFlow's writer.

python benchmarks/augment.py [--small DIR] [--images 10800] [--threads 2] [--rounds 3] [--json FILE]

The job: TFRecords of JPEG files in; decode, resize to 512x512, mirror, rotate by up to 7 degrees, crop to 448x448, JPEG
of quality 90; TFRecords out. Contestants take turns. Wall-clock time covers the whole call of `augment`, including the
start of its workers and the manifest; DALI's pipelines are built before their clock starts. The bare codecs decode the
same files and encode the resulting images in as many threads, and do nothing else.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import data
import machine
from bare_codecs import bare_codecs
from rich.console import Console
from rich.table import Table

from pixelmill import augment
from pixelmill.formats import example, tfrecord
from pixelmill.formats.registry import open_dataset

ROOT = Path(__file__).resolve().parents[1]
SHARDS, BATCH = 12, 32
BARE = "bare codecs"
ENCODED = 256  # images that the bare encoder holds in memory


def main() -> None:
    """Measure, print and save the results."""
    options = _options()
    machine.compile_modules()
    facts = machine.describe()
    files = data.load("small", options.small, ROOT / "build")
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        source = fill(Path(name) / "in", options.images, files.files)
        peer = DaliJob(source, options.threads)
        contestants: dict[str, Callable[[Path], None]] = {
            "pixelmill": lambda out: ours(source, out, workers=options.threads),
            "pixelmill, 1 worker": lambda out: ours(source, out, workers=1, threads=1),
            "DALI + Pillow + TensorFlow": peer.run,
        }
        times: dict[str, list[tuple[float, float]]] = {contestant: [] for contestant in contestants}
        inputs = [files.files[number % len(files.files)] for number in range(options.images)]
        for _ in range(options.rounds):
            for contestant, work in contestants.items():
                times[contestant].append(measured(work, Path(name) / "out"))
                if contestant == "pixelmill":
                    cost = bare_codecs(inputs, unpacked(Path(name)), threads=options.threads)
                    spent = (cost.clock * options.images / 1e3, cost.processor * options.images / 1e3)
                    times.setdefault(BARE, []).append(spent)
                shutil.rmtree(Path(name) / "out")
    result: dict[str, Any] = {
        "machine": facts,
        "data": files.describe(),
        "options": {"images": options.images, "threads": options.threads, "rounds": options.rounds},
        "results": {contestant: figures(rounds, options.images) for contestant, rounds in times.items()},
    }
    show(result["results"])
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--images", type=int, default=10800)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="where to write")
    parser.add_argument("--json", type=Path, help="where to write the results")
    return parser.parse_args()


def fill(folder: Path, count: int, files: list[str]) -> Path:
    """Write TFRecords with their indexes."""
    folder.mkdir()
    for shard in range(SHARDS):
        path = folder / f"train-{shard:05d}-of-{SHARDS:05d}"
        lines = []
        with path.open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
            for number in range(shard, count, SHARDS):
                features = {
                    "image/encoded": example.bytes_feature(Path(files[number % len(files)]).read_bytes()),
                    "image/class/label": example.int64_feature(number % 10),
                    "image/filename": example.bytes_feature(f"{number}.jpg"),
                }
                lines.append("{} {}\n".format(*writer.write_example(features)))
        path.with_name(path.name + ".idx").write_text("".join(lines))
    return folder


def unpacked(folder: Path) -> list[str]:
    """Write some of the resulting images as files."""
    target = folder / "images"
    target.mkdir(exist_ok=True)
    dataset = open_dataset(str(folder / "out"))
    paths = [target / f"{number}.jpg" for number in range(min(ENCODED, len(dataset)))]
    for number, path in enumerate(paths):
        path.write_bytes(dataset.sample(number).image)
    return list(map(str, paths))


def ours(source: Path, output: Path, *, workers: int, threads: int | None = None) -> None:
    if threads is None:
        augment(str(source / "train-*-of-?????"), output, workers=workers)
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, set(sorted(allowed)[:threads]))
    try:
        augment(str(source / "train-*-of-?????"), output, workers=workers)
    finally:
        os.sched_setaffinity(0, allowed)


class DaliJob:
    """The same job: DALI reads, decodes and augments, a thread pool encodes with Pillow, TensorFlow writes."""

    def __init__(self, source: Path, threads: int) -> None:
        import nvidia.dali as dali
        from nvidia.dali import fn, tfrecord

        self._paths = sorted(str(path) for path in source.iterdir() if path.suffix != ".idx")
        self._threads = threads

        @dali.pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None, seed=1)
        def graph(path: str) -> Any:
            features = {
                "image/encoded": tfrecord.FixedLenFeature((), tfrecord.string, ""),
                "image/class/label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
            }
            record = fn.readers.tfrecord(path=path, index_path=f"{path}.idx", features=features, name="reader")
            image = fn.resize(fn.decoders.image(record["image/encoded"]), size=(512, 512))
            image = fn.flip(image, horizontal=fn.random.coin_flip())
            image = fn.rotate(image, angle=fn.random.uniform(range=[-7, 7]), keep_size=True, fill_value=0)
            place = {f"crop_pos_{axis}": fn.random.uniform(range=[0, 1]) for axis in "xy"}
            return fn.crop(image, crop=(448, 448), **place), record["image/class/label"]

        self._pipelines = [graph(path) for path in self._paths]
        for pipeline in self._pipelines:
            pipeline.build()

    def run(self, output: Path) -> None:
        import tensorflow as tf

        output.mkdir()
        with ThreadPoolExecutor(self._threads) as pool:
            for path, pipeline in zip(self._paths, self._pipelines, strict=True):
                left = pipeline.epoch_size("reader")
                with tf.io.TFRecordWriter(str(output / Path(path).name)) as writer:
                    while left > 0:
                        images, labels = pipeline.run()
                        count = min(left, BATCH)
                        samples = [images.at(place) for place in range(count)]
                        for place, encoded in enumerate(pool.map(jpeg, samples)):
                            writer.write(self._example(tf, encoded, int(labels.at(place)[0])))
                        left -= count
                pipeline.reset()

    @staticmethod
    def _example(tf: Any, image: bytes, label: int) -> Any:
        features = {
            "image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[image])),
            "image/class/label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label])),
        }
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def jpeg(pixels: Any) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def measured(work: Callable[[Path], None], output: Path) -> tuple[float, float]:
    """Return the wall-clock seconds and the processor seconds."""
    before, begin = _processor_seconds(), time.perf_counter()
    work(output)
    return time.perf_counter() - begin, _processor_seconds() - before


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def figures(rounds: list[tuple[float, float]], images: int) -> dict[str, Any]:
    """Summarize the rounds of a contestant."""
    clock, processor = (statistics.median(values) for values in zip(*rounds, strict=True))
    return {
        "images_per_second": round(images / clock, 1),
        "best_images_per_second": round(images / min(seconds for seconds, _ in rounds), 1),
        "processor_ms_per_image": round(processor / images * 1e3, 3),
        "rounds": [[round(value, 3) for value in pair] for pair in rounds],
    }


def show(results: dict[str, Any]) -> None:
    """Print a table."""
    table = Table(title="augment: resize 512, mirror, rotate, crop 448, JPEG 90; TFRecord to TFRecord")
    headings = ("images/s, median", "processor ms/image", "of DALI's speed", "of the bare codecs' speed, time")
    table.add_column("")
    for heading in headings:
        table.add_column(heading, justify="right")
    dali = results["DALI + Pillow + TensorFlow"]["images_per_second"]
    bare_rate, bare_time = (results[BARE][figure] for figure in ("images_per_second", "processor_ms_per_image"))
    for name, values in results.items():
        rate, spent = values["images_per_second"], values["processor_ms_per_image"]
        next_to_codecs = f"{rate / bare_rate:.2f}, {spent / bare_time:.2f}"
        table.add_row(name, f"{rate:,.0f}", f"{spent:.2f}", f"{rate / dali:.2f}", next_to_codecs)
    Console().print(table)


if __name__ == "__main__":
    main()
