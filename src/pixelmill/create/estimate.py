"""How many files and bytes `create_images` would write and how long it would take, without writing."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pixelmill.create.job import FILES, CreateJob
from pixelmill.create.making import in_order, make_picture
from pixelmill.jobs.run import processors

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
        seconds: Time on this machine with all its processors, if the disk keeps up.
    """

    images: int
    files: int
    bytes: int
    image_bytes: int
    seconds: float


def estimate(job: CreateJob) -> Estimate:
    """Make some pictures of a job in memory and judge by them."""
    maker, threads = job.options.maker(), processors()
    count = min(_TRIED, job.count)
    numbers = [index * job.count // count for index in range(count)]
    make_picture(maker, numbers[0])
    images = total = tried = 0
    start = time.perf_counter()
    with in_order(lambda index: make_picture(maker, index), numbers, threads=threads) as pictures:
        for picture in pictures:
            images += len(picture.image)
            total += len(picture.image) + len(picture.mask or b"")
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
    beside = len(job.shard_names(0)) * shards
    if job.container not in (FILES, "npy"):
        # Annotations are written where there is something to say, the manifest once.
        return beside - (shards if job.container == "recordio" and not (job.boxes or job.options.masks) else 0) + 1
    each = 2 if job.options.masks else 1
    return beside + each * job.count + (0 if job.container == FILES else 1)
