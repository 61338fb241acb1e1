"""Measures single operators beside DALI and OpenCV, each with one thread: milliseconds of processor time a picture.

python benchmarks/operators.py [NAME ...] [--seconds 1] [--json FILE]

Processor time, not time by the clock, and the best of many runs: so other work on the machine hardly counts.
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
import nvidia.dali.types
from operator_cases import CASES, SIDE, Case, picture
from rich.console import Console
from rich.table import Table

import pixelmill

BATCH = 4
LEAST_RUNS, MOST_RUNS = 4, 60


def main() -> None:
    """Measure, print, and write the results."""
    options = _options()
    cv2.setNumThreads(1)
    chosen = [case for case in CASES if not options.names or any(name in case.name for name in options.names)]
    rows = [measure(case, kind, options.seconds) for case in chosen for kind in case.kinds]
    Console(width=None if sys.stdout.isatty() else 120).print(table(rows))
    if options.json:
        options.json.write_text(json.dumps({"machine": machine.facts(), "operators": rows}, indent=1) + "\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names; all operators if left out")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    parser.add_argument("--json", type=Path, help="where to write the results")
    return parser.parse_args()


def measure(case: Case, kind: str, seconds: float) -> dict[str, Any]:
    """Give the times of one operator on one kind of picture, in milliseconds; NaN where a peer has no such operator."""
    source = picture(kind)
    times = {"name": case.name, "kind": kind, "pixelmill": best(pipeline(pixelmill, case, source), BATCH, seconds)}
    try:
        times["dali"] = best(pipeline(nvidia.dali, case, source), BATCH, seconds)
    except RuntimeError:
        times["dali"] = math.nan
    opencv = case.opencv
    times["opencv"] = math.nan if opencv is None else best(lambda: opencv(source), 1, seconds)
    return times


def pipeline(module: Any, case: Case, source: Any) -> Callable[[], Any]:
    """Build a pipeline of one operator on a constant picture."""
    pipe = module.Pipeline(batch_size=BATCH, num_threads=1, device_id=None, prefetch_queue_depth=1)
    with pipe:
        pipe.set_outputs(case.graph(module, module.types.Constant(source, layout="HWC")))
    pipe.build()
    pipe.run()
    run: Callable[[], Any] = pipe.run
    return run


def best(work: Callable[[], Any], pictures: int, seconds: float) -> float:
    """Give the shortest time for one picture."""
    shortest, end, runs = math.inf, time.perf_counter() + seconds, 0
    while runs < LEAST_RUNS or (runs < MOST_RUNS and time.perf_counter() < end):
        begin = time.process_time()
        work()
        shortest = min(shortest, (time.process_time() - begin) / pictures)
        runs += 1
    return shortest * 1e3


def table(rows: list[dict[str, Any]]) -> Table:
    """Lay the results out."""
    shown = Table(title=f"one thread, {SIDE}x{SIDE} pixels, ms of processor time a picture")
    for heading in ("operator", "type", "pixelmill", "DALI", "OpenCV", "x DALI", "x OpenCV"):
        shown.add_column(heading, justify="left" if heading in ("operator", "type") else "right")
    kinds = {"u": "uint8 x3", "f": "float32 x3", "g": "uint8 x1"}
    for row in rows:
        own, peers = row["pixelmill"], (row["dali"], row["opencv"])
        figures = [f"{value:.3f}" if value == value else "-" for value in (own, *peers)]
        ratios = [f"{value / own:.1f}" if value == value else "-" for value in peers]
        shown.add_row(row["name"], kinds[row["kind"]], *figures, *ratios)
    return shown


if __name__ == "__main__":
    main()
