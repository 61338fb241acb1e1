"""``pixelmill augment``."""

from __future__ import annotations

import time

import pixelmill
from pixelmill.cli.commands import job_command
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.places import Places, with_places
from pixelmill.cli.running import progress_bar, show_report, split_arguments
from pixelmill.options.augment import AugmentArguments
from pixelmill.options.running import PartOption

_PLACES = Places("source", "output", several=True, default="augmented")


@job_command(short_help="Write augmented variants of a dataset.")
@with_places(_PLACES)
@with_options(AugmentArguments, PartOption, without=("source", "output"))
@json_option
def augment(part: tuple[int, int] | None, as_json: bool, **options: OptionValue) -> None:
    """Write augmented variants of the dataset SRC to the folder or URL DST, in the same container or another.

    SRC is any dataset: a folder, record files, or a quoted glob pattern. Labels, names and all other features of a
    record are kept; boxes and masks follow the image. A record file becomes a file of the same name in DST, with its
    index next to it. An interrupted job continues with --exists resume.

    \b
    Examples:
      pixelmill augment photos/ more/ --recipe classification --variants 4
      pixelmill augment 'train-*' more/ --variants 4 --keep-originals --seed 7
      pixelmill augment photos/ shards/ --to webdataset --recipe mine.yaml --on-error skip
      pixelmill augment 'train-*' more/ --part 0/3        # on the first of three machines
      pixelmill augment 'train-*' s3://bucket/more --runner ray
      pixelmill augment --mode cpu train-00000-of-01024   # writes to augmented/
    """
    began = time.perf_counter()
    with progress_bar("augmenting", total=None, quiet=as_json) as show:
        report = pixelmill.augment(on_progress=show, **options, **split_arguments(part))
    show_report(report, seconds=time.perf_counter() - began, as_json=as_json, part=part)
