"""`create_images`: a synthetic dataset of any size, as image files or as records."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from pixelmill.create.image_options import PictureOptions, parse_size_distribution
from pixelmill.create.job import CreateJob
from pixelmill.create.total import count_and_bytes, images_of_total
from pixelmill.errors import ArgumentError
from pixelmill.jobs.run import JobReport, run_job
from pixelmill.options.create import FILES, ContentOptions, CreateArguments, CreateOptions
from pixelmill.options.declaration import check, takes, values_of
from pixelmill.options.running import ExistsOption, ProgressOption, RunnerOptions


@takes(CreateArguments)
def create_images(options: CreateArguments) -> JobReport:
    """Create synthetic images.

    The bytes of image i depend on the seed, on i and on the options, never on `count`, `workers` or hosts.

    Returns:
        The state of the output.
    """
    job = images_job(options)
    plain = options.container == FILES
    report = run_job(
        job,
        options.path,
        workers=options.workers or 1,
        shard_index=options.shard_index,
        num_shards=options.num_shards,
        plain=plain,
        durable=options.durable or not plain,
        **values_of(ExistsOption, options),
        **values_of(RunnerOptions, options),
        **values_of(ProgressOption, options),
    )
    if options.size:
        print_sizes(options.path, first=job.names_of(0)[0] if plain else job.file_names(0)[0])
    return report


def images_job(options: CreateOptions) -> CreateJob:
    """Check the options of `create_images` and return its job."""
    check(options)
    spread, bytes_spread = parse_size_distribution(options.size_distribution)
    count, image_bytes = count_and_bytes(options.count, options.bytes, options.total)
    quality = options.quality
    image_options = PictureOptions(
        options.height,
        options.width,
        image_format=options.image_format,
        seed=options.seed,
        spread=spread,
        bytes_spread=bytes_spread,
        quality=(quality, quality) if isinstance(quality, int) else quality,
        objects=options.objects or ((1, 5) if options.masks or options.boxes else (1, 1)),
        **(values_of(ContentOptions, options) | {"bytes": image_bytes}),
    )
    if options.boxes and image_options.content != "shapes":
        raise ArgumentError(f"create_images: boxes need content='shapes', got {image_options.content!r}")
    if options.alpha and options.container == "npy":
        raise ArgumentError("create_images: arrays of container='npy' are RGB; alpha needs another container")
    if not _is_plain(options.name):
        message = f"name must be part of a file name, without folders and not hidden, got {options.name!r}"
        raise ArgumentError(f"create_images: {message}")
    per_shard = options.chunksize if options.container == FILES else options.img_per_file
    job = CreateJob(options.name, count or 1, 1, options.container, options.boxes, image_options.as_dict())
    if count is None:
        job = images_of_total(job, options.total)
    return replace(job, per_shard=min(per_shard, job.count))


def _is_plain(name: str) -> bool:
    return not any(c in name for c in "/\\\0\n\r\t") and not name.startswith(".")


def print_sizes(path: str | os.PathLike[str], *, first: str) -> None:
    """Print the size of the first file, if it exists, and of all files in a folder."""
    root = Path(path)
    if (root / first).is_file():
        print(f"first file: {root / first}, {(root / first).stat().st_size} bytes")
    total = sum((Path(folder) / name).stat().st_size for folder, _, names in os.walk(root) for name in names)
    print(f"folder: {root}, {total} bytes")
