"""``pixelmill convert``."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

import pixelmill
from pixelmill.amounts import counted, duration_text, size_text, speed_text
from pixelmill.cli.commands import job_command
from pixelmill.cli.exit_codes import SKIPPED
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.places import Places, with_places
from pixelmill.cli.running import nothing_to_do, progress_bar, show_notes, show_remarks, show_skipped
from pixelmill.cli.terminal import echo, echo_json
from pixelmill.options.convert import ConvertArguments
from pixelmill.options.running import Progress

if TYPE_CHECKING:
    from pixelmill.conversion import ConvertReport
    from pixelmill.conversion.codebook import PackFigures


@job_command(short_help="Write a dataset into another container.")
@with_places(Places("source", "output", several=True))
@with_options(ConvertArguments, without=("source", "output"))
@json_option
def convert(as_json: bool, **options: OptionValue) -> None:
    """Write the dataset SRC into another container, in the folder or at the URL DST.

    SRC is a folder of images, a file list or CSV table, or TFRecord, RecordIO, WebDataset or pack files: a folder of
    them, some files, or a quoted glob pattern. Images are copied byte for byte unless --resize, --max-side, --format or
    --quality ask for a new encoding. Labels, boxes, masks and names are kept. An interrupted job continues with
    --exists resume.

    \b
    Examples:
      pixelmill convert photos/ records/ --to tfrecord
      pixelmill convert photos/ records/ --to webdataset --samples-per-shard 1000 --shuffle --seed 7
      pixelmill convert 'train-*.tfrecord' unpacked/ --to folder --limit 500
      pixelmill convert labels.csv small/ --to recordio --max-side 512 --quality 90
      pixelmill convert photos/ pack/ --to pack --dry-run
      pixelmill convert photos/ s3://bucket/photos --to tfrecord --split train=0.9,valid=0.1
    """
    options["split"] = options["split"] or ()
    began = time.perf_counter()
    with progress_bar("converting", total=None, quiet=as_json or options["dry_run"]) as show:
        report = pixelmill.convert(
            on_start=lambda total: show(Progress(0, 1, 0, 0, 0), total),
            on_progress=show,
            **options,
        )
    seconds = time.perf_counter() - began
    if as_json:
        echo_json({**asdict(report), "dry_run": options["dry_run"], "seconds": round(seconds, 3)})
    else:
        _show(report, seconds=seconds, dry_run=options["dry_run"], part=options["part"])
    if report.errors:
        click.get_current_context().exit(SKIPPED)


def _show(report: ConvertReport, *, seconds: float, dry_run: bool, part: tuple[int, int] | None) -> None:
    done = "would write" if dry_run else "wrote" if part is None else f"wrote part {part[0]}/{part[1]} of"
    if part is not None:
        idle = [job for job in report.parts.values() if not job.made and not job.complete]
        for job in idle:
            echo(nothing_to_do(part, job))
        if idle and len(idle) == len(report.parts):
            return
    echo(f"{done} {report.output}: {report.to} from {report.source} ({report.source_format})")
    for name, (samples, shards) in report.plan.items():
        written = report.parts[name].samples if name in report.parts else samples
        label = f"{name}: " if name else ""
        finished = "" if name not in report.parts or report.parts[name].complete else f"{report.parts[name].done:,} of "
        echo(f"  {label}{counted(written, 'sample')} in {finished}{counted(shards, 'shard')}")
    speed = f" in {duration_text(seconds)}, {speed_text(report.samples, report.bytes, seconds)}"
    echo(f"  {size_text(report.bytes)}{' to read; nothing was written' if dry_run else speed}")
    if report.pack is not None:
        _show_pack(report.pack)
    show_skipped(report.errors, (job.manifest for job in report.parts.values() if job.errors))
    show_notes(report.notes)
    show_remarks(report.remarks)


def _show_pack(figures: PackFigures) -> None:
    images = figures.packed + sum(figures.kept.values())
    ratio = figures.bytes_after / max(figures.bytes_before, 1)
    sizes = f"{size_text(figures.bytes_before)} became {size_text(figures.bytes_after)} ({ratio:.3f})"
    echo(f"  {figures.packed:,} of {counted(images, 'image')} packed: {sizes}")
    if figures.kept:
        listed = ", ".join(f"{number:,} {reason}" for reason, number in figures.kept.items())
        echo(f"  stored as they are: {listed}")
