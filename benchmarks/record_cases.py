"""The cases of `records.py`: indexing, reading and writing, each by all libraries that can do it."""

from __future__ import annotations

import importlib.metadata
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pixelmill.conversion import convert
from pixelmill.create.wrapping import create_recordio, create_tfrecords
from pixelmill.formats import example, tfrecord

LARGE_BYTES = 1_000_000_000
WRITTEN, SHARDS = 1000, 4
SMALL_RECORDS, SMALL_BYTES = 10_000, 300

# DALI's program tries to import TensorFlow first, which takes seconds if it is installed, and does not need it.
WITHOUT_TENSORFLOW = """
import runpy, sys
sys.modules["tensorflow"] = None
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""

Run = Callable[[], None]


@dataclass(frozen=True)
class Case:
    """A comparison: contestants, the amount of work, and the target of the first contestant against the second.

    `prepare` is called before each run and not measured; it removes the output of the last run.
    """

    title: str
    unit: str
    amount: float
    contestants: dict[str, Run]
    target: float | None
    prepare: Run | None = None


def dali_script() -> Path | None:
    """Find DALI's `tfrecord2idx`, a Python program; None if ours has replaced it."""
    for distribution in importlib.metadata.distributions():
        if (distribution.metadata["Name"] or "").lower().startswith("nvidia-dali"):
            for file in distribution.files or []:
                path = Path(str(file.locate())).resolve()
                if file.name == "tfrecord2idx" and path.exists() and "pixelmill" not in path.read_text():
                    return path
    return None


def _large(images: Sequence[bytes], scratch: Path) -> Path:
    path = scratch / "large.tfrecord"
    if not path.exists() or path.stat().st_size < LARGE_BYTES:
        with path.open("wb") as stream:
            number = end = 0
            with tfrecord.RecordWriter(stream) as writer:
                while end < LARGE_BYTES:
                    end = sum(writer.write_example(features_of(images, number)))
                    number += 1
    return path


def index_case(images: Sequence[bytes], scratch: Path) -> Case:
    """Index a gigabyte within a running process: the work itself."""
    path, script = _large(images, scratch), dali_script()

    def ours() -> None:
        tfrecord.write_index(str(scratch / "ours.idx"), tfrecord.scan(str(path)).index)

    def dali() -> None:
        arguments, known = sys.argv, sys.modules.pop("tensorflow", None)
        sys.argv = [str(script), str(path), str(scratch / "dali.idx")]
        sys.modules["tensorflow"] = None  # type: ignore[assignment]
        try:
            runpy.run_path(str(script), run_name="__main__")
        finally:
            sys.argv = arguments
            del sys.modules["tensorflow"]
            if known is not None:
                sys.modules["tensorflow"] = known

    contestants: dict[str, Run] = {"pixelmill": ours}
    if script is not None:
        contestants["DALI's tfrecord2idx, in this process"] = dali
    return Case("index 1 GB of images", "GB", path.stat().st_size / 1e9, contestants, 5.0)


def command_case(images: Sequence[bytes], scratch: Path) -> Case:
    """Index a gigabyte with the commands, including their start."""
    path, script, idx = _large(images, scratch), dali_script(), scratch / "dali.idx"

    def ours() -> None:
        command = [sys.executable, "-m", "pixelmill.cli.tfrecord2idx", str(path), str(scratch / "ours.idx")]
        subprocess.run(command, check=True)

    def dali() -> None:
        subprocess.run([sys.executable, "-c", WITHOUT_TENSORFLOW, str(script), str(path), str(idx)], check=True)

    contestants: dict[str, Run] = {"pixelmill": ours}
    if script is not None:
        contestants["DALI's tfrecord2idx"] = dali
    return Case(
        "index 1 GB of images, start of the command included", "GB", path.stat().st_size / 1e9, contestants, None
    )


def read_case(images: Sequence[bytes], scratch: Path) -> Case:
    """Read the payloads of records of 100 kB and verify their checksums."""
    path = scratch / "images.tfrecord"
    with path.open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
        for number in range(WRITTEN):
            writer.write_example(features_of(images, number))
    return _reading(path, WRITTEN, "read records of images")


def read_small_case(images: Sequence[bytes], scratch: Path) -> Case:
    """Read the payloads of records of 300 bytes and verify their checksums."""
    path = scratch / "small.tfrecord"
    with path.open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
        for number in range(SMALL_RECORDS):
            writer.write(images[0][number % 1000 : number % 1000 + SMALL_BYTES])
    return _reading(path, SMALL_RECORDS, "read records of 300 bytes")


def _reading(path: Path, count: int, title: str) -> Case:
    import tensorflow as tf

    def ours() -> None:
        assert sum(1 for _ in tfrecord.read_records(str(path))) == count

    def theirs() -> None:
        assert sum(1 for _ in tf.data.TFRecordDataset(str(path)).as_numpy_iterator()) == count

    def prefetched() -> None:
        records = tf.data.TFRecordDataset(str(path), buffer_size=8 << 20).prefetch(tf.data.AUTOTUNE)
        assert sum(1 for _ in records.as_numpy_iterator()) == count

    contestants: dict[str, Run] = {"pixelmill": ours, "tf.data, prefetch": prefetched, "tf.data": theirs}
    return Case(title, "records", count, contestants, 3.0)


def features_of(images: Sequence[bytes], number: int) -> dict[str, example.Feature]:
    """Return the features of an image."""
    return {
        "image/encoded": example.bytes_feature(images[number % len(images)]),
        "image/format": example.bytes_feature(b"jpeg"),
        "image/filename": example.bytes_feature(b"%d.jpg" % number),
        "image/class/label": example.int64_feature(number),
    }


def write_case(images: Sequence[bytes], scratch: Path, *, threads: int = 1) -> Case:
    """Write a thousand images, each thread into its own file."""
    import tensorflow as tf

    feature, texts, integers = tf.train.Feature, tf.train.BytesList, tf.train.Int64List

    def ours(shard: int) -> None:
        path = scratch / f"written-{shard}"
        with path.open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
            for number in range(shard, WRITTEN, threads):
                writer.write_example(features_of(images, number))

    def theirs(shard: int) -> None:
        path = scratch / f"written-{shard}"
        with tf.io.TFRecordWriter(str(path)) as writer:
            for number in range(shard, WRITTEN, threads):
                features = {
                    "image/encoded": feature(bytes_list=texts(value=[images[number % len(images)]])),
                    "image/format": feature(bytes_list=texts(value=[b"jpeg"])),
                    "image/filename": feature(bytes_list=texts(value=[b"%d.jpg" % number])),
                    "image/class/label": feature(int64_list=integers(value=[number])),
                }
                message = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(message.SerializeToString())

    def bare(shard: int) -> None:
        path = scratch / f"written-{shard}"
        with path.open("wb", buffering=0) as stream:
            for number in range(shard, WRITTEN, threads):
                stream.write(images[number % len(images)])

    def side_by_side(write: Callable[[int], None]) -> Run:
        def run() -> None:
            with ThreadPoolExecutor(threads) as pool:
                list(pool.map(write, range(threads)))

        return run

    contestants = {
        "pixelmill": side_by_side(ours),
        "TFRecordWriter": side_by_side(theirs),
        "nothing but write()": side_by_side(bare),
    }

    def prepare() -> None:
        for shard in range(threads):
            (scratch / f"written-{shard}").unlink(missing_ok=True)

    title = f"write {WRITTEN} images into {threads} file{'s' * (threads > 1)}, a thread each"
    return Case(title, "images", WRITTEN, contestants, 3.0, prepare)


def write_two_case(images: Sequence[bytes], scratch: Path) -> Case:
    """Write with two threads."""
    return write_case(images, scratch, threads=2)


def _folder(images: Sequence[bytes], scratch: Path) -> Path:
    folder = scratch / "folder"
    if not folder.exists():
        folder.mkdir()
        for number in range(WRITTEN):
            (folder / f"{number:05d}.jpg").write_bytes(images[number % len(images)])
    return folder


def job_case(
    images: Sequence[bytes], scratch: Path, *, threads: int | None = None, theirs: int = 1, recordio: bool = False
) -> Case:
    """Wrap the files of a folder into four record files, next to the usual hand-written loop."""
    import tensorflow as tf

    folder, target = _folder(images, scratch), scratch / "job"
    names = sorted(str(path) for path in folder.iterdir())
    per_file = WRITTEN // SHARDS
    feature, texts, integers = tf.train.Feature, tf.train.BytesList, tf.train.Int64List

    def prepare() -> None:
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()

    def ours() -> None:
        wrap = create_recordio if recordio else create_tfrecords
        wrap(folder, target, "data", per_file, workers=threads)

    def converted() -> None:
        format = "recordio" if recordio else "tfrecord"
        convert(folder, target, to=format, num_shards=SHARDS, workers=threads, exists="overwrite")

    def shard(number: int) -> None:
        with tf.io.TFRecordWriter(str(target / f"data{number}")) as writer:
            for name in names[number * per_file : (number + 1) * per_file]:
                with open(name, "rb") as file:  # noqa: PTH123 - the fastest way
                    content = file.read()
                features = {
                    "image/encoded": feature(bytes_list=texts(value=[content])),
                    "image/class/label": feature(int64_list=integers(value=[0])),
                }
                message = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(message.SerializeToString())

    def loop() -> None:
        if theirs == 1:
            for number in range(SHARDS):
                shard(number)
            return
        with ThreadPoolExecutor(theirs) as pool:
            list(pool.map(shard, range(SHARDS)))

    workers = f"{threads} thread{'s' * (threads > 1)}" if threads else "as many threads as processors"
    contestants = {
        "pixelmill create" + ("-recordio" if recordio else "-tfrecords"): ours,
        f"the loop with TFRecordWriter, {theirs} thread{'s' * (theirs > 1)}": loop,
        "pixelmill convert, with SHA-256 and fsync": converted,
    }
    title = f"{WRITTEN} files into {SHARDS} record files, {workers}"
    return Case(title, "images", WRITTEN, contestants, 3.0, prepare)


CASES: dict[str, Callable[[Sequence[bytes], Path], Case]] = {
    "index": index_case,
    "index_command": command_case,
    "read": read_case,
    "read_small": read_small_case,
    "write": write_case,
    "write_two": write_two_case,
    "job": job_case,
    "job_one": partial(job_case, threads=1),
    "job_two": partial(job_case, threads=2, theirs=2),
    "job_recordio": partial(job_case, recordio=True),
}
