"""`create_images(total=...)`: the number of images, or the size of each, that makes up a number of bytes."""

from __future__ import annotations

from dataclasses import replace

from pixelmill.amounts import counted, size_text
from pixelmill.create.job import CreateJob
from pixelmill.create.rendering import create_image, in_order
from pixelmill.errors import ArgumentError
from pixelmill.jobs.run import processors

_TRIED = 32  # images whose mean size stands for all; the same ones on every machine, so that all hosts agree


def images_of_total(job: CreateJob, total: int) -> CreateJob:
    """Return the job with as many images as make up `total` bytes, from the sizes of its first images."""
    maker = job.options.maker()
    with in_order(lambda index: create_image(maker, index), range(_TRIED), threads=processors()) as made:
        sizes = [len(image.image) + len(image.mask or b"") for image in made]
    return replace(job, count=max(round(total * len(sizes) / sum(sizes)), 1))


def count_and_bytes(count: int | None, image_bytes: int, total: int) -> tuple[int | None, int]:
    """Return the number of images and the exact size of each; None if the number follows from the images."""
    if not total:
        return (1 if count is None else count), image_bytes
    if count is not None and image_bytes:
        raise ArgumentError("create_images: total is count times bytes; set two of the three")
    if count is not None:
        if total < count:
            text = f"a total of {size_text(total)} is too little for {counted(count, 'image')}"
            raise ArgumentError(f"create_images: {text}")
        return count, total // count
    return (max(total // image_bytes, 1) if image_bytes else None), image_bytes
