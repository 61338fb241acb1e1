"""`ingest`: class folders to TFRecords of raw pixels."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pixelmill.engine.placement import check_mode
from pixelmill.errors import ArgumentError
from pixelmill.ingest.job import expected_bytes, make_job
from pixelmill.jobs.run import JobReport, run_job
from pixelmill.options.declaration import takes, values_of
from pixelmill.options.ingest import IngestArguments
from pixelmill.options.running import QuarantineOption, RunOptions


@takes(IngestArguments)
def ingest(given: IngestArguments) -> JobReport:
    """Write TFRecords of raw pixels from a folder with a sub-folder for each class.

    The images are shuffled by the seed, and the first ``num_images`` are taken. The largest centered square of each is
    resized. A record holds ``image/encoded`` (the raw pixels), ``image/height``, ``image/width``, ``image/channels``,
    ``image/colorspace`` (RGB), ``image/format`` (tensor), ``image/filename``, ``image/class/label``,
    ``image/class/synset`` (the folder) and ``image/class/text``.

    Returns:
        The state of the output.
    """
    check_mode("ingest", given.mode, here=given.runner == "local")
    job = make_job(given)
    images = job.options.num_images
    size = expected_bytes(images, img_size=given.img_size, dtype=given.dtype)
    if given.on_start is not None:
        given.on_start(images, size)
    if not given.yes:
        _check_free_space(os.fspath(given.output_dir), size)
    index, parts = given.part or (None, None)
    return run_job(
        job,
        given.output_dir,
        workers=given.num_workers,
        shard_index=index,
        num_shards=parts,
        num_gpus=int(given.mode == "gpu"),
        **values_of(RunOptions, given),
        **values_of(QuarantineOption, given),
    )


def _check_free_space(output: str, size: int) -> None:
    if "://" in output:
        return
    folder = Path(output).absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if size > free:
        text = f"ingest: about {size / 1e9:.1f} GB will be written and {folder} has {free / 1e9:.1f} GB free"
        raise ArgumentError(f"{text}; --yes (yes=True) starts anyway")
