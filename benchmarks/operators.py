"""Measures single operators next to DALI and OpenCV, each with one thread: processor microseconds per sample.

python benchmarks/operators.py [NAME ...] [--seconds 1] [--below 1.1] [--json FILE]

Uses processor time of the best block of runs, not wall-clock time, so that other work on the machine matters little.
"""

from __future__ import annotations

import argparse
import json
import math
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

Row = dict[str, Any]


def main() -> None:
    """Measure, print and save the results."""
    options = _options()
    facts = machine.describe()
    cv2.setNumThreads(1)
    how = {"seconds": options.seconds, "turns": TURNS}
    rows: list[Row] = []
    for group, cases in GROUPS.items():
        chosen = [case for case in cases if not options.names or any(name in case.name for name in options.names)]
        rows += [measure(group, case, kind, options.seconds) for case in chosen for kind in case.kinds]
        if options.json:  # after each group, so that little is lost if one fails
            result = {"machine": facts, "options": how, "operators": rows}
            options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    shown = [
        row for row in rows if options.below is None or (row["dali"] or math.inf) / row["pixelmill"] < options.below
    ]
    Console(width=None if sys.stdout.isatty() else 130).print(table(shown))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names; all operators if omitted")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each operator and library")
    parser.add_argument("--below", type=float, help="show only what is not as many times as fast as DALI")
    parser.add_argument("--json", type=Path, help="where to write the results")
    return parser.parse_args()


def measure(group: str, case: Case, kind: str, seconds: float) -> Row:
    """Return the times of one operator on one kind of data, in microseconds; None if a peer has no such operator."""
    source = data(kind)
    contestants: dict[str, tuple[Callable[[], Any], int]] = {
        "pixelmill": (pipeline(pixelmill, case, kind, source), case.batch)
    }
    try:
        contestants["dali"] = (pipeline(nvidia.dali, case, kind, source), case.batch)
    except RuntimeError as error:
        if "median_blur" not in case.name:  # DALI has it only on the GPU
            raise RuntimeError(f"{case.name}: DALI refuses it: {error}") from error
    opencv = case.opencv
    if opencv is not None:
        contestants["opencv"] = (lambda: opencv(source), 1)
    times = dict.fromkeys(contestants, math.inf)
    for _ in range(TURNS):
        for name, (work, samples) in contestants.items():
            times[name] = min(times[name], best(work, samples, seconds / TURNS))
    found = {name: round(times[name], 3) if name in times else None for name in ("pixelmill", "dali", "opencv")}
    return {"group": group, "name": case.name, "kind": KINDS[kind], **found}


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


def best(work: Callable[[], Any], samples: int, seconds: float) -> float:
    """Return the time per sample in the best block of runs, in microseconds.

    Blocks are needed because a library may work ahead: the cost of one run may fall into the run before it.
    """
    shortest, end, blocks = math.inf, time.perf_counter() + seconds, 0
    work()
    while blocks < LEAST_BLOCKS or time.perf_counter() < end:
        begin, limit, runs = time.process_time(), time.perf_counter() + BLOCK_SECONDS, 0
        while runs < LEAST_RUNS or (runs < MOST_RUNS and time.perf_counter() < limit):
            work()
            runs += 1
        shortest = min(shortest, (time.process_time() - begin) / (runs * samples))
        blocks += 1
    return shortest * 1e6


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
