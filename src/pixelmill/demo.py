"""A short tour of pixelmill on synthetic images: create, augment one epoch, look at the result."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pixelmill import fn, types
from pixelmill.benchmark.workload import MEAN, STD
from pixelmill.create import create_photo_folder
from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode
from pixelmill.inspect import contact_sheet
from pixelmill.pipeline import Pipeline, pipeline_def
from pixelmill.pipeline.loader import Loader
from pixelmill.types import Array

_SHOWN, _VERSIONS = 8, 3


@dataclass(frozen=True)
class DemoResult:
    """What a demo run did and how fast."""

    images: int
    megabytes: float
    create_seconds: float
    epoch_seconds: float
    batches: int
    batch_shape: tuple[int, ...]
    threads: int
    contact_sheet: Path

    @property
    def images_per_second(self) -> float:
        return self.images / self.epoch_seconds


def run_demo(
    output: str | os.PathLike[str],
    *,
    count: int = 300,
    threads: int | None = None,
    seed: int = 1,
    on_image: Callable[[Path], object] | None = None,
) -> DemoResult:
    """Create photo-like JPEG files, run one training epoch over them, and draw originals above augmented versions.

    Args:
        output: Folder for the contact sheet, created if missing. The JPEG files are temporary.
        count: Number of files.
        threads: Worker threads; by default the number of processors.
        seed: Seed of the images and of the augmentation.
        on_image: Called with the path of each written file, for progress bars.
    """
    if count < 1:
        raise ArgumentError(f"demo: count must be at least 1, got {count}")
    workers = threads or os.cpu_count() or 1
    sheet = Path(output).resolve() / "contact-sheet.png"
    sheet.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pixelmill-demo-") as folder:
        photos = Path(folder) / "photos"
        start = time.perf_counter()
        files = create_photo_folder(photos, count, seed=seed, on_image=on_image)
        create_seconds = time.perf_counter() - start
        megabytes = sum(file.stat().st_size for file in files) / 1e6

        pipe = train_pipeline(file_root=str(photos), batch_size=min(count, 64), num_threads=workers, seed=seed)
        start = time.perf_counter()
        shapes = [batch["images"].shape for batch in Loader(pipe, ["images", "labels"])]
        epoch_seconds = time.perf_counter() - start
        _draw_sheet(files[:_SHOWN], seed=seed).save(sheet)
    return DemoResult(
        images=count,
        megabytes=megabytes,
        create_seconds=create_seconds,
        epoch_seconds=epoch_seconds,
        batches=len(shapes),
        batch_shape=tuple(shapes[0]),
        threads=workers,
        contact_sheet=sheet,
    )


def train_pipeline(*, batch_size: int, num_threads: int, seed: int, shuffle: bool = True, **source: Any) -> Pipeline:
    """Return the usual training pipeline: random window resized to 224x224, random mirror, normalized float32 CHW.

    Args:
        batch_size: Images in a batch.
        num_threads: Worker threads.
        seed: Seed of order and augmentation.
        shuffle: Whether each epoch has its own order.
        **source: What to read, as ``fn.readers.file`` takes it.
    """

    @pipeline_def(batch_size=batch_size, num_threads=num_threads, device_id=None, seed=seed)
    def train() -> tuple[DataNode, DataNode]:
        encoded, labels = fn.readers.file(random_shuffle=shuffle, pad_last_batch=True, name="Reader", **source)
        images = fn.decoders.image(encoded, output_type=types.RGB)
        images = fn.random_resized_crop(images, size=224)
        mirror = fn.random.coin_flip(probability=0.5)
        return fn.crop_mirror_normalize(images, mirror=mirror, mean=MEAN, std=STD), labels

    return train()


def _draw_sheet(files: list[Path], *, seed: int) -> Image.Image:
    """Draw the first files, and below each what successive epochs make of it."""
    source = {"files": [str(file) for file in files], "labels": list(range(len(files)))}
    pipe = train_pipeline(batch_size=len(files), num_threads=1, seed=seed, shuffle=False, **source)
    rows: list[Array] = [np.asarray(Image.open(file)) for file in files]
    captions = [f"{image.shape[0]} x {image.shape[1]}" for image in rows]
    for epoch in range(_VERSIONS):
        images, _ = pipe.run()
        rows += [np.asarray(images.at(slot)) for slot in range(len(files))]
        captions += [f"epoch {epoch + 1}"] * len(files)
    return contact_sheet(rows, columns=len(files), labels=captions, mean=MEAN, std=STD)
