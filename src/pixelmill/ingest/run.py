"""`ingest`: class folders to TFRecords of raw pixels."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

from pixelmill.amounts import size_text
from pixelmill.engine.placement import check_mode, chosen_mode
from pixelmill.errors import ArgumentError
from pixelmill.ingest.job import expected_bytes, make_job
from pixelmill.jobs.apart import check_apart
from pixelmill.jobs.run import JobReport, run_job
from pixelmill.options.declaration import takes, values_of
from pixelmill.options.ingest import IngestArguments
from pixelmill.options.running import QuarantineOption, RunOptions


@takes(IngestArguments)
def ingest(options: IngestArguments) -> JobReport:
    """Write TFRecords of raw pixels from a folder with a sub-folder for each class.

    The images are shuffled by the seed, and the first ``num_images`` are taken. The largest centered square of each is
    resized. A record holds ``image/encoded`` (the raw pixels), ``image/height``, ``image/width``, ``image/channels``,
    ``image/colorspace`` (RGB), ``image/format`` (tensor), ``image/filename``, ``image/class/label``,
    ``image/class/synset`` (the folder) and ``image/class/text``.

    Returns:
        The state of the output.
    """
    options = replace(options, mode=chosen_mode("ingest", options.mode))
    check_mode("ingest", options.mode, here=options.runner == "local")
    check_apart("ingest", os.fspath(options.input_dir), os.fspath(options.output_dir))
    job = make_job(options)
    images = job.options.num_images
    size = expected_bytes(images, img_size=options.img_size, dtype=options.dtype)
    if options.on_start is not None:
        options.on_start(images, size)
    if not options.yes:
        _check_free_space(os.fspath(options.output_dir), size)
    index, parts = options.part or (None, None)
    return run_job(
        job,
        options.output_dir,
        workers=options.num_workers,
        shard_index=index,
        num_shards=parts,
        num_gpus=int(options.mode == "gpu"),
        **values_of(RunOptions, options),
        **values_of(QuarantineOption, options),
    )


def _check_free_space(output: str, size: int) -> None:
    if "://" in output:
        return
    folder = Path(output).absolute()
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if size > free:
        text = f"ingest: about {size_text(size)} will be written and {folder} has {size_text(free)} free"
        raise ArgumentError(f"{text}; --yes (yes=True) starts anyway")
