"""The figures of a report as text, for the terminal and for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.amounts import counted, size_text
from pixelmill.errors import printable

if TYPE_CHECKING:
    from pixelmill.benchmark.bench_report import BenchReport


def plain(text: str) -> str:
    """Return text that may come from a file name with unprintable characters escaped."""
    return printable(text, keep="\n")


def about_dataset(report: BenchReport) -> str:
    """Describe the dataset."""
    found = report.dataset
    several = len(found.kinds) > 1
    kinds = ", ".join(f"{count:,} {kind}" if several else kind for kind, count in found.kinds.items())
    used = "all are used" if found.measured == found.samples else f"{found.measured:,} of them are used"
    bad = f", but for {counted(found.bad, 'bad sample')}" if found.bad else ""
    size = f"{size_text(found.mean_bytes)} each on average"
    return f"{counted(found.samples, 'sample')} of the format {found.format} ({kinds}), {size}; {used}{bad}."


def about_work(report: BenchReport) -> str:
    """Describe the work."""
    work = report.work
    mode = "" if work.mode == "cpu" else f", mode {work.mode}"
    return f"{work.workload}: {work.title}; batches of {work.batch_size}, {counted(work.threads, 'thread')}{mode}."
