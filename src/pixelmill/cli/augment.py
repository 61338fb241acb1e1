"""``pixelmill augment``."""

from __future__ import annotations

import time
from typing import Any

import click

from pixelmill.cli.running import job_arguments, job_options, progress_bar, show_report
from pixelmill.formats.containers import FORMATS


@click.command(short_help="Write augmented variants of a dataset.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--output", default="augmented", show_default=True, help="Folder or address to write to.")
@click.option("--mode", type=click.Choice(["cpu", "gpu"]), default="cpu", show_default=True, help="Where to work.")
@click.option("--recipe", default="tfdali", show_default=True, help="A name, a YAML file, or FILE.py:FUNCTION.")
@click.option("--variants", default=1, show_default=True, type=click.IntRange(min=1), help="Variants of each sample.")
@click.option("--keep-originals", is_flag=True, help="Write each sample as it is before its variants.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="What all draws follow from.")
@click.option("--to", type=click.Choice(FORMATS), help="The container to write.  [default: that of INPUT]")
@click.option("--format", type=click.Choice(["jpeg", "png"]), help="Of images.  [default: that of each]")
@click.option("--quality", default=90, show_default=True, type=click.IntRange(1, 100), help="Of JPEG files.")
@click.option(
    "--subsampling",
    default="4:2:0",
    show_default=True,
    type=click.Choice(["4:4:4", "4:2:2", "4:2:0"]),
    help="How much of the colours JPEG keeps.",
)
@click.option(
    "--visibility",
    default=0.3,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Drop boxes of which a smaller share is left.",
)
@click.option(
    "--samples-per-shard",
    default=1000,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="Where shards do not follow the files of INPUT.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Read N samples only.")
@job_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def augment(inputs: tuple[str, ...], output: str, as_json: bool, **options: Any) -> None:
    """Write augmented variants of a dataset: TFRecord files, or any other container.

    Labels, names and all other features of a record come along; boxes and masks follow the picture. A record file
    becomes a file of the same name in the output, with its index beside it. What was begun and interrupted goes on
    with --exists resume.

    \b
    Examples:
      pixelmill augment --mode cpu train-00000-of-01024
      pixelmill augment 'train-*' --output more --variants 4 --keep-originals --seed 7
      pixelmill augment photos/ --recipe classification --to webdataset --output shards
      pixelmill augment data/ --recipe mine.yaml --on-error skip
      pixelmill augment 'train-*' --output more --part 3/16     one of 16 machines
      pixelmill augment 'train-*' --output s3://bucket/more --runner ray
    """
    from pixelmill.augmentation import augment as run

    arguments = job_arguments(options)
    source = inputs[0] if len(inputs) == 1 else inputs
    began = time.perf_counter()
    with progress_bar("augmenting", total=None, quiet=as_json) as show:
        report = run(source, output, on_progress=show, **options, **arguments)
    show_report(report, seconds=time.perf_counter() - began, as_json=as_json)
