"""``pixelmill convert``."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

import pixelmill
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.running import SKIPPED, progress_bar, show_notes, show_remarks
from pixelmill.cli.terminal import echo, echo_json
from pixelmill.options.convert import ConvertArguments
from pixelmill.options.running import Progress

if TYPE_CHECKING:
    from pixelmill.conversion import ConvertReport
    from pixelmill.conversion.codebook import PackFigures


@click.command(short_help="Write a dataset into another container.")
@click.argument("source", metavar="SRC")
@click.argument("output", metavar="DST")
@with_options(ConvertArguments, without=("source", "output"))
@json_option
def convert(source: str, output: str, as_json: bool, **options: OptionValue) -> None:
    """Write the dataset SRC into another container, in the folder or at the URL DST.

    SRC is a folder of images, a file list or CSV table, or TFRecord, RecordIO, WebDataset or pack files: a folder of
    them, one file, or a quoted glob pattern. Images are copied byte for byte unless --resize, --max-side, --format or
    --quality ask for a new encoding. Labels, boxes, masks and names are kept. An interrupted job continues with
    --exists resume.

    \b
    Examples:
      pixelmill convert photos/ records/ --to tfrecord
      pixelmill convert photos/ records/ --to webdataset --samples-per-shard 1000 --shuffle --seed 7
      pixelmill convert 'train-*.tfrecord' photos/ --to folder --limit 500
      pixelmill convert labels.csv small/ --to recordio --max-side 512 --quality 90
      pixelmill convert photos/ pack/ --to pack
      pixelmill convert photos/ s3://bucket/photos --to tfrecord --split train=0.9,valid=0.1
    """
    options["split"] = options["split"] or ()
    began = time.perf_counter()
    with progress_bar("converting", total=None, quiet=as_json or options["dry_run"]) as show:
        report = pixelmill.convert(
            source,
            output,
            on_start=lambda total: show(Progress(0, 1, 0, 0, 0), total),
            on_progress=show,
            **options,
        )
    _show(report, seconds=time.perf_counter() - began, as_json=as_json, dry_run=options["dry_run"])


def _show(report: ConvertReport, *, seconds: float, as_json: bool, dry_run: bool) -> None:
    if as_json:
        figures = {**asdict(report), "dry_run": dry_run, "seconds": round(seconds, 3)}
        echo_json(figures)
    else:
        done = "would write" if dry_run else "wrote"
        echo(f"{done} {report.output}: {report.to} from {report.source} ({report.source_format})")
        for name, (samples, shards) in report.plan.items():
            written = report.parts[name].samples if name in report.parts else samples
            label = f"{name}: " if name else ""
            echo(f"  {label}{_count(written, 'sample')} in {_count(shards, 'shard')}")
        size = f"{report.bytes / 1e6:,.1f} MB"
        speed = f" in {seconds:.1f} s, {report.samples / max(seconds, 1e-9):,.0f} images/s"
        echo(f"  {size}{' to read' if dry_run else speed}")
        if report.pack is not None:
            _show_pack(report.pack)
        if report.errors:
            listed = ", ".join(str(part.manifest) for part in report.parts.values() if part.manifest and part.errors)
            text = f"{_count(report.errors, 'sample')} could not be used; listed in {listed}"
            echo(text, err=True)
        show_notes(report.notes)
        show_remarks(report.remarks)
    if report.errors:
        click.get_current_context().exit(SKIPPED)


def _show_pack(figures: PackFigures) -> None:
    images = figures.packed + sum(figures.kept.values())
    ratio = figures.bytes_after / max(figures.bytes_before, 1)
    sizes = f"{figures.bytes_before / 1e6:,.1f} MB became {figures.bytes_after / 1e6:,.1f} MB ({ratio:.3f})"
    echo(f"  {figures.packed:,} of {_count(images, 'image')} packed: {sizes}")
    if figures.kept:
        listed = ", ".join(f"{number:,} {reason}" for reason, number in figures.kept.items())
        echo(f"  stored as they are: {listed}")


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
