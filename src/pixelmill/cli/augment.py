"""``pixelmill augment``."""

from __future__ import annotations

import time

import click

import pixelmill
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.running import progress_bar, show_report, split_arguments
from pixelmill.options.augment import AugmentArguments
from pixelmill.options.running import PartOption


@click.command(short_help="Write augmented variants of a dataset.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@with_options(AugmentArguments, PartOption, without=("source",))
@json_option
def augment(inputs: tuple[str, ...], part: tuple[int, int] | None, as_json: bool, **options: OptionValue) -> None:
    """Write augmented variants of a dataset: TFRecord files, or any other container.

    Labels, names and all other features of a record are kept; boxes and masks follow the image. A record file becomes a
    file of the same name in the output, with its index next to it. An interrupted job continues with --exists resume.

    \b
    Examples:
      pixelmill augment --mode cpu train-00000-of-01024
      pixelmill augment 'train-*' --output more --variants 4 --keep-originals --seed 7
      pixelmill augment photos/ --recipe classification --to webdataset --output shards
      pixelmill augment data/ --recipe mine.yaml --on-error skip
      pixelmill augment 'train-*' --output more --part 3/16     # on one of 16 machines
      pixelmill augment 'train-*' --output s3://bucket/more --runner ray
    """
    source = inputs[0] if len(inputs) == 1 else inputs
    began = time.perf_counter()
    with progress_bar("augmenting", total=None, quiet=as_json) as show:
        report = pixelmill.augment(source, on_progress=show, **options, **split_arguments(part))
    show_report(report, seconds=time.perf_counter() - began, as_json=as_json)
