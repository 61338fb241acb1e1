"""`augment`: a dataset in, an augmented dataset out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pixelmill.augmentation.job import AugmentJob
from pixelmill.engine.placement import Mode, check_mode
from pixelmill.errors import ArgumentError
from pixelmill.formats.registry import FORMATS, open_dataset
from pixelmill.jobs import Progress
from pixelmill.operators.encoders import FORMATS as IMAGE_FORMATS
from pixelmill.operators.encoders import SUBSAMPLINGS
from pixelmill.recipe import load_recipe

if TYPE_CHECKING:
    from pixelmill.jobs import JobReport


def augment(
    source: str | os.PathLike[str] | Sequence[str],
    output: str | os.PathLike[str] = "augmented",
    *,
    recipe: str = "tfdali",
    mode: Mode = "cpu",
    to: str | None = None,
    variants: int = 1,
    keep_originals: bool = False,
    seed: int = 0,
    format: str | None = None,
    quality: int = 90,
    subsampling: str = "4:2:0",
    visibility: float = 0.3,
    samples_per_shard: int = 1000,
    limit: int | None = None,
    workers: int | None = None,
    exists: Literal["error", "resume", "overwrite"] = "error",
    on_error: Literal["fail", "skip", "quarantine"] = "fail",
    max_errors: int | None = 100,
    runner: Literal["local", "ray"] = "local",
    address: str | None = None,
    shard_index: int | None = None,
    num_shards: int | None = None,
    on_progress: Callable[[Progress], object] | None = None,
) -> JobReport:
    """Write variants of all samples of a dataset, with labels, boxes and masks.

    A sample's variant depends on the seed, its number in the dataset and the number of the variant, on nothing else.

    Args:
        source: A dataset in any container, or several record files.
        output: Folder or URL to write to.
        recipe: One of ours by name, a YAML file, or a function as ``file.py:name``.
        mode: Where to work: ``cpu``, or ``gpu`` for NVIDIA GPUs, with a process for each. ``dali`` uses DALI's CPU
            operators in place of the GPU ones, for comparing.
        to: The container to write; that of the source when left out, with a file for each file.
        variants: How many to make of each sample.
        keep_originals: Write each sample as it is before its variants.
        seed: What all draws follow from.
        format: ``jpeg`` or ``png``; that of each image when left out, and PNG for what is neither.
        quality: Of JPEG files, 1 to 100.
        subsampling: How much of the colours JPEG keeps: ``4:4:4``, ``4:2:2`` or ``4:2:0``.
        visibility: Boxes of which a smaller share stays inside the picture are dropped.
        samples_per_shard: Samples that are read for a shard, where shards do not follow the files of the source.
        limit: Read only so many samples.
        workers: Processes; as many as there are processors, or GPUs in mode ``gpu``, when left out.
        exists: What to do with output that is there; see `pixelmill.jobs.run_job`.
        on_error: What to do with samples that cannot be used.
        max_errors: Stop when more samples than this cannot be used.
        runner: ``local`` or ``ray``.
        address: The Ray cluster.
        shard_index: Make only a part; see `pixelmill.jobs.run_job`.
        num_shards: In how many parts the work is split.
        on_progress: Called now and then with the progress made.

    Returns:
        What is there now.
    """
    from pixelmill.jobs import run_job

    check_mode("augment", mode, here=runner == "local")
    job = plan_augment(
        source,
        recipe=recipe,
        mode=mode,
        to=to,
        variants=variants,
        keep_originals=keep_originals,
        seed=seed,
        format=format,
        quality=quality,
        subsampling=subsampling,
        visibility=visibility,
        samples_per_shard=samples_per_shard,
        limit=limit,
    )
    return run_job(
        job,
        output,
        runner=runner,
        workers=workers,
        exists=exists,
        on_error=on_error,
        max_errors=max_errors,
        shard_index=shard_index,
        num_shards=num_shards,
        address=address,
        num_gpus=int(mode == "gpu"),
        on_progress=on_progress,
    )


def plan_augment(
    source: str | os.PathLike[str] | Sequence[str],
    *,
    recipe: str,
    mode: Mode,
    to: str | None,
    variants: int,
    keep_originals: bool,
    seed: int,
    format: str | None,
    quality: int,
    subsampling: str,
    visibility: float,
    samples_per_shard: int,
    limit: int | None,
) -> AugmentJob:
    """Check the arguments of `augment` and give the job that it runs."""
    rules = (
        (to is None or to in FORMATS, f"to must be one of {', '.join(FORMATS)}, got {to!r}"),
        (variants >= 1, f"variants must be at least 1, got {variants}"),
        (seed >= 0, f"seed must not be negative, got {seed}"),
        (
            format is None or format in IMAGE_FORMATS,
            f"format must be one of {', '.join(IMAGE_FORMATS)}, got {format!r}",
        ),
        (1 <= quality <= 100, f"quality must be from 1 to 100, got {quality}"),
        (subsampling in SUBSAMPLINGS, f"subsampling must be one of {', '.join(SUBSAMPLINGS)}, got {subsampling!r}"),
        (0 <= visibility <= 1, f"visibility must be from 0 to 1, got {visibility}"),
        (samples_per_shard >= 1, f"samples_per_shard must be at least 1, got {samples_per_shard}"),
        (limit is None or limit >= 1, f"limit must be at least 1, got {limit}"),
    )
    for holds, message in rules:
        if not holds:
            raise ArgumentError(f"augment: {message}")
    found = load_recipe(recipe)
    names = os.fspath(source) if isinstance(source, (str, os.PathLike)) else tuple(os.fspath(path) for path in source)
    dataset = open_dataset(names)
    job = AugmentJob(
        source=names,
        recipe=_absolute(recipe),
        recipe_content=found.content(),
        to=to or dataset.format,
        variants=variants,
        keep_originals=keep_originals,
        seed=seed,
        format=format,
        quality=quality,
        subsampling=subsampling,
        visibility=visibility,
        samples_per_shard=samples_per_shard,
        limit=limit,
        mode=mode,
    )
    job.__dict__["dataset"] = dataset  # opened once
    return job


def _absolute(recipe: str) -> str:
    """Workers may have another current folder."""
    path, colon, name = recipe.rpartition(":")
    if colon and path.endswith(".py"):
        return f"{Path(path).absolute()}:{name}"
    return str(Path(recipe).absolute()) if Path(recipe).is_file() else recipe
