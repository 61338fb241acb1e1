"""Bulk jobs from and to an object store, next to the same jobs on local files.

The store is `object_server.cpp` on 127.0.0.1, with latency and a limit of bandwidth for each connection that it sends
to. It runs on the processors of the jobs; its processor time is reported. What the jobs write is compared byte for
byte. Contestants take turns.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import machine
import remote

from pixelmill.benchmark.bench_report import spread

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "remote_jobs.json"
RECIPE = "steps:\n- flip: {horizontal: 1}\n- brightness_contrast: {brightness: {uniform: [0.8, 1.2]}}\n"
STORE = {
    "AWS_ACCESS_KEY_ID": "t",
    "AWS_SECRET_ACCESS_KEY": "t",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_UNSIGNED_PAYLOAD": "true",  # as over HTTPS
}
JOBS = {
    "folder to tfrecord": ("convert", "folder", ["--to", "tfrecord", "--samples-per-shard", "250"]),
    "tfrecord to webdataset": ("convert", "tfrecord", ["--to", "webdataset", "--samples-per-shard", "250"]),
    "webdataset to folder": ("convert", "webdataset", ["--to", "folder", "--samples-per-shard", "250"]),
    "augment tfrecord": ("augment", "tfrecord", ["--recipe", "recipe.yaml", "--seed", "1"]),
    "augment folder": ("augment", "folder", ["--recipe", "recipe.yaml", "--seed", "1", "--samples-per-shard", "250"]),
}


def run(
    job: str, base: str, output: str, environment: dict[str, str], *, folder: Path, workers: int
) -> tuple[float, float]:
    """Run a job; return its seconds and its processor seconds."""
    command, source, options = JOBS[job]
    options = [*options, "--workers", str(workers)]
    target = ["--output", output] if command == "augment" else [output]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "pixelmill", command, f"{base}/{source}", *target, *options],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    seconds = time.monotonic() - start
    if done.returncode:
        raise RuntimeError(f"{job} failed: {done.stderr[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def hashes(folder: Path) -> dict[str, str]:
    """Return the hash of each file of a local output."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def remote_hashes(endpoint: str, folder: str) -> dict[str, str]:
    """Return the hash of each object of an output in the store."""
    keys: list[str] = []
    page, last = [folder], ""
    while page:
        with urllib.request.urlopen(f"{endpoint}/data?list-type=2&prefix={folder}/&start-after={last}") as answer:
            page = [part.split("<")[0] for part in answer.read().decode().split("<Key>")[1:]]
        keys += page
        last = keys[-1] if keys else ""

    def one(key: str) -> str:
        with urllib.request.urlopen(f"{endpoint}/data/{key}") as answer:
            return hashlib.sha256(answer.read()).hexdigest()

    with ThreadPoolExecutor(64) as pool:
        return dict(zip([key.removeprefix(f"{folder}/") for key in keys], pool.map(one, keys), strict=True))


def measured(job: str, data: Path, work: Path, *, workers: int, given: argparse.Namespace) -> dict[str, Any]:
    """Run a job on local files and on the store, in turns; return the medians.

    Each round has a server of its own, since a server has ready memory for the output of one run.
    """
    local, store = [], []
    counts: dict[str, Any] = {}
    equal = True
    bucket = work / "bucket"  # what the job reads and nothing else: the server keeps its objects in memory
    bucket.mkdir(exist_ok=True)
    link = bucket / JOBS[job][1]
    link.symlink_to(data / link.name)
    for number in range(given.rounds):
        environment = {**os.environ, **STORE, "PIXELMILL_CACHE": str(work / f"cache-{number}")}
        local.append(run(job, str(data), str(work / "local"), environment, folder=work, workers=workers))
        expected = hashes(work / "local")
        shutil.rmtree(work / "local")  # neither what it holds in memory nor what is still to be written
        os.sync()  # should slow the other one down
        server, endpoint = remote.serve(remote.built(given.build), bucket, given.latency / 1000)
        try:
            remote.counted(endpoint)  # its start does not count
            environment["AWS_ENDPOINT_URL"] = endpoint
            store.append(run(job, "s3://data", "s3://data/out", environment, folder=work, workers=workers))
            counts = remote.counted(endpoint)
            same = expected == remote_hashes(endpoint, "out")
        finally:
            server.terminate()
            server.wait()
        print(job, workers, local[-1], store[-1], counts, "equal" if same else "DIFFERENT", file=sys.stderr)
        equal = equal and same
    link.unlink()
    medians = [statistics.median(seconds for seconds, _ in times) for times in (local, store)]
    return {
        "job": job,
        "workers": workers,
        "latency_ms": given.latency,
        "local_seconds": round(medians[0], 2),
        "store_seconds": round(medians[1], 2),
        "of_local_speed": round(medians[0] / medians[1], 3),
        "local_spread": spread(tuple(seconds for seconds, _ in local)),
        "store_spread": spread(tuple(seconds for seconds, _ in store)),
        "local_processor_seconds": round(statistics.median(spent for _, spent in local), 2),
        "store_processor_seconds": round(statistics.median(spent for _, spent in store), 2),
        "same_bytes": equal,
        "requests": counts,
    }


def main() -> None:
    """Measure all jobs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4000, help="number of images")
    parser.add_argument("--latency", type=int, default=30, help="milliseconds")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="processes of a job")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path, default=RESULTS, help="write the results to this file")
    given = parser.parse_args()
    machine.compile_modules()
    data = remote.prepared(given.build, given.count)
    work = given.build / "remote-jobs"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "recipe.yaml").write_text(RECIPE)
    rows = [measured(job, data, work, workers=count, given=given) for job in given.jobs for count in given.workers]
    shutil.rmtree(work)
    for row in rows:
        print(row)
    text = json.dumps({"machine": machine.describe(), "images": given.count, "rows": rows}, indent=1)
    given.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
