r"""Training from an object store: this library and others, next to the same pipeline on local files.

The store is `object_server.cpp` on 127.0.0.1, with latency and a limit of bandwidth for each connection; its processor
time is reported, since it runs on the processors of the contestants. Every contestant is a process of its own that
reads one epoch, decodes it and crops it to 224 x 224; imports, opening the dataset and the first batch count.
Contestants take turns. Peers that are not installed, here or in the folder `--peers`, are named and left out. They
are installed there without what they depend on, which is here already or not needed to read images:

    pip install --no-deps --target PEERS webdataset litdata mosaicml-streaming s3torchconnector s3torchconnectorclient \
        brotli python-snappy cramjam zstd xxhash catalogue lightning-utilities tifffile
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import remote_contestants as contestants

ROOT = Path(__file__).resolve().parents[1]
BANDWIDTH = 50e6
PER_SHARD = 100
FORMATS = ("folder", "tfrecord", "webdataset")
RESULTS = ROOT / "benchmarks" / "results" / "remote.json"
COUNTS = "counts-of-this-server"


def child(name: str, endpoint: str, data: str, threads: int) -> None:
    """Run a contestant and print when its batches came."""
    times, counts = [], []
    for count in contestants.batches(name, endpoint, data, threads=threads):
        times.append(time.time())
        counts.append(count)
    print(json.dumps({"times": times, "counts": counts}))


def measured(name: str, endpoint: str, data: Path, *, threads: int, peers: Path | None) -> dict[str, Any]:
    """Run a contestant in a process of its own; return its figures and what the server counted."""
    counted(endpoint)
    command = [sys.executable, __file__, "--child", name, "--endpoint", endpoint, "--data", str(data)]
    environment = dict(os.environ)
    if peers is not None and name.split(" ")[0] in contestants.PEERS:
        environment["PYTHONPATH"] = str(peers)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.time()
    try:
        done = subprocess.run(
            [*command, "--threads", str(threads)], capture_output=True, text=True, timeout=300, env=environment
        )
    except subprocess.TimeoutExpired:
        return {"name": name, "failed": "did not end within 300 s"}
    if done.returncode:
        return {"name": name, "failed": "".join(done.stderr.strip().splitlines()[-1:])}
    told = json.loads(done.stdout.splitlines()[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    samples = sum(told["counts"])
    rest = told["times"][-1] - told["times"][0]
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "name": name,
        "samples": samples,
        "first_batch_seconds": round(told["times"][0] - start, 3),
        "per_second": round(samples / (told["times"][-1] - start), 1),
        "after_first_batch": round((samples - told["counts"][0]) / max(rest, 1e-9), 1),
        "processor_seconds": round(spent, 2),
        **{f"server_{name}": value for name, value in counted(endpoint).items()},
    }


def counted(endpoint: str) -> dict[str, float]:
    with urllib.request.urlopen(f"{endpoint}/{COUNTS}") as answer:
        counted: dict[str, float] = json.loads(answer.read())
    return counted


def prepared(build: Path, count: int) -> Path:
    """Write the photo-like files once, as a folder and as records."""
    from pixelmill import convert
    from pixelmill.create import create_photo_folder
    from pixelmill.formats.webdataset.index_file import write_index
    from pixelmill.formats.webdataset.scan import scan

    data = build / "bench-data" / f"remote-{count}"
    if not (data / "done").exists():
        create_photo_folder(data / "folder", count, size_mean=(500, 400), classes=10)
        for format in ("tfrecord", "webdataset"):
            convert(data / "folder", data / format, to=format, samples_per_shard=PER_SHARD, exists="overwrite")
        for archive in (data / "webdataset").glob("*.tar"):
            write_index(archive.with_suffix(".idx"), scan(archive).samples)
        (data / "done").touch()
    return data


def write_for_peers(data: Path, peers: Path | None) -> None:
    """Write what LitData and mosaicml-streaming read, in a process that has them."""
    environment = {**os.environ, **({"PYTHONPATH": str(peers)} if peers else {})}
    done = subprocess.run(
        [sys.executable, __file__, "--write-for-peers", "--data", str(data)],
        env=environment,
        capture_output=True,
        text=True,
    )
    print(done.stdout + (done.stderr if done.returncode else ""), end="", file=sys.stderr)


def built(build: Path) -> Path:
    """Compile the server."""
    source, program = ROOT / "benchmarks" / "object_server.cpp", build / "object_server"
    sources = (source, source.with_name("object_server_store.hpp"))
    if not program.exists() or program.stat().st_mtime < max(path.stat().st_mtime for path in sources):
        subprocess.run(["g++", "-std=c++20", "-O2", str(source), "-o", str(program)], check=True)
    return program


def serve(program: Path, data: Path, latency: float) -> tuple[subprocess.Popen[str], str]:
    """Start the server and return it with its address."""
    command = [str(program), str(data), contestants.BUCKET, str(latency), str(BANDWIDTH)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, f"http://127.0.0.1:{int(process.stdout.readline())}"


def chosen(only: list[str] | None) -> list[str]:
    """Return the names of what is measured."""
    names = [f"local {format}" for format in FORMATS] + [f"pixelmill {format}" for format in FORMATS]
    names += ["pixelmill tfrecord blocks", "pixelmill webdataset blocks", *contestants.PEERS]
    return [name for name in names if only is None or any(name.startswith(text) for text in only)]


def summary(rounds: list[dict[str, Any]], needed: int) -> dict[str, Any]:
    """Return the median of each figure over the rounds of one contestant."""
    whole = [row for row in rounds if "failed" not in row]
    if not whole:
        return rounds[0]
    figures = [name for name, value in whole[0].items() if isinstance(value, (int, float))]
    row = {"name": whole[0]["name"], "rounds": len(whole)}
    row |= {name: round(statistics.median(one[name] for one in whole), 3) for name in figures}
    seconds = row["samples"] / row["per_second"]
    row["server_processor_share"] = round(row["server_processor"] / seconds / (os.cpu_count() or 1), 3)
    row["bytes_over_needed"] = round(row["server_sent"] / needed, 3) if row["server_sent"] else None
    return row


def table(rows: list[dict[str, Any]], show: Callable[[str], object] = print) -> None:
    """Print the figures."""
    show("| ms | contestant | first batch | samples/s | after the first batch | of local | requests | bytes | server |")
    show("|---|---|---|---|---|---|---|---|---|")
    local = {(row["latency_ms"], row["name"].split(" ")[1]): row for row in rows if row["name"].startswith("local")}
    for row in rows:
        if "failed" in row:
            show(f"| {row['latency_ms']} | {row['name']} | failed: {row['failed']} | | | | | | |")
            continue
        words = row["name"].split(" ")
        base = local.get((row["latency_ms"], words[1])) if words[0] == "pixelmill" else None
        ratio = f"{row['after_first_batch'] / base['after_first_batch']:.2f}" if base else ""
        requests = f"{row['server_GET']:.0f}" + (f" + {row['server_HEAD']:.0f} HEAD" if row["server_HEAD"] else "")
        show(
            f"| {row['latency_ms']} | {row['name']} | {row['first_batch_seconds']:.2f} s | {row['per_second']:,.0f} "
            f"| {row['after_first_batch']:,.0f} | {ratio} | {requests} | {row['bytes_over_needed'] or ''} "
            f"| {100 * row['server_processor_share']:.0f} % |"
        )


def contest(given: argparse.Namespace, data: Path, needed: int) -> list[dict[str, Any]]:
    """Measure all contestants at all latencies, in turns; return a row for each."""
    rows: list[dict[str, Any]] = []
    names = chosen(given.contestants)
    for latency in given.latencies:
        server, endpoint = serve(built(given.build), data, latency / 1000)
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        try:
            for number in range(given.rounds):
                for name in names:
                    if number and name.startswith(tuple(given.once)):
                        continue
                    row = measured(name, endpoint, data, threads=given.threads, peers=given.peers)
                    found[name].append(row)
                    print(json.dumps({"latency_ms": latency, **row}), file=sys.stderr)
        finally:
            server.terminate()
            server.wait()
        rows += [{"latency_ms": latency, **summary(found[name], needed)} for name in names]
    return rows


def main() -> None:
    """Measure all contestants at all latencies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=4000, help="number of images")
    parser.add_argument("--latencies", type=int, nargs="+", default=[0, 30, 80], help="milliseconds")
    parser.add_argument("--contestants", nargs="+", help="beginnings of names; all if omitted")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--once", nargs="+", default=[], help="beginnings of names that take part in one round only")
    parser.add_argument("--peers", type=Path, help="a folder with packages of peers (pip install --target)")
    parser.add_argument("--build", type=Path, default=ROOT / "build")
    parser.add_argument("--json", type=Path, default=RESULTS, help="write the results to this file")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--write-for-peers", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--endpoint", help=argparse.SUPPRESS)
    parser.add_argument("--data", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.endpoint, given.data, given.threads)
        return
    if given.write_for_peers:
        files = sorted(Path(given.data, "folder").rglob("*.jpg"))
        print("\n".join(contestants.write_peer_formats(Path(given.data), files)))
        return
    machine.compile_modules()
    data = prepared(given.build, given.count)
    write_for_peers(data, given.peers)
    needed = sum(path.stat().st_size for path in (data / "folder").rglob("*.jpg"))
    rows = contest(given, data, needed)
    table(rows)
    about = {"bandwidth": BANDWIDTH, "images": given.count, "bytes_needed": needed, "threads": given.threads}
    given.json.parent.mkdir(parents=True, exist_ok=True)
    given.json.write_text(json.dumps({"machine": machine.describe(), **about, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
