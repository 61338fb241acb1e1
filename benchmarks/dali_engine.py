"""Measures the overhead of the DALI engine: the same graph written for DALI by hand, and run on DALI by pixelmill.

python benchmarks/dali_engine.py [WORKLOAD ...] [--small DIR] [--rounds 9] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from typing import Any

import contest
import data
import machine
from workloads import WORKLOADS

from pixelmill.benchmark.contestants import Record

ROOT = Path(__file__).resolve().parents[1]
SLOWER = 0.05  # allowed loss against a program written by hand


def main() -> None:
    """Measure in turns, print and save the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=["train"], metavar="WORKLOAD")
    parser.add_argument("--small", type=Path, help="folder of JPEG files of some 100 kB; created if omitted")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--json", type=Path, default=ROOT / "benchmarks" / "results" / "dali_engine.json")
    options = parser.parse_args()
    build = ROOT / "build"
    plan = contest.Plan(options.threads, options.rounds, options.seconds, 1, build)
    result: dict[str, Any] = {
        "machine": machine.describe(),
        "options": {"threads": plan.threads, "rounds": plan.rounds, "seconds": plan.seconds},
        "dali_engine": {},
    }
    for name in options.workloads:
        workload = WORKLOADS[name]
        files = data.load(workload.file_kind, getattr(options, workload.file_kind, None), build)
        if workload.container == "tfrecord":
            files = data.packed(files, build)
        records = contest.run(workload, files, ("dali", "dali_engine"), plan, print)
        result["dali_engine"][name] = {"title": workload.title, "data": files.describe(), "variants": pairs(records)}
    result["machine"]["load_after"] = machine.load()
    options.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(json.dumps(result["dali_engine"], indent=1))


def pairs(records: list[Record]) -> dict[str, Any]:
    """Pair both programs of each variant, round by round."""
    by_hand = {record.variant: record for record in records if record.peer == "dali"}
    found = {}
    for engine in records:
        if engine.peer != "dali_engine":
            continue
        hand = by_hand[engine.variant]
        speeds = [ours / theirs for ours, theirs in zip(engine.rates, hand.rates, strict=True)]
        costs = [ours / theirs for ours, theirs in zip(engine.cpu_milliseconds, hand.cpu_milliseconds, strict=True)]
        found[engine.variant] = {
            "by_hand": [round(rate, 1) for rate in hand.rates],
            "engine": [round(rate, 1) for rate in engine.rates],
            "speed": round(median(speeds), 3),
            "cpu": round(median(costs), 3),
            "met": median(speeds) >= 1 - SLOWER,
        }
    return found


if __name__ == "__main__":
    main()
