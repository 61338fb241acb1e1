"""``pixelmill ingest``."""

from __future__ import annotations

import time

import click

from pixelmill import ingest as class_folders
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.running import progress_bar, show_report
from pixelmill.cli.terminal import echo
from pixelmill.options.ingest import IngestArguments
from pixelmill.options.running import WorkersOption


@click.command(short_help="Write TFRecords of raw pixels from class folders.")
@with_options(IngestArguments)
@click.option("--shard-index", type=click.IntRange(min=0), help="Make only this one of the --num_shards files.")
@with_options(WorkersOption)
@json_option
def ingest(
    as_json: bool,
    shard_index: int | None,
    workers: int | None,
    num_workers: int | None,
    part: tuple[int, int] | None,
    **options: OptionValue,
) -> None:
    """Write TFRecords of raw pixels from a folder with a sub-folder for each class.

    The largest centered square of each image is resized to --img_size; a training program only has to reshape the
    bytes. Folders named after the synsets of ImageNet get its 1000 labels.

    \b
    Examples:
      pixelmill ingest --input_dir=imagenet --output_dir=records --num_images=-1 --num_shards=10 --img_size=300
      pixelmill ingest --input_dir photos --output_dir records --labels labels.csv --on-error skip
      pixelmill ingest --input_dir photos --output_dir records --exists resume
    """
    if shard_index is not None:
        part = shard_index, options["num_shards"]
    begin = time.monotonic()

    def announce(count: int, size: int) -> None:
        if not as_json:
            echo(f"{count} images, about {size / 1e9:,.2f} GB")

    with progress_bar("ingesting", quiet=as_json) as show:
        report = class_folders.ingest(
            num_workers=num_workers or workers, on_start=announce, on_progress=show, part=part, **options
        )
    show_report(report, seconds=time.monotonic() - begin, as_json=as_json)
