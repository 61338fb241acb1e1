"""``pixelmill segmentation``."""

from __future__ import annotations

import time

import click

from pixelmill import segmentation as pairs
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.running import progress_bar, show_report, split_arguments
from pixelmill.options.running import PartOption
from pixelmill.options.segmentation import SegmentationArguments


@click.command(short_help="Prepare images and masks as npy files and lists.")
@click.argument("data_root")
@with_options(SegmentationArguments, PartOption, without=("data_root",))
@json_option
def segmentation(data_root: str, part: tuple[int, int] | None, as_json: bool, **options: OptionValue) -> None:
    """Write npy files, train.csv and valid.csv from DATA_ROOT/Images/<group>/* and DATA_ROOT/Masks/<group>/*.

    Images and masks are paired by file stem. Whole groups go to training or to validation; folders named train and
    valid keep their role. Pairs of different size and masks with more than two values are reported.

    \b
    Examples:
      pixelmill segmentation data --output prepared
      pixelmill segmentation data --output prepared --valid 0.25 --seed 3 --normalize unit
      pixelmill segmentation data --output prepared --on-error skip
    """
    begin = time.monotonic()
    with progress_bar("preparing", quiet=as_json) as show:
        report = pairs.prepare_segmentation(data_root, on_progress=show, **options, **split_arguments(part))
    show_report(report, seconds=time.monotonic() - begin, as_json=as_json)
