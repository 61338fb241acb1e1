"""A report as an HTML page that needs nothing else: no script, no font, no other file."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pixelmill.amounts import counted, rate_text, size_text
from pixelmill.benchmark.plots import bar, line_plot, stacked_bar
from pixelmill.benchmark.report_text import about_dataset, about_work, plain

if TYPE_CHECKING:
    from pixelmill.benchmark.bench_report import BenchReport, Speed

_STYLE = """
:root { color-scheme: light dark; --paper: #fcfcfb; --ink: #1d2126; --dim: #5d666f; --line: #d9dde1; --own: #1d6fb8;
  --other: #9aa5b1; --c0: #7a8793; --c1: #1d6fb8; --c2: #2a9d8f; --c3: #d08c1d; --c4: #b0568a; }
@media (prefers-color-scheme: dark) { :root { --paper: #16191c; --ink: #e8eaec; --dim: #9ba5ae; --line: #343a40;
  --own: #5aa9e6; --other: #66717c; --c0: #8b98a5; --c1: #5aa9e6; --c2: #4fc3b4; --c3: #e5ac4d; --c4: #d585b3; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 3rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin: 2.2rem 0 .6rem; }
p { margin: .4rem 0; overflow-wrap: anywhere; } .dim { color: var(--dim); }
.verdict { font-size: 1.15rem; margin: 1rem 0; padding-left: .8rem; border-left: 4px solid var(--own); }
.row { margin: .7rem 0; } .row p { display: flex; justify-content: space-between; gap: 1rem; margin: 0; }
.row p :last-child { text-align: right; white-space: nowrap; }
svg { display: block; width: 100%; } svg.bar { height: .8rem; margin: .15rem 0; } svg.stack { height: 1.6rem; }
svg.plot { max-width: 34rem; height: auto; } svg text { fill: var(--dim); font-size: 12px; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
td { white-space: nowrap; } td:first-child { white-space: normal; }
@media (max-width: 30rem) { table { font-size: .85rem; } }
td, th { padding: .3rem 0 .3rem .6rem; border-bottom: 1px solid var(--line); text-align: right; font-weight: normal; }
th { color: var(--dim); } td:first-child, th:first-child { text-align: left; padding-left: 0; }
i.key { display: inline-block; width: .8rem; height: .8rem; margin-right: .45rem; border-radius: 2px; }
code { font-family: ui-monospace, monospace; font-size: .9em; }
"""
_HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
"""


def page(report: BenchReport) -> str:
    """Write the page."""
    title = f"pixelmill bench: {report.dataset.name}"
    parts = [
        _HEAD.format(title=_text(title), style=_STYLE),
        f"<h1>{_text(report.dataset.name)}</h1>",
        _dim(about_dataset(report)),
        _dim(about_work(report)),
        "" if report.complete else "<p><strong>Interrupted: this is what was measured until then.</strong></p>",
        f'<p class="verdict">{_text(report.verdict)}</p>' if report.verdict else "",
        *_contestants(report),
        *_stages(report),
        *_scaling(report),
        *_storage(report),
        *_absent(report),
        *_bad(report),
        *_machine(report),
        "</body>\n</html>\n",
    ]
    return "\n".join(part for part in parts if part)


def _text(value: object) -> str:
    return html.escape(plain(str(value)))


def _dim(text: str) -> str:
    return f'<p class="dim">{_text(text)}</p>'


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table; headings and cells are HTML already."""
    head = "".join(f"<th>{heading}</th>" for heading in headings)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="scroll"><table><tr>{head}</tr>\n{body}</table></div>'


def _contestants(report: BenchReport) -> list[str]:
    if not report.contestants:
        return []
    most = max(speed.images_per_second for speed in report.contestants)
    rows = [_row(speed, most) for speed in report.contestants]
    details = _table(
        ("", "spread", "CPU ms/image", "peak memory", "first batch"),
        [
            (
                _text(speed.title),
                f"{speed.spread:.0%}",
                f"{speed.cpu_milliseconds:.2f}",
                size_text(speed.peak_memory),
                f"{speed.first_batch_seconds:.2f} s",
            )
            for speed in report.contestants
        ],
    )
    work, threads = report.work, counted(report.work.threads, "thread")
    rounds = "One round" if work.rounds == 1 else f"Medians of {work.rounds} rounds"
    how = f"{rounds} of {work.seconds:g} s, taken in turns, {threads} each."
    return ["<h2>Images per second</h2>", *rows, _dim(how), details]


def _row(speed: Speed, most: float) -> str:
    label = f"{speed.title} {speed.version}" + (f" ({speed.variant})" if speed.variant else "")
    value = rate_text(speed.images_per_second)
    if speed.ratio is not None:
        value += f" (pixelmill {speed.ratio:.2f}\u00d7)"
    color = "own" if speed.name == "pixelmill" else "other"
    return (
        f'<div class="row"><p><span>{_text(label)}</span><span>{_text(value)}</span></p>'
        f"{bar(speed.images_per_second / most, color)}</div>"
    )


def _stages(report: BenchReport) -> list[str]:
    if not report.stages:
        return []
    rows = [
        (
            f'<i class="key" style="background:var(--c{place})"></i>{_text(stage.name)} '
            f'<span class="dim">{_text(stage.about)}</span>',
            f"{stage.milliseconds:.3f}",
            f"{stage.share:.1%}",
        )
        for place, stage in enumerate(report.stages)
    ]
    total = sum(stage.milliseconds for stage in report.stages)
    return [
        "<h2>Stage by stage</h2>",
        stacked_bar([stage.share for stage in report.stages]),
        _table(("", "ms of a processor", "share"), [*rows, ("together", f"{total:.3f}", "100%")]),
    ]


def _scaling(report: BenchReport) -> list[str]:
    if len(report.scaling) < 2:
        return []
    points = [(float(point.threads), point.images_per_second) for point in report.scaling]
    return [
        "<h2>Threads</h2>",
        line_plot(points, across="threads", up="images/s"),
        _dim("Dashed: as many times as fast as one thread as there are threads."),
    ]


def _storage(report: BenchReport) -> list[str]:
    if not report.storage:
        return []
    names = {"cold": "from the device (cache dropped)", "warm": "from memory (page cache)"}
    rows = [
        (
            _text(names[storage.cache]),
            f"{storage.samples_per_second:,.0f}",
            f"{storage.bytes_per_second / 1e6:,.0f}",
            f"{storage.samples:,}",
        )
        for storage in report.storage
    ]
    return ["<h2>Reading alone</h2>", _table(("", "samples/s", "MB/s", "samples read"), rows)]


def _absent(report: BenchReport) -> list[str]:
    if not report.absent:
        return []
    rows = [
        f"<p>{_text(absent.title)}: {_text(absent.reason)}"
        + (f". <code>{_text(absent.install)}</code></p>" if absent.install else "</p>")
        for absent in report.absent
    ]
    return ["<h2>Not measured</h2>", *rows]


def _bad(report: BenchReport) -> list[str]:
    found = report.dataset
    if not found.bad:
        return []
    rows = [f"<p><code>{_text(line)}</code></p>" for line in found.bad_samples]
    more = found.bad - len(rows)
    return ["<h2>Bad samples</h2>", *rows, _dim(f"and {more:,} more") if more > 0 else ""]


def _machine(report: BenchReport) -> list[str]:
    machine = report.machine
    text = (
        f"{machine['processor']}, {counted(machine['cores'], 'processor')}, {machine['memory_gigabytes']} GB, "
        f"{machine['system']}, Python {machine['versions']['python']}; {machine['date']}, "
        f"load {machine['load_before']} before."
    )
    return ["<h2>Machine</h2>", _dim(text), *(_dim(f"{note[0].upper()}{note[1:]}.") for note in report.notes)]
