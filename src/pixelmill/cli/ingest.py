"""``pixelmill ingest``."""

from __future__ import annotations

import time
from typing import Any

import click

from pixelmill.cli.running import job_arguments, job_options, progress_bar, show_report


@click.command(short_help="Write TFRecords of raw pixels from class folders.")
@click.option("--input_dir", "--input-dir", required=True, help="Folder with a sub-folder for each class.")
@click.option("--output_dir", "--output-dir", required=True, help="Folder for the TFRecord files.")
@click.option("--num_images", "--num-images", default=-1, show_default=True, help="Number of images; -1 takes all.")
@click.option("--num_shards", "--num-shards", default=10, show_default=True, help="Number of TFRecord files.")
@click.option("--num_workers", "--num-workers", type=click.IntRange(min=1), help="The same as --workers.")
@click.option("--img_size", "--img-size", default=300, show_default=True, help="Height and width of the images.")
@click.option("--labels", help="File with the label of each folder (json, csv, txt).")
@click.option("--seed", default=0, show_default=True, help="Another seed, another order.")
@click.option(
    "--dtype",
    type=click.Choice(["uint8", "float16", "float32"]),
    default="uint8",
    show_default=True,
    help="Type of the pixels.",
)
@click.option("--order", type=click.Choice(["HWC", "CHW"]), help="Order of the axes, named in image/order.")
@click.option("--name", default="train", show_default=True, help="First part of the file names.")
@click.option("--mode", type=click.Choice(["cpu", "gpu"]), default="cpu", show_default=True, help="Where to work.")
@click.option("--yes", is_flag=True, help="Begin even if the disk has not enough room.")
@click.option("--shard-index", type=click.IntRange(min=0), help="Make this one of the --num_shards files only.")
@job_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def ingest(as_json: bool, shard_index: int | None, num_workers: int | None, **options: Any) -> None:
    """Write TFRecords of raw pixels from a folder with a sub-folder for each class.

    The largest square in the middle of each image is resized to --img_size; a training program only has to reshape
    the bytes. Folders named by the synsets of ImageNet get its 1000 labels.

    \b
    Examples:
      pixelmill ingest --input_dir=imagenet --output_dir=records --num_images=-1 --num_shards=10 --img_size=300
      pixelmill ingest --input_dir photos --output_dir records --labels labels.csv --on-error skip
      pixelmill ingest --input_dir photos --output_dir records --exists resume
    """
    from pixelmill.ingest import ingest as run

    arguments = job_arguments(options)
    workers = num_workers or arguments.pop("workers")
    arguments.pop("workers", None)
    part = (arguments.pop("shard_index"), arguments.pop("num_shards")) if "shard_index" in arguments else None
    if shard_index is not None:
        part = shard_index, options["num_shards"]
    begin = time.monotonic()

    def announce(count: int, size: int) -> None:
        if not as_json:
            click.echo(f"{count} images, about {size / 1e9:,.2f} GB")

    with progress_bar("ingesting", quiet=as_json) as show:
        report = run(num_workers=workers, on_start=announce, on_progress=show, part=part, **arguments, **options)
    show_report(report, seconds=time.monotonic() - begin, as_json=as_json)
