"""Fast ingestion: folders of classes to TFRecords of raw pixels, which a training program only has to reshape."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pixelmill.engine.placement import Mode, check_mode
from pixelmill.errors import ArgumentError
from pixelmill.ingest.job import expected_bytes, make_job
from pixelmill.ingest.labels import ClassLabel, imagenet_labels, read_labels
from pixelmill.ingest.squares import DType, Order

if TYPE_CHECKING:
    from pixelmill.jobs import JobReport

__all__ = ["ClassLabel", "imagenet_labels", "ingest", "read_labels"]


def ingest(
    input_dir: str | os.PathLike[str],
    output_dir: str | os.PathLike[str],
    *,
    num_images: int = -1,
    num_shards: int = 10,
    num_workers: int | None = None,
    img_size: int = 300,
    labels: str | os.PathLike[str] | None = None,
    seed: int = 0,
    dtype: DType = "uint8",
    order: Order | None = None,
    name: str = "train",
    yes: bool = False,
    mode: Mode = "cpu",
    part: tuple[int, int] | None = None,
    on_start: Callable[[int, int], object] | None = None,
    **options: Any,
) -> JobReport:
    """Write TFRecords of raw pixels from a folder with a sub-folder for each class.

    All pictures are put in an order that the seed decides; the first ``num_images`` are taken. Of each the largest
    square in the middle is cut out and resized. A record holds ``image/encoded`` (the raw pixels), ``image/height``,
    ``image/width``, ``image/channels``, ``image/colorspace`` (RGB), ``image/format`` (tensor), ``image/filename``,
    ``image/class/label``, ``image/class/synset`` (the folder) and ``image/class/text``.

    Args:
        input_dir: The folder.
        output_dir: Folder for the files ``train-00000-of-00010`` and so on.
        num_images: How many pictures to take; -1 takes all.
        num_shards: Number of files.
        num_workers: Number of processes; as many as there are processors, or GPUs in mode ``gpu``, when left out.
        img_size: Height and width of the result.
        labels: File with the label and text of each folder (json, csv, txt). Without it, folders that are all synsets
            of ImageNet get its labels, others are numbered in the order of their names.
        seed: Another seed, another order.
        dtype: Type of the pixels, ``uint8``, ``float16`` or ``float32``; from 0 to 255 in any case. Others than uint8
            are named in ``image/dtype``.
        order: ``HWC`` or ``CHW``, named in ``image/order``; HWC, and not named, when left out.
        name: First part of the names of the files.
        yes: Begin even if the disk has not enough room.
        mode: Where to work: ``cpu``, or ``gpu`` for NVIDIA GPUs, with a process for each. ``dali`` uses DALI's CPU
            operators in place of the GPU ones, for comparing.
        part: Make only part ``I`` of ``N``, given as ``(I, N)`` and counted from 0; other processes make the others.
        on_start: Called with the number of pictures and the expected bytes before anything is written.
        options: Options of all jobs, such as ``exists`` and ``on_error``; see `run_job`.

    Returns:
        What was written.
    """
    from pixelmill.jobs import run_job

    check_mode("ingest", mode, here=options.get("runner", "local") == "local")
    job = make_job(
        os.fspath(input_dir),
        num_images=num_images,
        num_shards=num_shards,
        img_size=img_size,
        labels=None if labels is None else os.fspath(labels),
        seed=seed,
        dtype=dtype,
        order=order,
        name=name,
        mode=mode,
    )
    size = expected_bytes(job.num_images, img_size=img_size, dtype=dtype)
    if on_start is not None:
        on_start(job.num_images, size)
    _check_room(os.fspath(output_dir), size, yes=yes)
    index, parts = part or (None, None)
    options |= {"shard_index": index, "num_shards": parts, "num_gpus": int(mode == "gpu")}
    return run_job(job, output_dir, workers=num_workers, **options)


def _check_room(output: str, size: int, *, yes: bool) -> None:
    if yes or "://" in output:
        return
    folder = Path(output).absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if size > free:
        text = f"ingest: about {size / 1e9:.1f} GB will be written and {folder} has {free / 1e9:.1f} GB free"
        raise ArgumentError(f"{text}; --yes (yes=True) begins all the same")
