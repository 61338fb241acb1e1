"""``pixelmill segmentation``."""

from __future__ import annotations

import time
from typing import Any

import click

from pixelmill.cli.running import job_arguments, job_options, progress_bar, show_report


@click.command(short_help="Prepare images and masks as npy files and lists.")
@click.argument("data_root")
@click.option("--output", required=True, help="Folder for the npy files and csv_file/.")
@click.option("--valid", default=0.2, show_default=True, help="Share of the groups for validation.")
@click.option("--seed", default=0, show_default=True, help="Another seed, another choice of groups.")
@click.option("--normalize", is_flag=True, help="Write float32 from 0 to 1 instead of uint8; masks become 0 and 1.")
@job_options
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def segmentation(data_root: str, as_json: bool, **options: Any) -> None:
    """Write npy files, train.csv and valid.csv from DATA_ROOT/Images/<group>/* and DATA_ROOT/Masks/<group>/*.

    Images and masks belong together by the stems of their names. Whole groups go to training or to validation; folders
    named train and valid stay what they are. Pairs of different size and masks of more than two values are named.

    \b
    Examples:
      pixelmill segmentation data --output prepared
      pixelmill segmentation data --output prepared --valid 0.25 --seed 3 --normalize
      pixelmill segmentation data --output prepared --on-error skip
    """
    from pixelmill.segmentation import prepare_segmentation

    arguments = job_arguments(options)
    begin = time.monotonic()
    with progress_bar("preparing", quiet=as_json) as show:
        report = prepare_segmentation(data_root, on_progress=show, **options, **arguments)
    show_report(report, seconds=time.monotonic() - begin, as_json=as_json)
