"""FFCV on files of its own: raw pixels, or JPEG files that it decodes with libjpeg-turbo."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from pixelmill.benchmark.workload import AREA, RATIO, Batch, Kind, PeerTask, Source

RAW, JPEG = "raw pixels", "JPEG of quality 90"
BATCHES = 8  # of an epoch: its threads start again for each


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the ways to store images. It re-encodes JPEG files, so their pixels change."""
    return (RAW, JPEG) if kind == "train" and source.container == "files" else ()


class Files:
    """The images, repeated as they are in an epoch, as FFCV's writer takes them."""

    def __init__(self, files: list[str]) -> None:
        self.files = files

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Image.Image, int]:
        return Image.open(self.files[index]).convert("RGB"), 0


def write(files: list[str], path: Path, variant: str) -> int:
    """Write the images; return the bytes of the file."""
    fields: Any = importlib.import_module("ffcv.fields")
    writer: Any = importlib.import_module("ffcv.writer")
    image = fields.RGBImageField(write_mode="raw" if variant == RAW else "jpg", jpeg_quality=90)
    writer.DatasetWriter(str(path), {"image": image, "label": fields.IntField()}, num_workers=1).from_indexed_dataset(
        Files(files)
    )
    return path.stat().st_size


def batches(job: PeerTask) -> Iterator[Batch]:
    """Make batches of normalized float32 CHW, epoch after epoch."""
    decoders: Any = importlib.import_module("ffcv.fields.rgb_image")
    loader: Any = importlib.import_module("ffcv.loader")
    transforms: Any = importlib.import_module("ffcv.transforms")
    path = Path(tempfile.mkdtemp(prefix="ffcv-")) / "data.beton"
    write(job.source.epoch[: BATCHES * job.batch], path, job.variant)
    mean, std = np.array(job.mean, np.float32), np.array(job.std, np.float32)
    steps = [
        decoders.RandomResizedCropRGBImageDecoder((job.size, job.size), scale=AREA, ratio=RATIO),
        transforms.RandomHorizontalFlip(),
        transforms.NormalizeImage(mean, std, np.float32),
        transforms.ToTensor(),
        transforms.ToTorchImage(convert_back_int16=False),
    ]
    made = loader.Loader(
        str(path),
        batch_size=job.batch,
        num_workers=job.threads,
        order=loader.OrderOption.RANDOM,
        pipelines={"image": steps, "label": None},
        os_cache=True,
        drop_last=True,
        seed=job.seed,
    )
    while True:
        for images, *_ in made:
            yield images
