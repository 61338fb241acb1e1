"""A large round trip through every container; run by `make slow`, not by the test suite.

python tests/support/slow_round_trip.py --samples 100000
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from dataset_cases import encoded, mask_of, write

import pixelmill
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.formats.sample import Boxes, Sample


def samples(count: int) -> Iterator[Sample]:
    """Make samples that differ in all they have; a few images are enough, each with bytes of its own after them."""
    pictures = [encoded(kind, seed=seed) for seed, kind in enumerate(["jpeg"] * 6 + ["png"] * 2)]
    masks = [mask_of(seed) for seed in range(4)]
    for number in range(count):
        random = np.random.default_rng(number)
        corner = random.random((number % 3, 2), np.float32) / 2
        boxes = Boxes(np.concatenate([corner, corner + 0.25], axis=1), random.integers(0, 90, number % 3))
        label = int(random.integers(0, 100))
        yield Sample(
            f"class_{label:03d}/{number:08d}",
            pictures[number % 8] + number.to_bytes(4, "little"),
            "jpg" if number % 8 < 6 else "png",
            (label,) if number % 5 else (label, number, 0.5),
            f"class_{label:03d}",
            boxes if number % 2 else None,
            masks[number % 4] if number % 7 == 0 else None,
        )


def digest(path: Path) -> tuple[int, str]:
    """Hash everything about all samples, whatever their order."""
    total, count = 0, 0
    for sample in open_dataset(path):
        boxes = (
            b""
            if sample.boxes is None
            else sample.boxes.ltrb.tobytes() + np.asarray(sample.boxes.labels).tobytes() + b"b"
        )
        facts = repr((sample.name, sample.labels, sample.class_name)).encode()
        parts = (facts, sample.image, boxes, sample.mask or b"")
        hashed = hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()
        total = (total + int.from_bytes(hashed, "little")) % (1 << 256)
        count += 1
    return count, f"{total:064x}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="pixelmill-slow-"))
    try:
        write(folder / "start", "tfrecord", samples(arguments.samples))
        expected = digest(folder / "start")
        assert expected[0] == arguments.samples
        source = folder / "start"
        for format in (*FORMATS, "tfrecord"):
            began = time.perf_counter()
            target = folder / f"{source.name[:1]}-{format}"
            pixelmill.convert(source, target, to=format, samples_per_shard=20_000)
            written = time.perf_counter() - began
            found = digest(target)
            assert found == expected, f"{source.name} to {format}: {found} instead of {expected}"
            speed = arguments.samples / written
            print(f"{source.name} to {format}: {found[0]} samples equal, {speed:,.0f} samples/s", flush=True)
            shutil.rmtree(source)
            source = target
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
