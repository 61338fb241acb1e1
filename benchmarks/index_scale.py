"""Measures what the index of a dataset costs each rank: processor time to open it, and memory of ranks together.

    python benchmarks/index_scale.py --output benchmarks/results/index_scale.json

Records are empty, since opening a dataset and choosing samples reads no more than their index. Every rank builds a
pipeline with `readers.tfrecord` and runs some batches of a shuffled epoch; then all are asked for their memory at once.
Memory is the proportional set size (PSS), in which a page that k processes share counts 1/k for each. The memory of an
index is the difference from the same program with 1,000 records.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import machine

from pixelmill.formats.tfrecord.frames import frame

FILES = 16
RANK = """
import sys, time
from pathlib import Path
from pixelmill import fn, pipeline_def, tfrecord
@pipeline_def(batch_size=256, num_threads=1, device_id=None, seed=1)
def read(paths):
    features = {"label": tfrecord.FixedLenFeature([], tfrecord.int64, 0)}
    shard = {"shard_id": int(sys.argv[1]), "num_shards": 8}
    return fn.readers.tfrecord(path=paths, features=features, random_shuffle=True, **shard)["label"]
began = time.process_time(), time.perf_counter()
pipe = read(sys.argv[2:])
pipe.build()
opened = time.process_time() - began[0], time.perf_counter() - began[1]
for _ in range(20):
    pipe.run()
print(*opened, flush=True)
sys.stdin.readline()
lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
sizes = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
print(sizes["Pss"], sizes["Rss"], flush=True)
sys.stdin.readline()
"""


def make(folder: Path, records: int) -> list[str]:
    """Write empty records into some files."""
    folder.mkdir()
    one = frame(b"")
    for number in range(FILES):
        count = records * (number + 1) // FILES - records * number // FILES
        with (folder / f"{number:02d}.tfrecord").open("wb") as stream:
            for start in range(0, count, 100_000):
                stream.write(one * min(100_000, count - start))
    return sorted(map(str, folder.iterdir()))


def ranks(count: int, paths: list[str], cache: Path) -> list[dict[str, float]]:
    """Open a dataset in some processes at the same time; return seconds and kilobytes of each."""
    environment = {**os.environ, "PIXELMILL_CACHE": str(cache)}
    command = [sys.executable, "-c", RANK]
    pipe = subprocess.PIPE
    started = [
        subprocess.Popen([*command, str(rank), *paths], env=environment, stdin=pipe, stdout=pipe, text=True)
        for rank in range(count)
    ]
    try:
        opened = [_line(process) for process in started]
        for process in started:
            _say(process)
        memory = [_line(process) for process in started]
        for process in started:
            _say(process)
            process.wait()
    finally:
        for process in started:
            process.kill()
    return [
        {"processor_seconds": o[0], "seconds": o[1], "pss_kilobytes": m[0], "rss_kilobytes": m[1]}
        for o, m in zip(opened, memory, strict=True)
    ]


def _line(process: subprocess.Popen[str]) -> list[float]:
    assert process.stdout is not None
    return [float(text) for text in process.stdout.readline().split()]


def _say(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def megabytes(found: list[dict[str, float]]) -> float:
    return sum(rank["pss_kilobytes"] for rank in found) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--output", type=Path, help="write the figures there as JSON")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base)
        small = make(folder / "small", 1000)
        empty = {count: megabytes(ranks(count, small, folder / "cache")) for count in (1, arguments.ranks)}
        for records in arguments.records:
            paths = make(folder / str(records), records)
            time.sleep(2.5)  # files that changed just now are not cached
            (first,) = ranks(1, paths, folder / "cache")
            (one,) = ranks(1, paths, folder / "cache")
            together = ranks(arguments.ranks, paths, folder / "cache")
            cold = ranks(arguments.ranks, paths, folder / f"cache-{records}")
            alone, all_ranks = megabytes([one]) - empty[1], megabytes(together) - empty[arguments.ranks]
            rows.append(
                {
                    "records": records,
                    "first_open_processor_seconds": round(first["processor_seconds"], 3),
                    "open_processor_seconds": round(one["processor_seconds"], 3),
                    "index_megabytes_one_rank": round(alone, 1),
                    f"index_megabytes_{arguments.ranks}_ranks": round(all_ranks, 1),
                    "ratio": round(all_ranks / alone, 2),
                    "ratio_without_cache": round((megabytes(cold) - empty[arguments.ranks]) / alone, 2),
                    "bytes_per_record": round(alone * (1 << 20) / records, 1),
                    "whole_processes_megabytes": [round(megabytes([one]), 1), round(megabytes(together), 1)],
                }
            )
            print(rows[-1], flush=True)
            for path in paths:
                Path(path).unlink()
    text = json.dumps({**machine.describe(), "ranks": arguments.ranks, "rows": rows}, indent=1)
    if arguments.output is not None:
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
