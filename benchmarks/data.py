"""The input files: a folder of the user, or photo-like files that are created once and kept under build/."""

from __future__ import annotations

import io
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from workloads import FileKind

SMALL_COUNT, CAMERA_COUNT, ARRAY_COUNT = 64, 8, 32
# Height, width and subsampling of the camera-like files, 8 to 12 megapixels.
CAMERA_SIZES = ((2448, 3264), (2736, 3648), (2592, 3872), (3000, 4000))
CAMERA_SUBSAMPLING = ("4:2:0", "4:2:2")
CAMERA_BYTES = 3_500_000
ARRAY_SIDE = 512
LEAST_EPOCH = 4096

_SAMPLING_NAMES = {(1, 1): "4:4:4", (2, 2): "4:2:0", (2, 1): "4:2:2", (1, 2): "4:4:0"}


@dataclass(frozen=True)
class Dataset:
    """Files and their properties."""

    source: str
    files: list[str]
    mean_kilobytes: float
    mean_megapixels: float
    subsampling: dict[str, int]
    packed: str = ""  # a TFRecord file with all of them, if the workload reads one

    @property
    def repeats(self) -> int:
        """How often the list is repeated in an epoch."""
        return -(-LEAST_EPOCH // len(self.files))

    def describe(self) -> dict[str, Any]:
        """Return what goes into the results, without file names."""
        facts = {**asdict(self), "files": len(self.files)}
        del facts["packed"]
        return facts


def packed(files: Dataset, build: Path) -> Dataset:
    """Write the files into one TFRecord file with DALI's index, as ImageNet is usually stored."""
    from pixelmill.formats import example, tfrecord

    target = build / "bench-data" / "images.tfrecord"
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
        for number, name in enumerate(files.files):
            features = {
                "image/encoded": example.bytes_feature(Path(name).read_bytes()),
                "image/class/label": example.int64_feature(number),
            }
            writer.write_example(features)
    tfrecord.write_index(f"{target}.idx", tfrecord.scan(str(target)).index)
    return replace(files, packed=str(target))


def load(kind: FileKind, folder: Path | None, build: Path) -> Dataset:
    """Find the files, read them once so that they are in the page cache, and parse their headers."""
    root = folder.resolve() if folder is not None else _synthetic(kind, build / "bench-data")
    wanted = (".npy",) if kind == "arrays" else (".jpg", ".jpeg")
    below = root / "images" if kind == "arrays" else root
    files = sorted(str(path) for path in below.rglob("*") if path.suffix.lower() in wanted)
    if not files:
        raise SystemExit(f"{below}: there are no {wanted[0]} files below it")
    source = "photographs" if folder is not None else "synthetic"
    return _look_at_arrays(files) if kind == "arrays" else _look(files, source)


def _look_at_arrays(files: list[str]) -> Dataset:
    """Read images and masks once. The content of arrays does not affect the speed."""
    kilobytes, megapixels, kinds = 0.0, 0.0, Counter[str]()
    for name in files:
        pixels, _ = np.load(name), np.load(name.replace("/images/", "/masks/"))
        kilobytes += pixels.nbytes / 1e3
        megapixels += pixels.shape[0] * pixels.shape[1] / 1e6
        kinds[f"npy of {pixels.dtype}"] += 1
    count = len(files)
    return Dataset("synthetic", files, round(kilobytes / count, 1), round(megapixels / count, 3), dict(kinds))


def _look(files: list[str], source: str) -> Dataset:
    from PIL import Image

    kilobytes, megapixels, sampling = 0.0, 0.0, Counter[str]()
    for name in files:
        data = Path(name).read_bytes()
        with Image.open(io.BytesIO(data)) as image:
            layers: Any = getattr(image, "layer", [])
            kilobytes += len(data) / 1e3
            megapixels += image.width * image.height / 1e6
            kind = "gray" if len(layers) == 1 else _SAMPLING_NAMES.get(layers[0][1:3], "other") if layers else "other"
            sampling[kind] += 1
    count = len(files)
    return Dataset(source, files, round(kilobytes / count, 1), round(megapixels / count, 3), dict(sampling))


def _synthetic(kind: FileKind, cache: Path) -> Path:
    target = cache / kind
    if not target.exists():
        print(f"creating photo-like files for {kind} in {target}")
        with _finished(target) as folder:
            {"small": _make_small, "camera": _make_camera, "arrays": _make_arrays}[kind](folder)
    return target


@contextmanager
def _finished(target: Path) -> Iterator[Path]:
    """Yield a folder to fill, and rename it to its final name when it is complete."""
    unfinished = target.with_name(f"{target.name}.{os.getpid()}")
    unfinished.mkdir(parents=True)
    try:
        yield unfinished
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _make_small(folder: Path) -> None:
    from pixelmill.create import create_photo_folder

    create_photo_folder(folder, SMALL_COUNT)


def _make_arrays(folder: Path) -> None:
    """Write images with values from 0 to 1, and masks of their bright areas."""
    from pixelmill.create import photo

    for kind in ("images", "masks"):
        (folder / kind).mkdir()
    for index in range(ARRAY_COUNT):
        pixels = photo(0, index, height=ARRAY_SIDE, width=ARRAY_SIDE)
        mask = np.digitize(pixels.mean(axis=2, keepdims=True), [60, 120, 180]).astype(np.uint8)
        np.save(folder / "images" / f"{index:03d}.npy", (pixels / 255).astype(np.float32))
        np.save(folder / "masks" / f"{index:03d}.npy", mask)


def _make_camera(folder: Path) -> None:
    def make(index: int) -> None:
        from PIL import Image

        from pixelmill.create import photo

        height, width = CAMERA_SIZES[index // 2 % len(CAMERA_SIZES)]
        image = Image.fromarray(photo(0, index, height=height, width=width))
        data = _encode(image, CAMERA_SUBSAMPLING[index % 2], CAMERA_BYTES)
        (folder / f"camera_{index:02d}.jpg").write_bytes(data)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(make, range(CAMERA_COUNT)))


def _encode(image: Any, subsampling: str, wanted: int) -> bytes:
    """Return the file of the quality that comes closest to a size."""
    low, high, best = 30, 98, b""
    while low <= high:
        quality = (low + high) // 2
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=quality, subsampling=subsampling)
        data = buffer.getvalue()
        if not best or abs(len(data) - wanted) < abs(len(best) - wanted):
            best = data
        low, high = (quality + 1, high) if len(data) < wanted else (low, quality - 1)
    return best
