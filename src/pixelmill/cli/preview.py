"""``pixelmill preview``."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

import pixelmill
from pixelmill.amounts import counted
from pixelmill.cli.commands import job_command
from pixelmill.cli.exit_codes import SKIPPED
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.places import Places, with_places
from pixelmill.cli.running import sample_bar
from pixelmill.cli.terminal import echo, echo_json
from pixelmill.errors import printable
from pixelmill.options.inspect import PreviewOptions

if TYPE_CHECKING:
    from pixelmill.inspect.preview import PreviewReport

_SHOWN = 10
_PLACES = Places("source", "output", several=True, default="preview.png", endings=(".png", ".html", ".htm"))


@job_command(short_help="Look at a dataset, or at what a recipe does to it.")
@with_places(_PLACES)
@with_options(PreviewOptions, without=("source", "output"))
@json_option
def preview(as_json: bool, **options: OptionValue) -> None:
    """Draw samples of the dataset SRC on one sheet, the .png or .html file DST, with labels, boxes and masks.

    Samples come from all parts and classes of the dataset. With --recipe, each sample is followed by the variants that
    `pixelmill augment` writes with the same seed. An .html file is self-contained and lets you hide boxes and masks
    and enlarge images. Exits with 3 if one of the samples is damaged.

    \b
    Examples:
      pixelmill preview photos/
      pixelmill preview 'train-*.tfrecord' look.html --count 48
      pixelmill preview data/ --recipe detection --variants 4 --seed 7
      pixelmill preview data/ --class dog --only boxes
      pixelmill preview records/ --samples 3,7,100-120 --exists overwrite
      pixelmill preview s3://bucket/shards --errors
    """
    began = time.perf_counter()
    with sample_bar("looking", quiet=as_json) as show:
        report = pixelmill.preview(on_sample=show, **options)
    if as_json:
        seconds = round(time.perf_counter() - began, 3)
        echo_json({**report.as_dict(), "seconds": seconds})
    else:
        _show(report)
    if report.damaged:
        click.get_current_context().exit(SKIPPED)


def _show(report: PreviewReport) -> None:
    for text in report.warnings:
        echo(f"Note: {text}", err=True)
    if report.output is None:
        echo(f"{report.source}: none of {counted(report.samples, 'sample')} is damaged; nothing was written")
        return
    bad = {(cell.number, cell.key): cell.problem for cell in report.cells if cell.problem is not None}
    for problem in list(bad.values())[:_SHOWN]:
        echo(f"damaged: {printable(str(problem))}", err=True)
    if len(bad) > _SHOWN:
        echo(f"and {len(bad) - _SHOWN} more (--json lists all)", err=True)
    echo(report.output)
