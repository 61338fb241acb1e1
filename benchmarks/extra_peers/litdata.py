"""torch's DataLoader on LitData's chunks of JPEG files: its dataset returns the file, Pillow decodes and resizes it."""

from __future__ import annotations

import importlib
import io
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from PIL import Image

from pixelmill.benchmark.peers.pillow import DRAFT, Endless, Images
from pixelmill.benchmark.workload import Batch, Kind, PeerTask, Source

CHUNK = "64MB"  # LitData's own advice for images


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the only way: draft mode does nothing where it cannot help."""
    return (DRAFT,) if kind in ("train", "val", "resize") and source.container == "files" else ()


def write(files: list[str], folder: Path) -> int:
    """Write chunks of the files; return their bytes."""
    library: Any = importlib.import_module("litdata")
    library.optimize(_read, inputs=files, output_dir=str(folder), chunk_bytes=CHUNK, num_workers=1)
    return sum(path.stat().st_size for path in folder.iterdir())


def _read(path: str) -> bytes:
    return Path(path).read_bytes()


class Chunks(Images):
    """The images of a dataset of chunks, cropped and resized."""

    def __init__(self, job: PeerTask, folder: Path) -> None:
        super().__init__(job)
        library: Any = importlib.import_module("litdata")
        self._open_dataset = partial(library.StreamingDataset, str(folder))
        self._dataset: Any = None
        numbers = [str(number) for number in range(len(job.source.files))]
        self.files = numbers * job.source.repeats

    def _open(self, path: str) -> Image.Image:
        if self._dataset is None:  # in the worker process
            self._dataset = self._open_dataset()
        return Image.open(io.BytesIO(self._dataset[int(path)]))


def batches(job: PeerTask) -> Iterator[Batch]:
    """Make batches."""
    torch: Any = importlib.import_module("torch")
    folder = Path(tempfile.mkdtemp(prefix="litdata-"))
    write(list(job.source.files), folder)
    torch.manual_seed(job.seed)
    dataset: Any = Chunks(job, folder)
    order = Endless(len(dataset), shuffle=job.random, seed=job.seed)
    loader = torch.utils.data.DataLoader
    return iter(loader(dataset, batch_size=job.batch, sampler=order, num_workers=job.threads, drop_last=True))
