"""Take small datasets through the engine with many threads; under ThreadSanitizer, a race is a report and exit code 66.

Run it as `make tsan`, or without the sanitizer as `python tests/support/tsan_engine.py`. Each case also compares all
batches with those of one thread.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pixelmill import Pipeline, _core, create, fn, tfrecord, types
from pixelmill.formats import example
from pixelmill.formats import tfrecord as records

COUNT, BATCH, EPOCHS = 48, 8, 3
Source = Callable[[Path], Any]


def write_files(folder: Path) -> None:
    """Write class folders of JPEG files, a damaged one among them, and a TFRecord file of the same images."""
    with (folder / "all.tfrecord").open("wb") as stream, records.RecordWriter(stream) as writer:
        for number in range(COUNT):
            image = create.photo(number, 0, height=64 + number % 5 * 9, width=80 + number % 3 * 7)
            data = _core.encode_jpeg(np.ascontiguousarray(image), 85, ("4:4:4", "4:2:0")[number % 2])
            if number == COUNT // 2:
                data = data[: len(data) // 2]
            path = folder / "images" / f"class{number % 4}" / f"{number:03d}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            features = {"image": example.bytes_feature(data), "label": example.int64_feature(number % 4)}
            writer.write_example(features)
    records.write_index(f"{folder / 'all.tfrecord'}.idx", records.scan(str(folder / "all.tfrecord")).index)


def from_files(folder: Path) -> Any:
    return fn.readers.file(file_root=str(folder / "images"), random_shuffle=True, name="Reader")


def from_records(folder: Path) -> Any:
    path = str(folder / "all.tfrecord")
    features = {
        "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
    }
    found = fn.readers.tfrecord(
        path=path, index_path=f"{path}.idx", features=features, random_shuffle=True, name="Reader"
    )
    return found["image"], found["label"]


def from_python(folder: Path) -> Any:
    paths = sorted((folder / "images").rglob("*.jpg"))

    def samples() -> Iterator[tuple[list[Any], list[Any]]]:
        for at in range(0, COUNT, BATCH):
            files = [np.fromfile(path, np.uint8) for path in paths[at : at + BATCH]]
            yield files, [np.array([at + i]) for i in range(len(files))]

    return fn.external_source(source=samples, num_outputs=2, cycle="raise")


SOURCES: dict[str, Source] = {
    "readers.file": from_files,
    "readers.tfrecord": from_records,
    "external_source": from_python,
}


def batches(source: Source, folder: Path, threads: int) -> Generator[list[Any], None, None]:
    """Run some epochs of a training graph; samples that cannot be decoded are replaced."""
    on_error = "fill" if source is from_python else "skip"  # only readers have other samples
    options = {"batch_size": BATCH, "num_threads": threads, "seed": 5, "prefetch_queue_depth": 3, "on_error": on_error}
    pipe = Pipeline(device_id=None, max_errors=COUNT, **options)
    with pipe:
        data, label = source(folder)
        windows = fn.decoders.image_random_crop(data, seed=1)
        images = fn.crop_mirror_normalize(
            fn.resize(windows, size=[32, 32]), mirror=fn.random.coin_flip(seed=2), dtype=types.FLOAT
        )
        pipe.set_outputs(images, label)
    pipe.build()
    for _ in range(EPOCHS):
        try:
            for _ in range(COUNT // BATCH):
                yield [np.array(output.at(i)) for output in pipe.run() for i in range(BATCH)]
        except StopIteration:
            pass
        pipe.reset()


def check(name: str, folder: Path, threads: int) -> int:
    """Compare all batches with those of one thread and count them; then leave a pipeline in the middle of an epoch."""
    count = 0
    for got, wanted in zip(batches(SOURCES[name], folder, threads), batches(SOURCES[name], folder, 1), strict=True):
        for mine, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(mine, other)
        count += 1
    left = batches(SOURCES[name], folder, threads)
    next(left)
    left.close()
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, nargs="+", default=[4, 16])
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=list(SOURCES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        for source in options.sources:
            for threads in options.threads:
                began = time.perf_counter()
                count = check(source, folder, threads)
                if count == 0:
                    sys.exit(f"{source}: no batches came")
                print(
                    f"{source}, {threads} threads: {count} batches as with one, {time.perf_counter() - began:.1f} s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
