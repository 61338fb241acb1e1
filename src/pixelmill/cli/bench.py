"""``pixelmill bench``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pixelmill import benchmark
from pixelmill.amounts import counted, rate_text, size_text
from pixelmill.benchmark.report_text import about_dataset, about_work, plain
from pixelmill.cli.exit_codes import INTERRUPTED, SKIPPED
from pixelmill.cli.options import OptionValue, with_options
from pixelmill.cli.places import Places, with_places
from pixelmill.cli.terminal import echo, echo_json, plain_console
from pixelmill.options.bench import BenchOptions

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from pixelmill.benchmark import BenchReport

_BAR = 24  # characters of the longest bar


def _page_name(context: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Return the name of the page. Refuse names that are not those of a page, before anything is measured."""
    if value is None:
        return None
    path = Path(value).expanduser()
    if path.suffix.lower() not in (".html", ".htm"):
        better = path.with_suffix(".html")
        raise click.BadParameter(f"the report is an HTML page, not {path.suffix or 'a file without ending'}: {better}")
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {path.absolute().parent}" if not path.is_dir() else "is a folder")
    return str(path)


@click.command(short_help="Measure how fast a dataset loads, next to other installed libraries.")
@with_places(Places("source", several=True, optional=True))
@with_options(BenchOptions, without=("source",))
@click.option(
    "-o", "--output", metavar="FILE", callback=_page_name, help="Write the report as an HTML page, too: FILE.html."
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON and nothing else.")
def bench(output: str | None, as_json: bool, **options: OptionValue) -> None:
    """Measure how fast the dataset SRC is read, decoded and augmented on this machine.

    SRC is any dataset: a folder, a list, TFRecord, RecordIO, WebDataset or npy files. Without SRC, photo-like
    images are created. The report shows how fast its bytes are read, what each stage costs, how the speed grows with
    threads, and how fast DALI, tf.data and torch do the same work if they are installed. Each contestant runs in its
    own process, in turns with the others. Nothing is sent anywhere.

    Bad samples are skipped, and the exit code is then 3. After Ctrl-C, the results so far are shown.

    \b
    Examples:
      pixelmill bench
      pixelmill bench photos/ -o bench.html
      pixelmill bench 'train-*.tfrecord' --workload val --threads 8
      pixelmill bench data/ --peers none --seconds 2 --json
      pip install 'pixelmill[bench]'       # DALI, tf.data and torch to compare with
    """
    report: BenchReport | None
    try:
        with _bar(quiet=as_json) as show:
            report = benchmark.bench(on_progress=show, **options)
    except benchmark.BenchInterrupted as interrupt:
        report = interrupt.report
    if report is None:
        raise KeyboardInterrupt
    _output(report, output, as_json=as_json)
    context = click.get_current_context()
    if not report.complete:
        echo("interrupted: these are the results so far", err=True)
        context.exit(INTERRUPTED)
    if report.dataset.bad:
        context.exit(SKIPPED)


def _output(report: BenchReport, output: str | None, *, as_json: bool) -> None:
    if output is not None:
        Path(output).write_text(report.html(), "utf-8")
    if as_json:
        echo_json(report.as_dict())
        return
    show(report, plain_console(width=None if sys.stdout.isatty() else 120))
    if output is not None:
        echo("")
        echo(f"wrote {output}")


@contextmanager
def _bar(*, quiet: bool) -> Iterator[Callable[[str, float], None]]:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    bars = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=plain_console(stderr=True),
        transient=True,
        disable=quiet or not sys.stderr.isatty(),
    )
    with nullcontext() if bars.disable else bars:  # rich 13.0 prints an empty line for a disabled bar
        task = bars.add_task("opening", total=1.0)
        yield lambda what, fraction: bars.update(task, description=f"{what:<36}", completed=fraction)


def show(report: BenchReport, console: Console) -> None:
    """Print a report."""
    console.print(plain(report.dataset.name), style="bold", soft_wrap=True)
    console.print(about_dataset(report))
    console.print(about_work(report))
    _show_storage(report, console)
    _show_stages(report, console)
    _show_speeds(report, console)
    for absent in report.absent:
        install = f": {absent.install}" if absent.install else ""
        console.print(f"{absent.title} was not measured: {plain(absent.reason)}{install}", style="dim", soft_wrap=True)
    for note in report.notes:
        console.print(f"{note[0].upper()}{note[1:]}.", style="dim")
    for line in report.dataset.bad_samples:
        console.print(f"bad: {plain(line)}", style="red", soft_wrap=True)
    more = report.dataset.bad - len(report.dataset.bad_samples)
    if more > 0:
        console.print(f"and {more:,} more bad samples", style="red")
    if report.verdict:
        console.print(f"\n{report.verdict}", style="bold")


def _table(title: str, *headings: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="green", box=None, padding=(0, 2, 0, 0))
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="right" if place else "left", no_wrap=bool(place), header_style="dim")
    return table


def _show_storage(report: BenchReport, console: Console) -> None:
    if not report.storage:
        return
    table = _table("\nreading alone", "", "samples/s", "MB/s")
    names = {"cold": "from the device, cache dropped", "warm": "from memory, the page cache"}
    for found in report.storage:
        mega = f"{found.bytes_per_second / 1e6:,.0f}"
        table.add_row(names[found.cache], f"{found.samples_per_second:,.0f}", mega)
    console.print(table)


def _show_stages(report: BenchReport, console: Console) -> None:
    if not report.stages:
        return
    table = _table("\nstage by stage, one thread", "", "ms of a processor", "share", "")
    table.columns[-1].justify = "left"
    for stage in report.stages:
        blocks = "█" * round(_BAR * stage.share)
        table.add_row(f"{stage.name}: {stage.about}", f"{stage.milliseconds:.3f}", f"{stage.share:.1%}", blocks)
    console.print(table)


def _show_speeds(report: BenchReport, console: Console) -> None:
    if len(report.scaling) > 1:
        points = ", ".join(
            f"{counted(point.threads, 'thread')} {rate_text(point.images_per_second)}" for point in report.scaling
        )
        console.print("\nimages/s of pixelmill by threads", style="green")
        console.print(points)
    if not report.contestants:
        return
    title = f"\nimages/s with {counted(report.work.threads, 'thread')}"
    table = _table(title, "", "median", "spread", "pixelmill is", "CPU ms/image", "peak memory", "first batch")
    for speed in report.contestants:
        variant = f" ({speed.variant})" if speed.variant else ""
        table.add_row(
            f"{speed.title} {speed.version}{variant}",
            rate_text(speed.images_per_second),
            f"{speed.spread:.0%}",
            "" if speed.ratio is None else f"{speed.ratio:.2f} times",
            f"{speed.cpu_milliseconds:.2f}",
            size_text(speed.peak_memory),
            f"{speed.first_batch_seconds:.2f} s",
        )
    console.print(table)
