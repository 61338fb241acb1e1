"""torch's DataLoader with worker processes that decode and resize by Pillow, as most training programs do."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

from workloads import AREA, ATTEMPTS, MEAN, RATIO, SHORTER, SIZE, STD, Job, Kind, Pictures

Box = tuple[float, float, float, float]  # left, top, right, bottom

PLAIN, DRAFT = "", "draft mode"


def variants(kind: Kind, pictures: Pictures) -> tuple[str, ...]:
    """List the ways to do a kind of work; draft mode lets the decoder shrink large pictures."""
    if kind in ("rand_augment", "segmentation"):
        return ()
    return (PLAIN, DRAFT) if pictures == "camera" else (PLAIN,)


class Pictures224:
    """A dataset of pictures cut out and resized."""

    def __init__(self, job: Job) -> None:
        self.files, self.kind, self.draft = job.epoch, job.kind, job.variant == DRAFT
        self._finish: Callable[[Any], Any] | None = None

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> Any:
        from PIL import Image

        with Image.open(self.files[index]) as image:
            width, height = image.size
            left, top, right, bottom = self._box(width, height)
            if self.draft:  # leaves twice the target, as pixelmill does
                share = min(right - left, bottom - top) / (2 * SIZE)
                image.draft("RGB", (math.ceil(width / max(share, 1)), math.ceil(height / max(share, 1))))
            x, y = image.width / width, image.height / height
            picture = image.convert("RGB").resize(
                (SIZE, SIZE), Image.Resampling.BILINEAR, box=(left * x, top * y, right * x, bottom * y)
            )
            if self.kind == "train" and random.random() < 0.5:
                picture = picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return self._tensor(picture)

    def _box(self, width: int, height: int) -> Box:
        if self.kind == "train":
            return random_box(width, height)
        if self.kind == "resize":
            return 0, 0, width, height
        side = min(width, height) * SIZE / SHORTER
        left, top = (width - side) / 2, (height - side) / 2
        return left, top, left + side, top + side

    def _tensor(self, picture: Any) -> Any:
        import numpy as np
        import torch

        pixels = torch.from_numpy(np.array(picture))
        if self.kind == "resize":
            return pixels
        if self._finish is None:
            mean, std = (torch.tensor(values).reshape(3, 1, 1) for values in (MEAN, STD))
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


def batches(job: Job) -> Iterator[Any]:
    """Make batches."""
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(job.seed)
    dataset: Any = Pictures224(job)
    order: Any = Endless(len(dataset), shuffle=job.random, seed=job.seed)
    loader = DataLoader(dataset, batch_size=job.batch, sampler=order, num_workers=job.threads, drop_last=True)
    return iter(loader)
