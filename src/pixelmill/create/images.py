"""`create_images`: a synthetic dataset of any size, as image files or as records."""

from __future__ import annotations

import os
from pathlib import Path

from pixelmill.create.image_options import PictureOptions, parse_size_distribution
from pixelmill.create.job import CreateJob
from pixelmill.errors import ArgumentError
from pixelmill.jobs.run import JobReport, run_job
from pixelmill.options.create import FILES, ContentOptions, CreateArguments, CreateOptions
from pixelmill.options.declaration import check, takes, values_of
from pixelmill.options.running import ExistsOption, ProgressOption, RunnerOptions


@takes(CreateArguments)
def create_images(given: CreateArguments) -> JobReport:
    """Create synthetic images.

    The bytes of image i depend on the seed, on i and on the options, never on `count`, `workers` or hosts.

    Returns:
        The state of the output.
    """
    job = images_job(given)
    plain = given.container == FILES
    report = run_job(
        job,
        given.path,
        workers=given.workers or 1,
        shard_index=given.shard_index,
        num_shards=given.num_shards,
        plain=plain,
        durable=given.durable or not plain,
        **values_of(ExistsOption, given),
        **values_of(RunnerOptions, given),
        **values_of(ProgressOption, given),
    )
    if given.size:
        print_sizes(given.path, first=job.names_of(0)[0] if plain else job.file_names(0)[0])
    return report


def images_job(given: CreateOptions) -> CreateJob:
    """Check the options of `create_images` and return its job."""
    check(given)
    spread, bytes_spread = parse_size_distribution(given.size_distribution)
    quality = given.quality
    options = PictureOptions(
        given.height,
        given.width,
        image_format=given.image_format,
        seed=given.seed,
        spread=spread,
        bytes_spread=bytes_spread,
        quality=(quality, quality) if isinstance(quality, int) else quality,
        objects=given.objects or ((1, 5) if given.masks or given.boxes else (1, 1)),
        **values_of(ContentOptions, given),
    )
    if given.boxes and options.content != "shapes":
        raise ArgumentError(f"create_images: boxes need content='shapes', got {options.content!r}")
    if not _is_plain(given.name):
        message = f"name must be part of a file name, without folders and not hidden, got {given.name!r}"
        raise ArgumentError(f"create_images: {message}")
    per_shard = given.chunksize if given.container == FILES else given.img_per_file
    per_shard = min(per_shard, given.count)
    return CreateJob(given.name, given.count, per_shard, given.container, given.boxes, options.as_dict())


def _is_plain(name: str) -> bool:
    return not any(c in name for c in "/\\\0\n\r\t") and not name.startswith(".")


def print_sizes(path: str | os.PathLike[str], *, first: str) -> None:
    """Print the size of the first file, if it exists, and of all files in a folder."""
    root = Path(path)
    if (root / first).is_file():
        print(f"first file: {root / first}, {(root / first).stat().st_size} bytes")
    total = sum((Path(folder) / name).stat().st_size for folder, _, names in os.walk(root) for name in names)
    print(f"folder: {root}, {total} bytes")
