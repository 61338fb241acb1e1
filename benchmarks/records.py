"""Measures indexing, reading and writing TFRecords next to TensorFlow and DALI.

python benchmarks/records.py [CASE ...] [--small DIR] [--rounds 7] [--json FILE]

All contestants of a case run in turns in this process, round after round; the result is the median of the rounds'
ratios. The files are in a scratch folder, and in the page cache when they are read.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import data
import machine
from record_cases import CASES, Case
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Measure, print and save the results."""
    options = _options()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ["PIXELMILL_CACHE"] = "off"
    images = [Path(name).read_bytes() for name in data.load("small", options.small, ROOT / "build").files]
    options.scratch.mkdir(parents=True, exist_ok=True)
    result: dict[str, Any] = {"machine": machine.describe(), "rounds": options.rounds, "cases": {}}
    console = Console(width=None if sys.stdout.isatty() else 140)
    for name in options.cases or CASES:
        result["cases"][name] = measure(CASES[name](images, options.scratch), options.rounds)
        show(console, name, result["cases"][name])
    result["machine"]["load_after"] = machine.load()
    moment = result["machine"]["date"][:16].replace(":", "")
    target = options.json or ROOT / "benchmarks" / "results" / f"{moment}-records.json"
    target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    console.print(f"results: {target}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all if none")
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--scratch", type=Path, default=ROOT / "build" / "bench-records", help="where to write")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="where to write; a new file in benchmarks/results if omitted")
    options = parser.parse_args()
    unknown = sorted(set(options.cases) - set(CASES))
    if unknown:
        parser.error(f"there is no case {unknown[0]!r}; there are: {', '.join(CASES)}")
    return options


def measure(case: Case, rounds: int) -> dict[str, Any]:
    """Run the contestants in turns, once unmeasured; every round starts with another contestant."""
    names = list(case.contestants)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    cpu: dict[str, list[float]] = {name: [] for name in names}
    for number in range(-1, rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            if case.prepare is not None:
                case.prepare()
            before, start = _cpu(), time.perf_counter()
            case.contestants[name]()
            elapsed = time.perf_counter() - start
            if number >= 0:
                seconds[name].append(elapsed)
                cpu[name].append(_cpu() - before)
    first = names[0]
    return {
        "title": case.title,
        "unit": case.unit,
        "amount": case.amount,
        "target": case.target,
        "contestants": {
            name: {
                "seconds": [round(value, 5) for value in seconds[name]],
                "cpu_seconds": [round(value, 5) for value in cpu[name]],
                "rate": round(case.amount / median(seconds[name]), 3),
                "times_slower": round(median(b / a for a, b in zip(seconds[first], seconds[name], strict=True)), 3),
                "times_cpu": round(median(b / max(a, 1e-9) for a, b in zip(cpu[first], cpu[name], strict=True)), 3),
            }
            for name in names
        },
    }


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def show(console: Console, name: str, result: dict[str, Any]) -> None:
    """Print the table of a case, and whether its target is met."""
    table = Table(title=f"{name}: {result['title']}")
    for heading in ("", f"{result['unit']}/s", "times pixelmill's time", "times pixelmill's CPU time"):
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for contestant, figures in result["contestants"].items():
        row = (f"{figures['rate']:,.6g}", f"{figures['times_slower']:.2f}", f"{figures['times_cpu']:.2f}")
        table.add_row(contestant, *row)
    console.print(table)
    if result["target"] is not None and len(result["contestants"]) > 1:
        reached = list(result["contestants"].values())[1]["times_slower"]
        met = "met" if reached >= result["target"] else "not met"
        console.print(f"  {met}: {reached:.2f} times as fast (at least {result['target']})")


if __name__ == "__main__":
    main()
