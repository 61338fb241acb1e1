"""Progress bars and reports of the commands that run bulk jobs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

import click

from pixelmill.amounts import counted, duration_text, rate_text, size_text, speed_text
from pixelmill.cli.exit_codes import SKIPPED
from pixelmill.cli.options import OptionValue
from pixelmill.cli.terminal import echo, echo_json, is_quiet, plain_console
from pixelmill.errors import printable
from pixelmill.options.running import Progress

if TYPE_CHECKING:
    from pixelmill.jobs import JobReport


class ShowProgress(Protocol):
    """Updates a progress bar; `total` once it is known."""

    def __call__(self, progress: Progress, total: int | None = None) -> None: ...


def split_arguments(part: tuple[int, int] | None) -> dict[str, OptionValue]:
    """Return `--part I/N` as the arguments of `run_job`."""
    return {} if part is None else {"shard_index": part[0], "num_shards": part[1]}


@contextmanager
def progress_bar(what: str, *, total: int | None = None, quiet: bool = False) -> Iterator[ShowProgress]:
    """Show a bar with images/s, MB/s and the time left; yield the function to call with each progress."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
        console=plain_console(stderr=True),
        transient=True,
        disable=quiet or is_quiet() or not sys.stderr.isatty(),
    )
    with nullcontext() if bars.disable else bars:  # rich 13.0 prints an empty line for a disabled bar
        task = bars.add_task(what, total=total, speed="")

        def show(progress: Progress, total: int | None = None) -> None:
            seconds = max(bars.tasks[0].elapsed or 0.0, 1e-3)
            speed = f"{rate_text(progress.samples / seconds)} images/s"
            if progress.bytes:
                speed += f"  {size_text(progress.bytes / seconds)}/s"
            whole = progress.expected if total is None else total
            if whole is not None:
                bars.update(task, total=whole)
            bars.update(task, completed=progress.samples + progress.samples_before, speed=speed)

        yield show


@contextmanager
def sample_bar(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a bar for samples that are read; yield the function to call with the number done and the total."""
    with progress_bar(what, total=None, quiet=quiet) as show:

        def advance(done: int, total: int) -> None:
            show(Progress(shards_done=0, shards=1, samples=done, bytes=0, samples_before=0), total)

        yield advance


def show_notes(notes: Mapping[str, int]) -> None:
    """Print how many samples have notes, on standard error."""
    if notes:
        listed = ", ".join(f"{kind} {count:,}" for kind, count in notes.items())
        echo(f"images with notes: {listed}", err=True)


def show_remarks(lines: Sequence[str]) -> None:
    """Print what is to know about a dataset, such as files that are not read, on standard error."""
    for line in lines:
        echo(f"note: {printable(line)}", err=True)


def show_report(report: JobReport, *, seconds: float, as_json: bool, part: tuple[int, int] | None = None) -> None:
    """Print the result of a job. Exit with `SKIPPED` if samples were skipped."""
    if as_json:
        echo_json({**asdict(report), "seconds": round(seconds, 3)})
    else:
        echo(report_text(report, seconds=seconds, part=part))
        show_skipped(report.errors, (report.manifest,))
        show_notes(report.notes)
    if report.errors:
        click.get_current_context().exit(SKIPPED)


def show_skipped(errors: int, manifests: Iterable[str | None]) -> None:
    """Print how many samples were skipped and where they are listed, on standard error."""
    if errors:
        listed = ", ".join(manifest for manifest in manifests if manifest)
        where = f"; {listed} lists {'it' if errors == 1 else 'them'}" if listed else ""
        echo(f"{counted(errors, 'sample')} could not be used and {_was(errors)} skipped{where}", err=True)


def _was(number: int) -> str:
    return "was" if number == 1 else "were"


def report_text(report: JobReport, *, seconds: float, part: tuple[int, int] | None = None) -> str:
    """Return one sentence about what a job has done."""
    shards, samples = counted(report.shards, "shard"), counted(report.samples, "sample")
    if report.dry_run:
        read = f", {size_text(report.bytes)} to read" if report.bytes else ""
        return f"would write {report.output}: {samples} in {shards}{read}; nothing was written"
    if report.complete and not report.made:
        return f"nothing to do: {report.output} is complete, {samples} in {shards}, {size_text(report.bytes)}"
    if part is not None and not report.made:
        return nothing_to_do(part, report)
    figures = f"{size_text(report.bytes)} in {duration_text(seconds)}"
    if report.complete:
        speed = f" ({speed_text(report.samples, report.bytes, seconds)})" if report.made == report.shards else ""
        return f"wrote {report.output}: {samples} in {shards}, {figures}{speed}"
    of = "" if part is None else f" {part[0]}/{part[1]}"
    state = f"{report.done:,} of {shards} with {samples} are done, {size_text(report.bytes)}"
    return f"wrote part{of} of {report.output} in {duration_text(seconds)}: {state}; the other parts are missing"


def nothing_to_do(part: tuple[int, int], report: JobReport) -> str:
    """Return why a part of a job had nothing to write."""
    index, parts = part
    if index < report.shards:
        missing = counted(report.shards - report.done, "shard")
        return f"nothing to do: part {index}/{parts} of {report.output} is done; {missing} of other parts are missing"
    last = report.shards - 1
    why = f"the job has only {counted(report.shards, 'shard')}, which parts 0/{parts} to {last}/{parts} write"
    if report.shards == 1:
        why = f"the job has only one shard, which part 0/{parts} writes"
    return f"nothing to do: part {index}/{parts} of {report.output} is empty; {why}"
