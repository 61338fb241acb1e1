"""Measures creating images and wrapping them into records. docs/create.md has the results.

    python benchmarks/create.py [jpg png bmp records] [--count 100] [--rounds 3] [--folder DIR] [--json FILE]

Measured next to it, in the same run and in turns: NumPy, Pillow and multiprocessing as in Imageinary; bare
libjpeg-turbo encoding in threads; TensorFlow's record writer. Prints the medians of the rounds and the targets.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import machine
import numpy as np
from PIL import Image

from pixelmill.create import create_images, create_photo_folder, create_recordio, create_tfrecords

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEIGHT = 1920, 1080
RECORDS, PER_FILE = 1000, 100
CHUNK = 64
# Targets: how many times as fast as Imageinary's method; for records, as TensorFlow's writer.
WANTED = {"jpg": 4.5, "png": 6.0, "bmp": 4.0, "tfrecord": 3.0, "recordio": 3.0}
WANTED_OF_LIMIT = 0.75


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="of jpg, png, bmp, records; all if none")
    parser.add_argument("--count", type=int, default=100, help="images in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "bench-create", help="where to write")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {"machine": machine.describe(), "count": options.count, "rounds": options.rounds}
    for part in options.parts or ("jpg", "png", "bmp", "records"):
        measure = _records if part == "records" else _images
        result[part] = measure(part, options)
        print(json.dumps({part: result[part]}, indent=1))
    result["machine"]["load_after"] = machine.load()
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def _in_turns(contestants: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Run all contestants in turns in each round; return the medians."""
    figures: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, run in contestants.items():
            figures[name].append(run())
    return {name: round(statistics.median(values), 2) for name, values in figures.items()}


def _timed(work: Callable[[], object], amount: int) -> float:
    start = time.perf_counter()
    work()
    return amount / (time.perf_counter() - start)


def _images(kind: str, options: argparse.Namespace) -> dict[str, Any]:
    ours, theirs = options.folder / "ours", options.folder / "theirs"
    sizes: dict[str, float] = {}

    def run(folder: Path, make: Callable[[Path], object]) -> float:
        shutil.rmtree(folder, ignore_errors=True)
        speed = _timed(lambda: make(folder), options.count)
        files = list(folder.iterdir())
        sizes[folder.name] = sum(file.stat().st_size for file in files) / len(files)
        shutil.rmtree(folder)
        return speed

    contestants = {
        "pixelmill": lambda: run(ours, lambda f: create_images(f, "i_", WIDTH, HEIGHT, options.count, kind)),
        "numpy_pillow": lambda: run(theirs, lambda f: numpy_pillow(f, options.count, kind)),
    }
    if kind == "jpg":
        contestants["bare_encoder"] = lambda: bare_encoder(options.count)
    figures = _in_turns(contestants, options.rounds)
    times = figures["pixelmill"] / figures["numpy_pillow"]
    result: dict[str, Any] = {
        "images_per_second": figures,
        "file_bytes": {"pixelmill": round(sizes["ours"]), "numpy_pillow": round(sizes["theirs"])},
        "times_as_fast": round(times, 2),
        "wanted": WANTED[kind],
        "met": times >= WANTED[kind] and (kind != "png" or sizes["ours"] <= sizes["theirs"]),
    }
    if kind == "jpg":
        share = figures["pixelmill"] / figures["bare_encoder"]
        result |= {"share_of_bare_encoder": round(share, 2), "met_bare_encoder": share >= WANTED_OF_LIMIT}
    return result


def numpy_pillow(folder: Path, count: int, kind: str) -> None:
    """Make noise as Imageinary does: one process per processor, NumPy's old generator, Pillow's writers."""
    folder.mkdir(parents=True)
    with Pool() as pool:
        work = ((str(folder / f"i_{number}.{kind}"), number, kind) for number in range(count))
        pool.starmap(_write_noise, work, chunksize=min(CHUNK, math.ceil(count / (os.cpu_count() or 1))))


def _write_noise(path: str, seed: int, kind: str) -> None:
    np.random.seed(seed)
    pixels = (np.random.rand(HEIGHT, WIDTH, 3) * 255).astype("uint8")
    Image.fromarray(pixels).convert("RGB" if kind == "jpg" else "RGBA").save(path)


def bare_encoder(count: int) -> float:
    """Encode noise in memory with one thread per processor; write nothing."""
    source, program = ROOT / "benchmarks" / "encode_limit.cpp", ROOT / "build" / "encode_limit"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(exist_ok=True)
        subprocess.run(["g++", "-std=c++20", "-O2", str(source), "-o", str(program), "-ljpeg", "-pthread"], check=True)
    words = [str(program), str(WIDTH), str(HEIGHT), str(count), str(len(os.sched_getaffinity(0)))]
    return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def _records(part: str, options: argparse.Namespace) -> dict[str, Any]:
    import tensorflow  # noqa: F401 - keep the import out of the first round

    del part
    source = options.folder / "photos"
    if len(list(source.glob("*/*"))) != RECORDS:  # may exist after an interrupted run
        shutil.rmtree(source, ignore_errors=True)
        create_photo_folder(source, RECORDS, classes=1, quality_range=(85, 90))
    files = sorted((source / "class_000").iterdir())
    target = options.folder / "records"

    def run(work: Callable[[], object]) -> float:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        speed = _timed(work, len(files))
        shutil.rmtree(target)
        return speed

    images = source / "class_000"
    figures = _in_turns(
        {
            "tfrecord": lambda: run(lambda: create_tfrecords(images, target, "r_", PER_FILE)),
            "recordio": lambda: run(lambda: create_recordio(images, target, "r_", PER_FILE)),
            "tensorflow": lambda: run(lambda: tensorflow_writer(files, target)),
        },
        options.rounds,
    )
    times = {name: round(figures[name] / figures["tensorflow"], 2) for name in ("tfrecord", "recordio")}
    return {
        "images_per_second": figures,
        "mean_bytes": sum(file.stat().st_size for file in files) // len(files),
        "times_as_fast": times,
        "wanted": WANTED["tfrecord"],
        "met": all(times[name] >= WANTED[name] for name in times),
    }


def tensorflow_writer(files: list[Path], target: Path) -> None:
    """Wrap files with TensorFlow's Example and TFRecordWriter."""
    import tensorflow as tf

    for at in range(0, len(files), PER_FILE):
        with tf.io.TFRecordWriter(str(target / f"r_{at // PER_FILE}")) as writer:
            for path in files[at : at + PER_FILE]:
                image = tf.train.Feature(bytes_list=tf.train.BytesList(value=[path.read_bytes()]))
                label = tf.train.Feature(int64_list=tf.train.Int64List(value=[0]))
                feature = {"image/encoded": image, "image/class/label": label}
                writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


if __name__ == "__main__":
    main()
