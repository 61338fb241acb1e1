"""What all commands share that run a bulk job: its options, its progress bar, and its exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

if TYPE_CHECKING:
    from pixelmill.jobs import JobReport, Progress

SKIPPED = 3
MISMATCH = 4
OUTPUT_EXISTS = 5
INTERRUPTED = 130  # what shells report for a program ended by Ctrl-C: 128 + SIGINT


class ShowProgress(Protocol):
    """Brings a bar up to date; `total` once it becomes known."""

    def __call__(self, progress: Progress, total: int | None = None) -> None: ...


Command = TypeVar("Command", bound=Callable[..., Any])


class _Part(click.ParamType[tuple[int, int]]):
    name = "I/N"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        index, _, count = str(value).partition("/")
        if not (index.isdecimal() and count.isdecimal() and int(index) < int(count)):
            self.fail(f"{value!r} is not of the form I/N with I from 0 to N-1, such as 0/8", param, ctx)
        return int(index), int(count)


exists_option = click.option(
    "--exists",
    type=click.Choice(["error", "resume", "overwrite"]),
    default="error",
    show_default=True,
    help="Output that is there: refuse it, go on with it, or replace it.",
)
runner_options = (
    click.option(
        "--runner",
        type=click.Choice(["local", "ray"]),
        default="local",
        show_default=True,
        help="Processes of this machine, or Ray tasks.",
    ),
    click.option("--address", help="The Ray cluster.  [default: the running one, or one on this machine]"),
)


def job_options(command: Command) -> Command:
    """Add the options of bulk jobs. The command gets them as keyword arguments and hands them to `job_arguments`."""
    options = (
        click.option("--workers", type=click.IntRange(min=1), help="Processes.  [default: number of processors]"),
        exists_option,
        click.option(
            "--on-error",
            type=click.Choice(["fail", "skip", "quarantine"]),
            default="fail",
            show_default=True,
            help="Bad samples: stop, leave out and list, or leave out and keep their bytes aside.",
        ),
        click.option(
            "--max-errors",
            type=click.IntRange(min=0),
            default=100,
            show_default=True,
            help="Stop when more samples than this are bad.",
        ),
        click.option("--part", type=_Part(), help="Make only part I of N, from 0; run the other parts elsewhere."),
        *runner_options,
    )
    for option in reversed(options):
        command = option(command)
    return command


def job_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options of `job_options` out of a command's, as keyword arguments of `run_job`."""
    part = options.pop("part")
    taken = {name: options.pop(name) for name in ("workers", "exists", "on_error", "max_errors", "runner", "address")}
    if part is not None:
        taken["shard_index"], taken["num_shards"] = part
    return taken


@contextmanager
def progress_bar(what: str, *, total: int | None = None, quiet: bool = False) -> Iterator[ShowProgress]:
    """Show a bar with images/s, MB/s and the time left; gives the function to call with each progress."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    bars = Bars(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
        console=Console(stderr=True, highlight=False),
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
    """Show a bar for samples that are read; gives the function to call with the number done and of all."""
    from pixelmill.jobs import Progress

    with progress_bar(what, total=None, quiet=quiet) as show:

        def advance(done: int, total: int) -> None:
            show(Progress(shards_done=0, shards=1, samples=done, bytes=0, samples_before=0), total)

        yield advance


def show_report(report: JobReport, *, seconds: float, as_json: bool) -> None:
    """Print what a job has done, and end with the exit code that says whether samples were left out."""
    if as_json:
        click.echo(json.dumps({**asdict(report), "seconds": round(seconds, 3)}, indent=2))
    else:
        what = "wrote" if report.complete else "wrote a part of"
        click.echo(f"{what} {report.output}: {report.samples} samples in {report.shards} shards, ", nl=False)
        click.echo(f"{report.bytes / 1e6:,.1f} MB in {seconds:.1f} s")
        if report.errors:
            where = f"; {report.manifest} lists them" if report.manifest else ""
            click.echo(f"{report.errors} samples could not be used and were left out{where}", err=True)
    if report.errors:
        click.get_current_context().exit(SKIPPED)
