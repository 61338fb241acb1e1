"""The figures of a report as text, for the terminal and for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.errors import printable

if TYPE_CHECKING:
    from pixelmill.benchmark.bench_report import BenchReport


def plain(text: str) -> str:
    """Return text that may come from a file name with unprintable characters escaped."""
    return printable(text, keep="\n")


def rate(images_per_second: float) -> str:
    """Format a speed."""
    return f"{images_per_second:,.0f}" if images_per_second >= 100 else f"{images_per_second:,.1f}"


def times(count: int, what: str) -> str:
    """Format a count with its noun."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def bytes_text(size: float) -> str:
    """Format a number of bytes."""
    if size >= 1e9:
        return f"{size / 1e9:,.2f} GB"
    return f"{size / 1e6:,.0f} MB" if size >= 1e7 else f"{size / 1e3:,.1f} kB"


def about_dataset(report: BenchReport) -> str:
    """Describe the dataset."""
    found = report.dataset
    several = len(found.kinds) > 1
    kinds = ", ".join(f"{count:,} {kind}" if several else kind for kind, count in found.kinds.items())
    used = "all are used" if found.measured == found.samples else f"{found.measured:,} of them are used"
    bad = f", but for {times(found.bad, 'bad sample')}" if found.bad else ""
    size = f"{bytes_text(found.mean_bytes)} each on average"
    return f"{times(found.samples, 'sample')} of the format {found.format} ({kinds}), {size}; {used}{bad}."


def about_work(report: BenchReport) -> str:
    """Describe the work."""
    work = report.work
    mode = "" if work.mode == "cpu" else f", mode {work.mode}"
    return f"{work.workload}: {work.title}; batches of {work.batch_size}, {times(work.threads, 'thread')}{mode}."
