"""Measures single operators next to DALI and OpenCV, each with one thread: processor microseconds per sample.

python benchmarks/operators.py [NAME ...] [--group GROUP ...] [--peers dali opencv] [--seconds 1] [--json FILE]

Uses processor time of the best block of runs, not wall-clock time, so that other work on the machine matters little.
All libraries work under the same conditions: they read the same arrays, write batches of as many samples, and the
batch before stays in memory while the next one is computed. The C library is told to keep memory that is freed, so that
neither side pays for page faults, which are counted and written to the JSON. OpenCV's functions are called from Python
one sample after the other; ours and DALI's run as pipelines, and what a run costs beside its kernels is part of their
figures. With images of one pixel that is 2.5 microseconds a sample of ours, where a call of OpenCV's takes 0.2 to 0.6:
much in rows of 20 microseconds or less.

OpenCV is measured where it does the same work. `math.atan2` has no figure of OpenCV's: `cv2.phase` is off by up
to 1.7e-4 radians, ours by the last bits of a float. `cast to uint8` is beside `cv2.convertScaleAbs`, which takes
absolute values where ours saturates.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import machine
import nvidia.dali
import nvidia.dali.fn
import nvidia.dali.math
import nvidia.dali.types
import tables
from cases import GROUPS
from cases.case import KINDS, LAYOUTS, Case, data
from rich.console import Console
from rich.table import Table

import pixelmill
from pixelmill.graph.calls import as_node

TURNS = 3  # turns of pixelmill and DALI
LEAST_RUNS, MOST_RUNS = 5, 200  # runs in a block
BLOCK_SECONDS, LEAST_BLOCKS = 0.03, 2
# glibc gives large blocks back to the system when they are freed, so that every batch of OpenCV's would fault all its
# pages in again. A program that reuses its outputs does not.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}

Row = dict[str, Any]


def main() -> None:
    """Measure, print and save the results."""
    options = _options()
    if not KEEP_MEMORY.items() <= os.environ.items():  # glibc reads them when a process starts
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEP_MEMORY})
    facts = machine.describe()
    cv2.setNumThreads(1)
    how = {"seconds": options.seconds, "turns": TURNS}
    rows: list[Row] = []
    for group, cases in GROUPS.items():
        for case in cases if group in (options.group or GROUPS) else ():
            if any(name in case.name for name in options.names or [""]):
                rows += [
                    measure(group, case, kind, options)
                    for kind in case.kinds
                    if case.opencv or options.peers != ["opencv"]
                ]
        if options.json:  # after each group, so that little is lost if one fails
            save(options.json, facts, how, rows)
    shown = [
        row for row in rows if options.below is None or (row["dali"] or math.inf) / row["pixelmill"] < options.below
    ]
    Console(width=None if sys.stdout.isatty() else 130).print(table(shown))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names; all operators if omitted")
    parser.add_argument("--group", action="append", choices=list(GROUPS), help="all if omitted; may be repeated")
    parser.add_argument("--peers", nargs="+", default=["dali", "opencv"], choices=["dali", "opencv"])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each operator and library")
    parser.add_argument("--below", type=float, help="show only what is not as many times as fast as DALI")
    parser.add_argument("--json", type=Path, help="where to write the results; rows of other groups stay there")
    return parser.parse_args()


def save(path: Path, facts: dict[str, Any], how: dict[str, Any], rows: list[Row]) -> None:
    """Write the rows; those of groups that were not measured stay as they are in the file."""
    before = json.loads(path.read_text("utf-8"))["operators"] if path.exists() else []
    groups = {row["group"] for row in rows}
    merged = [row for group in GROUPS for row in (rows if group in groups else before) if row["group"] == group]
    result = {"machine": facts, "options": how, "operators": merged}
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def measure(group: str, case: Case, kind: str, options: argparse.Namespace) -> Row:
    """Return the times of one operator on one kind of data, in microseconds; None if a peer has no such operator."""
    source = data(kind)
    contestants: dict[str, Callable[[], Any]] = {"pixelmill": pipeline(pixelmill, case, kind, source)}
    if "dali" in options.peers:
        try:
            contestants["dali"] = pipeline(nvidia.dali, case, kind, source)
        except RuntimeError as error:
            on_gpus = "not registered for cpu" in str(error) or "median_blur" in case.name
            if not on_gpus:
                raise RuntimeError(f"{case.name}: DALI refuses it: {error}") from error
    if case.opencv is not None and "opencv" in options.peers:
        contestants["opencv"] = batches(case.opencv, source, case.batch)
    times, faults = dict.fromkeys(contestants, math.inf), dict.fromkeys(contestants, math.inf)
    for _ in range(TURNS):
        for name, work in contestants.items():
            time_, faulted = best(work, case.batch, options.seconds / TURNS)
            times[name], faults[name] = min(times[name], time_), min(faults[name], faulted)
    found = {name: round(times[name], 3) if name in times else None for name in ("pixelmill", "dali", "opencv")}
    counted = {name: round(count, 2) for name, count in faults.items()}
    return {"group": group, "name": case.name, "kind": KINDS[kind], **found, "page_faults": counted}


def batches(function: Callable[[Any], Any], source: Any, samples: int) -> Callable[[], Any]:
    """Return a function that works out a batch while the one before is still in memory, as a pipeline does."""
    batch: list[Any] = []

    def work() -> None:
        nonlocal batch
        batch = [function(source) for _ in range(samples)]

    return work


def pipeline(module: Any, case: Case, kind: str, source: Any) -> Callable[[], Any]:
    """Build a pipeline of one operator on constant data."""
    pipe = module.Pipeline(batch_size=case.batch, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        constant = module.types.Constant(source, layout=LAYOUTS.get(kind, "HWC"))
        pipe.set_outputs(case.graph(module, constant if module is nvidia.dali else as_node(constant)))
    pipe.build()
    pipe.run()
    run: Callable[[], Any] = pipe.run
    return run


def best(work: Callable[[], Any], samples: int, seconds: float) -> tuple[float, float]:
    """Return the microseconds and the page faults per sample in the best block of runs.

    Blocks are needed because a library may work ahead: the cost of one run may fall into the run before it.
    """
    shortest, fewest, end, blocks = math.inf, math.inf, time.perf_counter() + seconds, 0
    work()
    while blocks < LEAST_BLOCKS or time.perf_counter() < end:
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        begin, limit, runs = time.process_time(), time.perf_counter() + BLOCK_SECONDS, 0
        while runs < LEAST_RUNS or (runs < MOST_RUNS and time.perf_counter() < limit):
            work()
            runs += 1
        shortest = min(shortest, (time.process_time() - begin) / (runs * samples))
        fewest = min(fewest, (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults) / (runs * samples))
        blocks += 1
    return shortest * 1e6, fewest


def table(rows: list[Row]) -> Table:
    """Return the results as a table."""
    shown = Table(title="one thread, 512x512 pixels, microseconds of processor time a sample")
    for number, heading in enumerate(tables.OPERATOR_HEADINGS):
        shown.add_column(heading, justify="right" if number > 1 else "left", no_wrap=True)
    for row in rows:
        shown.add_row(*tables.operator_row(row))
    return shown


if __name__ == "__main__":
    main()
