"""``pixelmill preview``."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import click

from pixelmill.cli.running import SKIPPED, sample_bar
from pixelmill.options.running import CONTAINERS

if TYPE_CHECKING:
    from pixelmill.inspect.preview import PreviewReport

_SHOWN = 10


@click.command(short_help="Look at a dataset, or at what a recipe does to it.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("--output", default="preview.png", show_default=True, help="A .png or .html file.")
@click.option("--recipe", help="Show variants by it: a name, a YAML file, or FILE.py:FUNCTION.")
@click.option("--variants", default=3, show_default=True, type=click.IntRange(min=1), help="Of each sample.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the choice and the recipe.")
@click.option("--count", type=click.IntRange(min=1), help="Samples to show.  [default: 16, or 6 with a recipe]")
@click.option("--samples", metavar="N,N-M,…", help="The numbers of the samples to show, from 0.")
@click.option("--class", "class_name", metavar="NAME", help="Samples of this class, by name or number.")
@click.option("--only", type=click.Choice(["boxes", "masks"]), help="Samples that have them; draw nothing else.")
@click.option("--errors", is_flag=True, help="Damaged samples; reads the dataset until there are enough.")
@click.option("--columns", type=click.IntRange(min=1), help="Cells in a row.")
@click.option("--size", default=224, show_default=True, type=click.IntRange(32, 2048), help="Of a cell, in pixels.")
@click.option("--labels/--no-labels", default=True, show_default=True, help="Write captions and names.")
@click.option("--from", "format", type=click.Choice(CONTAINERS), help="What INPUT is.  [default: by its content]")
@click.option("--root", type=click.Path(file_okay=False), help="For lists: where relative paths begin.")
@click.option("--allow-outside", is_flag=True, help="For lists: permit paths that lead out of the root.")
@click.option(
    "--exists",
    type=click.Choice(["error", "overwrite"]),
    default="error",
    show_default=True,
    help="A file that is there: refuse or replace it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what is shown as JSON and nothing else.")
def preview(inputs: tuple[str, ...], output: str, as_json: bool, **options: Any) -> None:
    """Draw samples of a dataset on one sheet, with labels, boxes and masks.

    Samples come from all parts and classes of the dataset. With --recipe, each stands beside its variants, which are
    those that `augment` writes with the same seed. An .html file needs nothing else; boxes and masks can be hidden in
    it, and pictures enlarged. Ends with 3 if a sample that is shown is damaged.

    \b
    Examples:
      pixelmill preview photos/
      pixelmill preview 'train-*.tfrecord' --count 48 --output look.html
      pixelmill preview data/ --recipe detection --variants 4 --seed 7
      pixelmill preview data/ --class dog --only boxes
      pixelmill preview records/ --samples 3,7,100-120 --exists overwrite
      pixelmill preview s3://bucket/shards --errors
    """
    from pixelmill.inspect.preview import preview as draw

    source = inputs[0] if len(inputs) == 1 else inputs
    began = time.perf_counter()
    with sample_bar("looking", quiet=as_json) as show:
        report = draw(source, output, on_sample=show, **options)
    if as_json:
        seconds = round(time.perf_counter() - began, 3)
        click.echo(json.dumps({**report.as_dict(), "seconds": seconds}, indent=2))
    else:
        _show(report)
    if report.damaged:
        click.get_current_context().exit(SKIPPED)


def _show(report: PreviewReport) -> None:
    for text in report.warnings:
        click.echo(f"Note: {text}", err=True)
    if report.output is None:
        click.echo(f"{report.source}: none of {report.samples:,} samples is damaged; nothing was written")
        return
    bad = {(cell.number, cell.key): cell.problem for cell in report.cells if cell.problem is not None}
    for problem in list(bad.values())[:_SHOWN]:
        click.echo(f"damaged: {problem}", err=True)
    if len(bad) > _SHOWN:
        click.echo(f"and {len(bad) - _SHOWN} more (--json lists all)", err=True)
    click.echo(report.output)
