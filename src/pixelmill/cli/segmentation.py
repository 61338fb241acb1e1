"""``pixelmill segmentation``."""

from __future__ import annotations

import time

from pixelmill import segmentation as pairs
from pixelmill.cli.commands import job_command
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.places import Places, with_places
from pixelmill.cli.running import progress_bar, show_report, split_arguments
from pixelmill.options.running import PartOption
from pixelmill.options.segmentation import SegmentationArguments


@job_command(short_help="Prepare images and masks as npy files and lists.")
@with_places(Places("data_root", "output", source_options=("--data-root",)))
@with_options(SegmentationArguments, PartOption, without=("data_root", "output"))
@json_option
def segmentation(part: tuple[int, int] | None, as_json: bool, **options: OptionValue) -> None:
    """Write npy files, train.csv and valid.csv to DST, from SRC/Images/<group>/* and SRC/Masks/<group>/*.

    Images and masks are paired by file stem. Whole groups go to training or to validation; folders named train and
    valid keep their role. Pairs of different size and masks with more than two values are reported.

    \b
    Examples:
      pixelmill segmentation data/ prepared/
      pixelmill segmentation data/ prepared/ --valid 0.25 --seed 3 --normalize unit
      pixelmill segmentation data/ prepared/ --on-error skip --exists resume
    """
    began = time.perf_counter()
    with progress_bar("preparing", quiet=as_json) as show:
        report = pairs.prepare_segmentation(on_progress=show, **options, **split_arguments(part))
    show_report(report, seconds=time.perf_counter() - began, as_json=as_json, part=part)
