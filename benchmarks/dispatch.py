"""What it costs to hand samples to worker threads: batches of a program that draws one number, on 1 to 32 threads.

    python benchmarks/dispatch.py [--before OTHER/.venv/bin/python] [--rounds 5] [--json FILE]

With `--before`, another build takes turns with this one. Processor time for each sample covers everything from the
order of the epoch to the batch; the tail is the slowest of a hundred batches beside the median one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import machine
from rich.console import Console
from rich.table import Table

PROGRAM = """
import json, sys, time
from pixelmill import fn, pipeline_def

threads, batch, count = map(int, sys.argv[1:])

@pipeline_def(batch_size=batch, num_threads=threads, device_id=None, seed=1, prefetch_queue_depth=4)
def numbers():
    return fn.random.uniform(range=[0.0, 1.0])

pipe = numbers()
for _ in range(5):
    pipe.run()
began, spent, times = time.perf_counter(), time.process_time(), []
for _ in range(count):
    at = time.perf_counter()
    pipe.run()
    times.append(time.perf_counter() - at)
wall, spent = time.perf_counter() - began, time.process_time() - spent
times.sort()
print(json.dumps({
    "samples_per_second": batch * count / wall,
    "cpu_ns_per_sample": spent / (batch * count) * 1e9,
    "tail": times[-1 - count // 100] / times[count // 2],
}))
"""
THREADS = (1, 2, 4, 8, 16, 32)
BATCH, BATCHES = 4096, 100


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="the Python of another build, which takes turns with this one")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    pythons = {"this build": sys.executable} | ({"before": options.before} if options.before else {})
    rows = [row(threads, pythons, options.rounds) for threads in THREADS]
    show(rows, list(pythons))
    if options.json:
        result = {"machine": machine.describe(), "batch": BATCH, "rounds": options.rounds, "dispatch": rows}
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def row(threads: int, pythons: dict[str, str], rounds: int) -> dict[str, Any]:
    """Measure one number of threads: the builds take turns, and the median of the rounds counts."""
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in pythons}
    for _ in range(rounds):
        for name, python in pythons.items():
            command = [python, "-c", PROGRAM, str(threads), str(BATCH), str(BATCHES)]
            runs[name].append(json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    medians = {
        name: {key: statistics.median(run[key] for run in found) for key in found[0]} for name, found in runs.items()
    }
    return {"threads": threads, **medians}


def show(rows: list[dict[str, Any]], names: list[str]) -> None:
    """Print the table."""
    table = Table(title=f"dispatch, batches of {BATCH} samples")
    table.add_column("threads", justify="right")
    for name in names:
        for title in ("samples/s", "CPU ns/sample", "tail"):
            table.add_column(f"{name}: {title}", justify="right")
    for found in rows:
        cells = [
            cell
            for name in names
            for cell in (
                f"{found[name]['samples_per_second']:,.0f}",
                f"{found[name]['cpu_ns_per_sample']:.0f}",
                f"{found[name]['tail']:.1f}",
            )
        ]
        table.add_row(str(found["threads"]), *cells)
    Console(width=None if sys.stdout.isatty() else 140).print(table)


if __name__ == "__main__":
    main()
