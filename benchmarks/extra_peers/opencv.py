"""torch's DataLoader with worker processes that use NumPy and OpenCV, as segmentation programs without DALI do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from workloads import ARRAY_SIZE, BRIGHTNESS, CHANGED, CONTRAST, NOISE, SIGMA

from extra_peers.arrays import masks
from pixelmill.benchmark.peers.pillow import Endless
from pixelmill.benchmark.workload import Kind, PeerTask, Source

READ, MAPPED = "np.load", "np.load, memory map"


def variants(kind: Kind, source: Source) -> tuple[str, ...]:
    """List the ways to read the arrays; the fastest counts."""
    return (READ, MAPPED) if kind == "segmentation" else ()


class Pairs:
    """A dataset of images and masks."""

    def __init__(self, job: PeerTask) -> None:
        self.images, self.masks = job.source.epoch, masks(job.source.epoch)
        self.mode: Literal["r"] | None = "r" if job.variant == MAPPED else None
        self.seed = job.seed
        self._random: Any = None

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> Any:
        import cv2
        import numpy as np
        import torch

        if self._random is None:
            cv2.setNumThreads(0)
            worker = torch.utils.data.get_worker_info()
            self._random = np.random.default_rng((self.seed, worker.id if worker else 0))
        random, size = self._random, (ARRAY_SIZE, ARRAY_SIZE)
        image = cv2.resize(np.load(self.images[index], self.mode), size, interpolation=cv2.INTER_LINEAR)
        mask = cv2.resize(np.load(self.masks[index], self.mode), size, interpolation=cv2.INTER_NEAREST)
        way = {(0, 1): 0, (1, 0): 1, (1, 1): -1}.get(tuple(random.integers(0, 2, 2)))
        if way is not None:
            image, mask = cv2.flip(image, way), cv2.flip(mask, way)
        planes = np.empty((3, *size), np.float32)
        cv2.split(self._changed(image), list(planes))  # much faster than transpose(2, 0, 1).copy()
        return torch.from_numpy(planes), torch.from_numpy(mask[None])

    def _changed(self, image: Any) -> Any:
        import cv2
        import numpy as np

        random = self._random
        if random.random() < CHANGED:
            noise = random.standard_normal(image.shape, dtype=np.float32)
            image = cv2.scaleAdd(noise, random.uniform(*NOISE), image)
        if random.random() < CHANGED:
            image = cv2.GaussianBlur(image, (0, 0), random.uniform(*SIGMA))
        if random.random() < CHANGED:
            image = image * np.float32(random.uniform(*BRIGHTNESS))
        if random.random() < CHANGED:
            scaled = image * np.float32(random.uniform(*CONTRAST))
            image = np.clip(scaled, image.min(), image.max(), out=scaled)
        return image


def batches(job: PeerTask) -> Iterator[Any]:
    """Make batches."""
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(job.seed)
    dataset: Any = Pairs(job)
    order: Any = Endless(len(dataset), shuffle=job.random, seed=job.seed)
    loader = DataLoader(dataset, batch_size=job.batch, sampler=order, num_workers=job.threads, drop_last=True)
    return iter(loader)
