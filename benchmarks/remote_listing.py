"""What it costs to list folders in an object store: requests, seconds and processor time of one open.

    python benchmarks/remote_listing.py --counts 100000 1000000

The store is `object_server.cpp` on 127.0.0.1 with a latency of 30 ms; it answers with up to 1,000 names, as S3 does.
Files are empty, and lie in one folder, or in a hundred. Every open runs in a process of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import machine
import remote

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "remote_listing.json"
FOLDERS = (1, 100)


def written(build: Path, count: int, folders: int) -> Path:
    """Write empty files once."""
    data = build / "bench-data" / f"listing-{count}-{folders}"
    if not (data / "done").exists():
        shutil.rmtree(data, ignore_errors=True)
        for folder in range(folders):
            inside = data / "data" / f"{folder:03d}"
            inside.mkdir(parents=True)
            for number in range(count // folders):
                (inside / f"{number:07d}.jpg").touch()
        (data / "done").touch()
    return data


def child() -> None:
    """List the files as `readers.file` does, and print their number, the seconds and the processor seconds."""
    from pixelmill.storage import walk

    began = time.perf_counter()
    used = resource.getrusage(resource.RUSAGE_SELF)
    before = used.ru_utime + used.ru_stime
    files = sum(len(names) for _, names in walk("s3://data/data"))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps([files, time.perf_counter() - began, used.ru_utime + used.ru_stime - before]))


def measured(given: argparse.Namespace, count: int, folders: int) -> dict[str, Any]:
    """Open a dataset once; return what it took."""
    data = written(given.build, count, folders)
    server, endpoint = remote.serve(remote.built(given.build), data, given.latency / 1000)
    keys = {"AWS_ACCESS_KEY_ID": "t", "AWS_SECRET_ACCESS_KEY": "t", "AWS_DEFAULT_REGION": "us-east-1"}
    try:
        remote.counted(endpoint)
        environment = {**os.environ, **keys, "AWS_ENDPOINT_URL": endpoint}
        told = subprocess.check_output([sys.executable, __file__, "--child"], env=environment)
        files, seconds, processor = json.loads(told)
        counts = remote.counted(endpoint)
    finally:
        server.terminate()
        server.wait()
    return {
        "files": files,
        "folders": folders,
        "requests": counts["LIST"],
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "server_processor_seconds": counts["processor"],
    }


def main() -> None:
    """Measure all numbers of files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[100_000, 1_000_000], help="numbers of files")
    parser.add_argument("--latency", type=int, default=30, help="milliseconds")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path, default=RESULTS, help="write the results to this file")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child()
        return
    rows = []
    for count in given.counts:
        for folders in FOLDERS:
            rows.append(measured(given, count, folders))
            print(rows[-1], flush=True)
    about = {"machine": machine.describe(), "latency_ms": given.latency}
    given.json.write_text(json.dumps({**about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
