"""An estimate of files, bytes and time of `create_images`, without writing anything."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pixelmill.create.job import CreateJob
from pixelmill.create.rendering import create_image, in_order
from pixelmill.jobs.run import processors
from pixelmill.options.create import FILES

_TRIED = 24
_SECONDS = 3.0


@dataclass(frozen=True)
class Estimate:
    """What to expect.

    Attributes:
        images: Number of images.
        files: Number of files, masks and lists included.
        bytes: Bytes of images and masks.
        image_bytes: Mean size of an image file.
        seconds: Time on this machine with all processors, if the disk keeps up.
    """

    images: int
    files: int
    bytes: int
    image_bytes: int
    seconds: float


def estimate(job: CreateJob) -> Estimate:
    """Create some images of a job in memory and extrapolate from them."""
    maker, threads = job.options.maker(), processors()
    count = min(_TRIED, job.count)
    numbers = [index * job.count // count for index in range(count)]
    create_image(maker, numbers[0])
    images = total = tried = 0
    start = time.perf_counter()
    with in_order(lambda index: create_image(maker, index), numbers, threads=threads) as made:
        for image in made:
            images += len(image.image)
            total += len(image.image) + len(image.mask or b"")
            tried += 1
            if time.perf_counter() - start > _SECONDS:
                break
        seconds = time.perf_counter() - start
    return Estimate(
        images=job.count,
        files=_count_files(job),
        bytes=round(total / tried * job.count),
        image_bytes=round(images / tried),
        seconds=seconds / tried * job.count,
    )


def _count_files(job: CreateJob) -> int:
    shards = len(job.shards)
    shard_files = len(job.shard_names(0)) * shards
    if job.container not in (FILES, "npy"):
        # Annotations are only written for boxes and masks; the manifest is one file.
        return shard_files - (shards if job.container == "recordio" and not (job.boxes or job.options.masks) else 0) + 1
    each = 2 if job.options.masks else 1
    return shard_files + each * job.count + (0 if job.container == FILES else 1)
