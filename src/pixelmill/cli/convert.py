"""``pixelmill convert``."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from pixelmill.cli.running import SKIPPED, job_arguments, job_options, progress_bar
from pixelmill.cli.values import SIZE, SPLIT, STORAGE
from pixelmill.formats.containers import FORMATS

if TYPE_CHECKING:
    from pixelmill.conversion import ConvertReport


@click.command(short_help="Write a dataset into another container.")
@click.argument("source", metavar="SRC")
@click.argument("output", metavar="DST")
@click.option("--to", required=True, type=click.Choice(FORMATS), help="The container to write.")
@click.option("--from", "source_format", type=click.Choice(FORMATS), help="What SRC is.  [default: by its content]")
@click.option("--samples-per-shard", type=click.IntRange(min=1), metavar="N", help="Samples of a shard.")
@click.option("--shard-size", type=STORAGE, help="Bytes of a shard, such as 256MB or 1GiB.  [default: 256MB]")
@click.option("--num-shards", type=click.IntRange(min=1), metavar="N", help="Number of shards.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Write N samples only.")
@click.option("--shuffle", is_flag=True, help="Write the samples in a random order.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="For --shuffle and --split.")
@click.option("--split", type=SPLIT, help="Parts drawn at random, each a dataset of its own: train=0.9,valid=0.1")
@click.option("--resize", type=SIZE, help="Encode anew: HEIGHTxWIDTH, or one number for the shorter side.")
@click.option("--max-side", type=click.IntRange(1, 65535), metavar="N", help="Encode anew what is longer than N.")
@click.option("--format", type=click.Choice(["jpeg", "png", "webp", "bmp", "npy"]), help="Encode anew; npy is pixels.")
@click.option("--quality", type=click.IntRange(1, 100), metavar="N", help="Encode anew; of JPEG and WebP, 1 to 100.")
@click.option(
    "--keys",
    type=click.Choice(["inception", "tfds", "raw"]),
    default="inception",
    show_default=True,
    help="The keys of a TFRecord; raw ones hold pixels.",
)
@click.option("--root", type=click.Path(file_okay=False), help="For lists: where relative paths begin.")
@click.option("--allow-outside", is_flag=True, help="For lists: permit paths that lead out of the root.")
@job_options
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
def convert(source: str, output: str, as_json: bool, **options: Any) -> None:
    """Write the dataset SRC into another container, in the folder or at the address DST.

    SRC is a folder of images, a file list or CSV table, or TFRecord, RecordIO or WebDataset files: a folder of them,
    one file, or a pattern in quotes. Images are copied byte for byte unless --resize, --max-side, --format or
    --quality ask for a new encoding. Labels, boxes, masks and names come along. What was begun and interrupted goes
    on with --exists resume.

    \b
    Examples:
      pixelmill convert photos/ records/ --to tfrecord
      pixelmill convert photos/ records/ --to webdataset --samples-per-shard 1000 --shuffle --seed 7
      pixelmill convert 'train-*.tfrecord' photos/ --to folder --limit 500
      pixelmill convert labels.csv small/ --to recordio --max-side 512 --quality 90
      pixelmill convert photos/ s3://bucket/photos --to tfrecord --split train=0.9,valid=0.1
    """
    from pixelmill.conversion import convert as run
    from pixelmill.jobs import Progress

    arguments = job_arguments(options)
    if "shard_index" in arguments:
        arguments["part"] = (arguments.pop("shard_index"), arguments.pop("num_shards"))
    resize = options.pop("resize")
    if resize is not None:
        options["resize"] = resize[0] if len(resize) == 1 else resize
    split = options.pop("split") or ()
    began = time.perf_counter()
    with progress_bar("converting", total=None, quiet=as_json or options["dry_run"]) as show:
        report = run(
            source,
            output,
            split=split,
            on_start=lambda total: show(Progress(0, 1, 0, 0, 0), total),
            on_progress=show,
            **options,
            **arguments,
        )
    _show(report, seconds=time.perf_counter() - began, as_json=as_json, dry_run=options["dry_run"])


def _show(report: ConvertReport, *, seconds: float, as_json: bool, dry_run: bool) -> None:
    if as_json:
        figures = {**asdict(report), "dry_run": dry_run, "seconds": round(seconds, 3)}
        click.echo(json.dumps(figures, indent=2))
    else:
        done = "would write" if dry_run else "wrote"
        click.echo(f"{done} {report.output}: {report.to} from {report.source} ({report.source_format})")
        for name, (samples, shards) in report.plan.items():
            written = report.parts[name].samples if name in report.parts else samples
            label = f"{name}: " if name else ""
            click.echo(f"  {label}{_count(written, 'sample')} in {_count(shards, 'shard')}")
        size = f"{report.bytes / 1e6:,.1f} MB"
        speed = f" in {seconds:.1f} s, {report.samples / max(seconds, 1e-9):,.0f} images/s"
        click.echo(f"  {size}{' to read' if dry_run else speed}")
        if report.errors:
            listed = ", ".join(str(part.manifest) for part in report.parts.values() if part.manifest and part.errors)
            text = f"{_count(report.errors, 'sample')} could not be used; listed in {listed}"
            click.echo(text, err=True)
    if report.errors:
        click.get_current_context().exit(SKIPPED)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
