"""``pixelmill ingest``."""

from __future__ import annotations

import time

import click

from pixelmill import ingest as class_folders
from pixelmill.amounts import counted, size_text
from pixelmill.cli.commands import job_command
from pixelmill.cli.options import NumberType, OptionValue, json_option, with_options
from pixelmill.cli.places import Places, with_places
from pixelmill.cli.running import progress_bar, show_report
from pixelmill.cli.terminal import echo
from pixelmill.options.declaration import Range
from pixelmill.options.ingest import IngestArguments

_PLACES = Places("input_dir", "output_dir", source_options=("--input-dir",), output_options=("--output-dir",))


@job_command(short_help="Write TFRecords of raw pixels from class folders.")
@with_places(_PLACES)
@with_options(IngestArguments, without=("input_dir", "output_dir"))
@click.option("--shard-index", type=NumberType(int, Range(0)), help="Make only this one of the --num-shards files.")
@json_option
def ingest(as_json: bool, shard_index: int | None, part: tuple[int, int] | None, **options: OptionValue) -> None:
    """Write TFRecords of raw pixels to DST, from the folder SRC with a sub-folder for each class.

    The largest centered square of each image is resized to --img-size; a training program only has to reshape the
    bytes. Folders named after the synsets of ImageNet get its 1000 labels.

    \b
    Examples:
      pixelmill ingest photos/ records/ --img-size 300 --num-shards 10
      pixelmill ingest photos/ records/ --labels labels.csv --on-error skip
      pixelmill ingest photos/ records/ --exists resume
      pixelmill ingest photos/ records/ --part 0/4     # on the first of four machines
      pixelmill ingest --input_dir=imagenet --output_dir=records --num_images=-1 --num_shards=10 --img_size=300
    """
    if shard_index is not None:
        part = shard_index, options["num_shards"]
    began = time.perf_counter()

    def announce(count: int, size: int) -> None:
        if not as_json:
            echo(f"{counted(count, 'image')}, about {size_text(size)}")

    with progress_bar("ingesting", quiet=as_json) as show:
        report = class_folders.ingest(on_start=announce, on_progress=show, part=part, **options)
    show_report(report, seconds=time.perf_counter() - began, as_json=as_json, part=part)
