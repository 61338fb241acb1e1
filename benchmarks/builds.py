"""Compares a command line of two builds of pixelmill: processor time, in turns.

    python benchmarks/builds.py --before OTHER/.venv/bin/python [--rounds 5] [--json FILE] COMMAND...

`{out}` in the command stands for a folder that is empty each time. `--before-command` replaces the command for the
other build, which may know an option by another name. Example, the job of benchmarks/augment.py:

    python benchmarks/builds.py --before OLD/.venv/bin/python \
        'augment records/*.tfrecord --recipe gentle --output {out} --workers 1'
"""

from __future__ import annotations

import argparse
import json
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import machine


def main() -> None:
    """Measure, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="what follows `pixelmill`, as one argument")
    parser.add_argument("--before", required=True, help="the Python of the other build")
    parser.add_argument("--before-command", help="the command for the other build, if it is another one")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    builds = {
        "before": (options.before, options.before_command or options.command),
        "this build": (sys.executable, options.command),
    }
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in builds}
    for _ in range(options.rounds):
        for name, (python, command) in builds.items():
            runs[name].append(measured(python, command))
    result = {
        "machine": machine.describe(),
        "command": options.command,
        "builds": {k: summary(v) for k, v in runs.items()},
    }
    result["speed_vs_before"] = statistics.median(
        old["cpu_seconds"] / new["cpu_seconds"] for old, new in zip(runs["before"], runs["this build"], strict=True)
    )
    print(json.dumps({key: value for key, value in result.items() if key != "machine"}, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


def measured(python: str, command: str) -> dict[str, float]:
    """Run a command once; return its time, and the processor time of it and its children."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("{out}", str(Path(folder, "out"))) for word in shlex.split(command)]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run([python, "-m", "pixelmill", *words], check=True, capture_output=True)
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": wall, "cpu_seconds": spent}


def summary(found: list[dict[str, float]]) -> dict[str, Any]:
    """Return the median and the spread of the rounds: the largest difference, relative to the median."""
    spent = [run["cpu_seconds"] for run in found]
    middle = statistics.median(spent)
    return {
        "cpu_seconds": round(middle, 3),
        "seconds": round(statistics.median(run["seconds"] for run in found), 3),
        "spread": round((max(spent) - min(spent)) / middle, 3),
    }


if __name__ == "__main__":
    main()
