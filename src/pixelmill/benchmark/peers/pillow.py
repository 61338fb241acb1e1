"""torch's DataLoader with worker processes that decode and resize with Pillow, as most training programs do."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from PIL import Image

from pixelmill.benchmark.workload import AREA, ATTEMPTS, RATIO, Batch, Kind, PeerTask, Source

if TYPE_CHECKING:
    import torch
    from torch.utils.data import Dataset

Box = tuple[float, float, float, float]  # left, top, right, bottom

PLAIN, DRAFT = "", "draft mode"


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the ways to do a kind of work; draft mode lets the decoder shrink large images."""
    if kind not in ("train", "val", "resize", "read") or source.container not in ("files", "npy"):
        return ()
    if source.container == "npy":
        able = source.is_array and source.dtype == "uint8" and source.channels in (1, 3)
        return (PLAIN,) if able else ()
    return (PLAIN, DRAFT) if source.content == "jpeg" and kind != "read" else (PLAIN,)


def fastest(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the variants that may be the fastest: draft mode does nothing where it cannot help."""
    return variants(kind, source)[-1:]


class Images:
    """A dataset of cropped and resized images.

    Args:
        job: What to do.
    """

    def __init__(self, job: PeerTask) -> None:
        self.job, self.files, self.draft = job, job.source.epoch, job.variant == DRAFT
        self._finish: Callable[[torch.Tensor], torch.Tensor] | None = None

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> torch.Tensor | bytes:
        if self.job.kind == "read":
            return Path(self.files[index]).read_bytes()
        size = self.job.size
        with self._open(self.files[index]) as image:
            width, height = image.size
            left, top, right, bottom = self._box(width, height)
            if self.draft:  # leaves twice the target, as pixelmill does
                reduction = max(min(right - left, bottom - top) / (2 * size), 1)
                image.draft("RGB", (math.ceil(width / reduction), math.ceil(height / reduction)))
            x, y = image.width / width, image.height / height
            whole = image.convert("L" if self.job.source.channels == 1 else "RGB")
            resized = whole.resize(
                (size, size), Image.Resampling.BILINEAR, box=(left * x, top * y, right * x, bottom * y)
            )
            if self.job.kind == "train" and random.random() < 0.5:
                resized = resized.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return self._tensor(resized)

    def _open(self, path: str) -> Image.Image:
        if not self.job.source.is_array:
            return Image.open(path)
        pixels = np.load(path, allow_pickle=False)
        return Image.fromarray(pixels[:, :, 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels)

    def _box(self, width: int, height: int) -> Box:
        if self.job.kind == "train":
            return random_box(width, height)
        if self.job.kind == "resize":
            return 0, 0, width, height
        side = min(width, height) * self.job.size / self.job.shorter
        left, top = (width - side) / 2, (height - side) / 2
        return left, top, left + side, top + side

    def _tensor(self, image: Image.Image) -> torch.Tensor:
        import torch

        pixels = torch.from_numpy(np.array(image)).reshape(self.job.size, self.job.size, -1)
        if self.job.kind == "resize":
            return pixels
        if self._finish is None:
            mean, std = (torch.tensor(values).reshape(-1, 1, 1) for values in (self.job.mean, self.job.std))
            self._finish = lambda planes: planes.sub_(mean).div_(std)
        planes = pixels.permute(2, 0, 1).to(torch.float32, memory_format=torch.contiguous_format)
        return self._finish(planes)


def random_box(width: int, height: int) -> Box:
    """Draw a window as torchvision does."""
    for _ in range(ATTEMPTS):
        area = random.uniform(*AREA) * width * height
        ratio = math.exp(random.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if w <= width and h <= height:
            left, top = random.randint(0, width - w), random.randint(0, height - h)
            return left, top, left + w, top + h
    return 0, 0, width, height


class Endless:
    """The order of the samples, epoch after epoch, so that workers never run dry."""

    def __init__(self, length: int, *, shuffle: bool, seed: int) -> None:
        self.length, self.shuffle, self.seed = length, shuffle, seed

    def __iter__(self) -> Iterator[int]:
        order, rng = list(range(self.length)), random.Random(self.seed)
        while True:
            if self.shuffle:
                rng.shuffle(order)
            yield from order


def batches(job: PeerTask) -> Iterator[Batch]:
    """Make batches."""
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(job.seed)
    dataset = Images(job)
    order = Endless(len(dataset), shuffle=job.random, seed=job.seed)
    gather = list if job.kind == "read" else None
    loader = DataLoader(
        cast("Dataset[torch.Tensor | bytes]", dataset),
        batch_size=job.batch,
        sampler=order,
        num_workers=job.threads,
        drop_last=True,
        collate_fn=gather,
    )
    return iter(loader)
