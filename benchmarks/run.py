"""Measures pixelmill next to DALI, tf.data, torch with Pillow or OpenCV, and bare libjpeg-turbo.

docs/performance.md describes the method.

python benchmarks/run.py [WORKLOAD ...] [--small DIR --camera DIR] [--rounds 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import contest
import data
import machine
import summary
import tables
from extra_peers import PEERS
from rich.console import Console
from rich.table import Table
from workloads import WORKLOADS, Workload

from pixelmill.benchmark.contestants import Record

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Measure, print and save the results."""
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 140)
    build = ROOT / "build"
    plan = contest.Plan(options.threads, options.rounds, options.seconds, options.starts, build)
    result: dict[str, Any] = {
        "machine": machine.describe(),
        "options": {"threads": plan.threads, "rounds": plan.rounds, "seconds": plan.seconds, "starts": plan.starts},
        "workloads": {},
    }
    for name in options.workloads or WORKLOADS:
        workload = WORKLOADS[name]
        files = data.load(workload.file_kind, getattr(options, workload.file_kind), build)
        if workload.container == "tfrecord":
            files = data.packed(files, build)
        records = contest.run(workload, files, options.peers, plan, lambda text: console.print(text, style="dim"))
        result["workloads"][name] = _result(workload, files, records)
        for problem in summary.disagreements(records, random=workload.random):
            console.print(f"not the same work: {problem}", style="bold red")
        show(console, name, result["workloads"][name])
    result["machine"]["load_after"] = machine.load()
    target = options.json or _default_target(result)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    console.print(f"results: {target}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)}; all if none")
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--camera", type=Path, help="folder of JPEG files of some MB; created if omitted")
    parser.add_argument("--arrays", type=Path, help="folder with images/*.npy and masks/*.npy; created if omitted")
    parser.add_argument("--threads", type=int, default=2, help="threads or processes of each contestant, and its cores")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, help="for each contestant in each round; 4, and 8 with camera files")
    parser.add_argument("--starts", type=int, default=3, help="process starts for the time of the first batch")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS, help="contestants to measure")
    parser.add_argument("--json", type=Path, help="where to write; a new file in benchmarks/results if omitted")
    options = parser.parse_args()
    unknown = sorted(set(options.workloads) - set(WORKLOADS))
    if unknown:
        parser.error(f"there is no workload {unknown[0]!r}; there are: {', '.join(WORKLOADS)}")
    return options


def _result(workload: Workload, files: data.Dataset, records: list[Record]) -> dict[str, Any]:
    measured = summary.figures(records)
    return {
        "title": workload.title,
        "batch": workload.batch,
        "data": files.describe(),
        "contestants": summary.contestants(records),
        "figures": measured,
        "targets": summary.targets(workload.name, measured),
    }


def _default_target(result: dict[str, Any]) -> Path:
    sources = {workload["data"]["source"] for workload in result["workloads"].values()}
    moment = result["machine"]["date"][:16].replace(":", "")
    return ROOT / "benchmarks" / "results" / f"{moment}-{'-'.join(sorted(sources))}.json"


def show(console: Console, name: str, result: dict[str, Any]) -> None:
    """Print the table and the targets of a workload."""
    table = Table(title=f"{name}: {tables.about(result)}")
    for heading in tables.HEADINGS:
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    for contestant in result["contestants"]:
        table.add_row(*tables.row(contestant))
    console.print(table)
    for wanted in result["targets"]:
        text, met = tables.target(wanted)
        console.print(f"  [{'green' if wanted['met'] else 'red'}]{met}[/] {text}")


if __name__ == "__main__":
    main()
