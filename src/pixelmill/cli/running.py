"""Progress bars, reports and exit codes of the commands that run bulk jobs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

import click

from pixelmill.cli.options import OptionValue
from pixelmill.cli.terminal import echo, echo_json, plain_console
from pixelmill.errors import printable
from pixelmill.options.running import Progress

if TYPE_CHECKING:
    from pixelmill.jobs import JobReport

SKIPPED = 3
MISMATCH = 4
OUTPUT_EXISTS = 5
INTERRUPTED = 130  # what shells report for a program ended by Ctrl-C: 128 + SIGINT


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
        disable=quiet or not sys.stderr.isatty(),
    )
    with bars:
        task = bars.add_task(what, total=total, speed="")

        def show(progress: Progress, total: int | None = None) -> None:
            seconds = max(bars.tasks[0].elapsed or 0.0, 1e-3)
            speed = f"{progress.samples / seconds:,.0f} images/s"
            if progress.bytes:
                speed += f"  {progress.bytes / seconds / 1e6:,.1f} MB/s"
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


def show_report(report: JobReport, *, seconds: float, as_json: bool) -> None:
    """Print the result of a job. Exit with `SKIPPED` if samples were skipped."""
    if as_json:
        echo_json({**asdict(report), "seconds": round(seconds, 3)})
    else:
        what = "wrote" if report.complete else "wrote part of"
        if report.complete and not report.made:
            what = "nothing to do, complete:"
        echo(f"{what} {report.output}: {report.samples} samples in {report.shards} shards, ", nl=False)
        echo(f"{report.bytes / 1e6:,.1f} MB in {seconds:.1f} s")
        if report.errors:
            where = f"; {report.manifest} lists them" if report.manifest else ""
            echo(f"{report.errors} samples could not be used and were skipped{where}", err=True)
        show_notes(report.notes)
    if report.errors:
        click.get_current_context().exit(SKIPPED)
