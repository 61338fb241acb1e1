"""``pixelmill info``, ``verify`` and ``index``."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING

import click

import pixelmill
from pixelmill.amounts import counted, size_text
from pixelmill.cli.commands import job_command
from pixelmill.cli.exit_codes import MISMATCH, SKIPPED
from pixelmill.cli.options import OptionValue, json_option, with_options
from pixelmill.cli.places import Places, with_places
from pixelmill.cli.running import sample_bar, show_notes, show_remarks
from pixelmill.cli.terminal import echo, echo_json, plain_console
from pixelmill.errors import printable
from pixelmill.options.inspect import IndexOptions, InfoOptions, OverwriteOption, VerifyOptions

if TYPE_CHECKING:
    from rich.console import Console

    from pixelmill.inspect.info import DatasetInfo, Histogram
    from pixelmill.inspect.verify import Verification

_SHOWN_CLASSES = 12
_BAR = 30


_SOURCE = Places("source", several=True)


@click.command(short_help="Show what is in a dataset.")
@with_places(_SOURCE)
@with_options(InfoOptions, without=("source",))
@json_option
def info(as_json: bool, **options: OptionValue) -> None:
    """Show what the dataset SRC contains: schema, counts, classes, sizes and aspect ratios of the images.

    `pixelmill preview` draws its samples. Exits with 3 if none of the samples can be used.

    \b
    Examples:
      pixelmill info photos/
      pixelmill info 'train-*.tfrecord' --samples 0
      pixelmill info labels.csv --json
    """
    with sample_bar("looking", quiet=as_json) as show:
        found = pixelmill.info(on_sample=show, **options)
    if as_json:
        echo_json(_finite(asdict(found)))
    else:
        _show_info(found, plain_console())
    if found.examined and len(found.bad) >= found.examined:
        if not as_json:
            echo(f"no sample of {found.source} can be used", err=True)
        click.get_current_context().exit(SKIPPED)


@job_command(short_help="Check that a dataset is complete and undamaged.")
@with_places(_SOURCE)
@with_options(VerifyOptions, without=("source",))
@json_option
def verify(as_json: bool, **options: OptionValue) -> None:
    """Read the whole dataset SRC and list everything that is wrong, with file and byte offset.

    Compares files with the hashes in manifest.json if there is one, verifies the framing and checksums of records, and
    decodes every image. Exits with 0 if the dataset is intact and with 4 if not.

    \b
    Examples:
      pixelmill verify records/
      pixelmill verify train-00003.tfrecord --no-decode
      pixelmill verify photos/ --json
    """
    with sample_bar("verifying", quiet=as_json) as show:
        found = pixelmill.verify(on_sample=show, **options)
    if as_json:
        echo_json({**asdict(found), "is_whole": found.is_whole})
    else:
        _show_verification(found)
    if not found.is_whole:
        click.get_current_context().exit(MISMATCH)


@job_command(short_help="Write index files for DALI's readers.")
@with_places(_SOURCE)
@click.option("-o", "--output", metavar="DIR", help="Folder for the index files.  [default: next to the data]")
@with_options(IndexOptions, OverwriteOption, without=("source", "output"))
@json_option
def index(source: OptionValue, output: str | None, exists: str, as_json: bool) -> None:
    """Write the .idx file of each TFRecord, RecordIO or WebDataset file in SRC, as DALI's readers expect them.

    \b
    Examples:
      pixelmill index records/
      pixelmill index 'train-*.tfrecord' -o idx/
    """
    written = pixelmill.index(source, output=output, overwrite=exists == "overwrite")
    if as_json:
        echo_json({"written": written})
        return
    for path in written:
        echo(f"wrote {path}")


def _show_info(found: DatasetInfo, console: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="green")
    table.add_column()
    table.add_row("dataset", printable(found.source))
    table.add_row("format", f"{found.format}, {found.layout}")
    table.add_row("samples", f"{found.samples:,} in {counted(found.files, 'file')}, {size_text(found.bytes)}")
    if found.examined < found.samples:
        table.add_row("", f"what follows is about {found.examined:,} of them, evenly spread (--samples 0: all)")
    for number, (name, kind) in enumerate(found.fields.items()):
        table.add_row("fields" if number == 0 else "", printable(f"{name}: {kind}"))
    table.add_row("endings", ", ".join(f"{name or '(none)'} {count:,}" for name, count in found.extensions.items()))
    if found.height[2]:
        table.add_row("height", _spread(found.height))
        table.add_row("width", _spread(found.width))
        low, mean, high = map(size_text, found.image_bytes)
        table.add_row("file size", low if low == high else f"{low} to {high}, mean {mean}")
    if found.boxes or found.masks:
        others = "".join(f", {count:,} {name}" for name, count in found.objects.items())
        boxes, masks = counted(found.boxes, "box", "boxes"), counted(found.masks, "mask")
        table.add_row("with", f"{boxes}, {masks}{others}")
    if found.splits:
        table.add_row("splits", printable(", ".join(f"{name} {count:,}" for name, count in found.splits.items())))
    console.print(table)
    _show_classes(found, console)
    _show_histogram("shorter side", found.sizes, console)
    _show_histogram("width : height", found.aspects, console)
    for line in found.remarks:
        console.print(Text.assemble(("note", "yellow"), f" {printable(line)}"), soft_wrap=True)
    for text in (*found.faults, *(str(event) for event in found.bad)):
        console.print(Text.assemble(("bad", "red"), f" {printable(text)}"), soft_wrap=True)


def _show_classes(found: DatasetInfo, console: Console) -> None:
    if not found.labels:
        return
    console.print(f"\n{counted(len(found.labels), 'label')}", style="green")
    most = max(found.labels.values())
    width = max(len(_label(found, label)) for label in list(found.labels)[:_SHOWN_CLASSES])
    for label, count in list(found.labels.items())[:_SHOWN_CLASSES]:
        console.print(f"  {_label(found, label):<{width}}  {_blocks(count, most)} {count:,}")
    if len(found.labels) > _SHOWN_CLASSES:
        console.print(f"  and {len(found.labels) - _SHOWN_CLASSES:,} more (--json lists all)")


def _label(found: DatasetInfo, label: str) -> str:
    name = found.class_names.get(label)
    return printable(f"{label} {name}" if name else label)


def _show_histogram(title: str, histogram: Histogram, console: Console) -> None:
    if not histogram.counts:
        return
    console.print(f"\n{title}", style="green")
    most = max(histogram.counts)
    labels = []
    for low, high in pairwise(histogram.edges):
        to = " and more" if high == float("inf") else f" to {high:g}" if low != high else ""
        labels.append(f"{low:g}{to}")
    width = max(map(len, labels))
    for label, count in zip(labels, histogram.counts, strict=True):
        console.print(f"  {label:<{width}}  {_blocks(count, most)} {count:,}")


def _blocks(count: int, most: int) -> str:
    length = max(round(_BAR * count / most), 1 if count else 0)
    return "█" * length + " " * (_BAR - length)


def _spread(values: tuple[float, float, float]) -> str:
    low, mean, high = values
    return f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}, mean {mean:,.0f}"


def _show_verification(found: Verification) -> None:
    for event in found.problems:
        where = printable(event.path or found.source) + (f" at byte {event.offset}" if event.offset is not None else "")
        sample = f", sample {event.sample}" if event.sample >= 0 else ""
        echo(f"{where}{sample}: {event.kind}: {printable(event.message)}")
    compared = f"{counted(found.hashed, 'file')} compared with {found.manifest}"
    hashes = compared if found.manifest else "there is no manifest"
    read = f"{counted(found.samples, 'sample')} read, {counted(found.decoded, 'image')} decoded; {hashes}"
    if found.is_whole:
        echo(f"{found.source}: whole ({found.format}). {read}")
    else:
        echo(f"{found.source}: {counted(len(found.problems), 'problem')}. {read}", err=True)
    show_notes(found.notes)
    show_remarks(found.remarks)


def _finite(value: object) -> object:
    """Replace infinity, which JSON cannot represent, by null."""
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if value == float("inf") else value
