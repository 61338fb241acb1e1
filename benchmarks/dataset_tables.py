"""The tables of docs/performance.md about whole datasets: creating, wrapping, reading, ingesting and augmenting."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

Run = dict[str, Any]
Rows = list[list[str]]

# Targets: how many times as fast as each contestant by wall-clock time; of the bare codecs, how many times as slow.
WANTED = {
    ("augment.py", "DALI + Pillow + TensorFlow"): 2.5,
    ("ingest.py", "tensorflow, antialias"): 3.0,
    ("ingest.py", "tensorflow"): 1.7,
}
WANTED_OF_BARE = 1.25


def latest(runs: Iterable[Run]) -> list[Run]:
    """Return the newest run of each program, in the order of the tables."""
    newest: dict[str, Run] = {}
    for run in sorted(runs, key=lambda run: str(run["machine"]["date"])):
        program = run["machine"].get("program")
        if program in TABLES:
            newest[program] = {**newest.get(program, {}), **run} if program == "create.py" else run
    return [newest[program] for program in TABLES if program in newest]


def sections(runs: Iterable[Run], table: Callable[..., str]) -> str:
    """Write a table for each program."""
    written = []
    for run in latest(runs):
        title, headings, rows_of = TABLES[run["machine"]["program"]]
        written += [f"### {title}", f"Load {run['machine']['load_before']}.", table(headings, rows_of(run))]
    return "\n\n".join(written)


def _create(run: Run) -> Rows:
    rows = []
    for kind in (kind for kind in ("jpg", "png", "bmp") if kind in run):
        rates, met = run[kind]["images_per_second"], run[kind]["met"]
        rows.append(
            [f"noise of 1920x1080, {kind}", *_against(rates["pixelmill"], rates["numpy_pillow"], run[kind], met)]
        )
        if "bare_encoder" in rates:
            share = f"{run[kind]['share_of_bare_encoder']:.2f}", "0.75", _word(run[kind]["met_bare_encoder"])
            rows.append(
                [
                    f"the same next to bare encoding, {kind}",
                    f"{rates['pixelmill']:,.0f}",
                    f"{rates['bare_encoder']:,.0f}",
                    *share,
                ]
            )
    for name, times in run.get("records", {}).get("times_as_fast", {}).items():
        rates, wanted = run["records"]["images_per_second"], run["records"]["wanted"]
        figures = f"{rates[name]:,.0f}", f"{rates['tensorflow']:,.0f}", f"{times:.2f}", f"{wanted:g}"
        rows.append([f"1000 JPEG files into {name}, next to TensorFlow's writer", *figures, _word(times >= wanted)])
    return rows


def _against(ours: float, theirs: float, part: Run, met: bool) -> list[str]:
    return [f"{ours:,.0f}", f"{theirs:,.1f}", f"{part['times_as_fast']:.2f}", f"{part['wanted']:g}", _word(met)]


def _records(run: Run) -> Rows:
    rows = []
    for case in run["cases"].values():
        names = list(case["contestants"])
        ours = case["contestants"][names[0]]
        for number, name in enumerate(names[1:]):
            theirs = case["contestants"][name]
            wanted = case["target"] if number == 0 else None
            limit = [] if wanted is None else [f"{wanted:g}", _word(theirs["times_slower"] >= wanted)]
            rates = _rate(ours["rate"]), _rate(theirs["rate"])
            who = names[0].removeprefix("pixelmill").strip()
            title = f"{case['title']}, {case['unit']}/s, {who + ' ' if who else ''}next to {name}"
            times = f"{theirs['times_slower']:.2f}", f"{theirs['times_cpu']:.2f}"
            rows.append([title, *rates, *times, *(limit or ["", ""])])
    return rows


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _job(run: Run) -> Rows:
    results, program = run["results"], run["machine"]["program"]
    ours = results["pixelmill"]
    rows = []
    for name, figures in results.items():
        times = ours["images_per_second"] / figures["images_per_second"]
        wanted = WANTED.get((program, name))
        limit = ["", ""] if wanted is None else [f"{wanted:g}", _word(times >= wanted)]
        if name.startswith("bare"):
            limit = [f"{1 / WANTED_OF_BARE:g}", _word(times >= 1 / WANTED_OF_BARE)]
        rates = f"{figures['images_per_second']:,.0f}", f"{figures['processor_ms_per_image']:.2f}"
        rows.append([name, *rates, f"{times:.2f}", *limit])
    return rows


def _scaling(run: Run) -> Rows:
    rows = []
    for job, rates in run["images_per_second"].items():
        ones = rates["1"]
        rows += [[f"{job}, workers: {count}", f"{rate:,.0f}", f"{rate / ones:.2f}"] for count, rate in rates.items()]
    return rows


def _word(met: bool) -> str:
    return "met" if met else "not met"


_SIDE = ("images/s", "pixelmill", "the other", "times as fast", "wanted", "")
_JOB = ("", "images/s", "CPU ms/image", "pixelmill's speed by this", "wanted", "")

# By program: title, headings, and the function that turns its results into rows.
TABLES: dict[str, tuple[str, Sequence[str], Callable[[Run], Rows]]] = {
    "create.py": ("Creating images, and wrapping files into records", _SIDE, _create),
    "records.py": ("TFRecords", ("", "pixelmill", "the other", "times as fast", "by CPU time", "wanted", ""), _records),
    "ingest.py": ("Ingesting, 300x300 raw pixels, 2 workers", _JOB, _job),
    "augment.py": ("Augmenting TFRecords: resize 512, mirror, rotate, crop 448, JPEG", _JOB, _job),
    "scaling.py": ("From one worker to more", ("", "images/s", "times one worker"), _scaling),
}
